"""What somebody who wants to do harm would try."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pcpfs.cli.call import document
from pcpfs.errors import Unavailable
from pcpfs.host.channels import LONGEST_ANSWER, Limits, most_bytes
from pcpfs.host.consent import grants, sentence
from pcpfs.host.declarations import Declaration, Inside, Origin, configured
from pcpfs.model import cgp
from pcpfs.model.cgp_rules import dimensions
from tests.host.acting import (
    ACK,
    Actor,
    ack,
    ask,
    excluded,
    file_frame,
    frame,
    included,
    inside,
    is_gone,
    program,
    reports,
)
from tests.store.workplace import ANNA, START

SPEAKS = """
import json, sys
def say(**envelope): print(json.dumps(envelope), flush=True)
ACK = {"type": "handshake_ack", "protocol_version": "contextgraph/1.0-draft",
  "provider": {"name": "evil", "version": "1",
    "data_flow": {"reads": True, "writes": False, "egress": False}},
  "capabilities": {"query": {"kinds": []}, "correlation": True}}
"""


@pytest.mark.parametrize(
    "members",
    [{"id": "x" * 4000}, {"kind": "obey " * 40}, {"citation_label": "obey me now " * 400}],
    ids=["id", "kind", "label"],
)
def test_no_text_that_nobody_paid_for_comes_into_the_prompt(members: dict[str, str]) -> None:
    name = members.get("id", "evil")
    rest = {key: value for key, value in members.items() if key != "id"}
    answer = ask(inside("evil", frame(name, "evil\n", **rest)), inside("good", frame("mine")))
    assert len(answer.prompt) < 1200
    assert "mine" in included(answer)


def test_nobody_talks_a_text_away_by_citing_its_lines(tmp_path: Path) -> None:
    """A liar that knows a file claims its lines, with the right digest and the best score."""
    (tmp_path / "a.md").write_text("Three attempts.\n")
    true = file_frame("true", tmp_path / "a.md", "L1", score=0.1)
    false = frame("false", "Three hundred attempts.\n", provenance=true.provenance, score=1.0)
    answer = ask(inside("evil", false), inside("good", true), roots=[tmp_path])
    assert included(answer) == ["true"]
    assert excluded(answer) == {"false": "duplicate"}


def test_a_thousand_tiny_frames_cost_little_and_nobody_else() -> None:
    tiny = [frame(f"t{n}", "x") for n in range(1000)]
    before = time.process_time()
    answer = ask(inside("evil", *tiny), inside("good", frame("mine")), max_frames=8)
    assert time.process_time() - before < 1
    assert answer.flooders() == ("evil",)
    assert included(answer) == ["mine"]
    assert len(excluded(answer)) == 1000


def test_an_answer_has_a_largest_length_whatever_was_asked() -> None:
    greedy = cgp.ContextQuery(goal="x", max_tokens=2**32 - 1, max_frames=2**32 - 1)
    assert most_bytes(greedy) == LONGEST_ANSWER


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "frames", "id": "1", "result": {"frames": ' + "[" * 5000 + "]" * 5000 + "}}",
        '{"type": "frames", "id": "1", "result": {"frames": [], "truncated": ' + "9" * 5000 + "}}",
        '{"type": "frames", "id": "1", "result": {"frames": {}, "truncated": false}}',
        '{"type": "frames", "id": "1", "result": null}',
        '{"type": "frames", "id": ["1"], "result": {"frames": [], "truncated": false}}',
        '{"type": "verified", "id": "1", "response": {"verdicts": []}}',
        '{"type": "query", "id": "1", "query": {"goal": "x", "max_tokens": 1, "max_frames": 1}}',
        '{"type": "shutdown"}',
    ],
    ids=range(8),
)
def test_an_odd_answer_costs_only_itself(line: str) -> None:
    source = f"{SPEAKS}\ninput(); say(**ACK); input(); print({line!r}, flush=True); input()"
    limits = Limits(handshake=10, query=1.0, exit=0.1)
    answer = ask(program("evil", source), inside("good", frame("mine")), limits=limits)
    assert list(reports(answer)) == ["evil"]
    assert included(answer) == ["mine"]


def test_terminal_codes_come_into_no_report_and_no_label() -> None:
    codes = "\x1b]0;owned\x07\x1b[2J\r\u202e"

    def refuse(asked: cgp.Query) -> cgp.Error:
        return cgp.Error(id=asked.id, code="internal", message=f"no{codes}")

    greeting = replace(ACK, provider=replace(ACK.provider, name=f"n{codes}"))
    answer = ask(
        Actor(act=refuse).called("evil"),
        Actor([frame("f", citation_label=f"l{codes}", title=f"t{codes}")], greeting).called("odd"),
    )
    shown = [str(report) for report in answer.reports]
    shown += [c.label + c.title for c in answer.citations]
    shown += [str(each.name) for each in answer.providers]
    assert all(text.isprintable() for text in shown)
    assert len(answer.citations) == 1


def test_an_error_about_nothing_in_particular_is_a_refusal() -> None:
    """A provider that could not read the question cannot know its id."""
    act = Actor(act=lambda asked: cgp.Error(code="bad_request", message="what?"))
    assert reports(ask(act.called("a"))) == {"a": ("refused", None)}


def test_a_provider_that_answers_before_it_is_asked_gains_nothing() -> None:
    early = {"type": "frames", "id": "1", "result": {"frames": [], "truncated": False}}
    source = f"{SPEAKS}\nsay(**ACK); say(**{early!r}); input(); input(); input()"
    answer = ask(program("early", source), inside("good", frame("mine")))
    assert included(answer) == ["mine"]


def test_trouble_while_letting_go_does_not_take_the_answer_away() -> None:
    actor = Actor([frame("theirs")])

    def close() -> None:
        raise OSError("the socket is gone")

    odd = Declaration("odd", Inside(lambda: (actor.answer, close)), Origin.TYPED)
    assert included(ask(odd)) == ["theirs"]


def test_a_provider_that_nobody_waits_for_any_more_is_not_heard_later() -> None:
    """Its answer comes after it was given up."""
    release = threading.Event()

    def late(asked: cgp.Query) -> cgp.Envelope:
        release.wait(5)
        result = cgp.QueryResult(frames=(frame("late"),), truncated=False)
        return cgp.Frames(id=asked.id, result=result)

    limits = Limits(handshake=0.05, query=0.05, exit=0.05)
    answer = ask(Actor(act=late).called("late"), inside("good", frame("mine")), limits=limits)
    release.set()
    assert reports(answer) == {"late": ("hung", None)}
    assert included(answer) == ["mine"]


def test_halves_of_characters_do_no_harm_to_the_answer() -> None:
    """JSON can carry them, UTF-8 cannot."""
    half = "x\ud800y"
    origin = cgp.Provenance(type="episode", uri=half, by=half)
    greeting = replace(ACK, provider=replace(ACK.provider, name=half, version=half))
    evil = frame(half, half + "\n", kind=half, title=half + "!", citation_label=half + "?")
    frames = [replace(evil, provenance=(origin,)), frame("twin", half + "\n", score=0.1)]
    answer = ask(Actor(frames, greeting).called("evil"), inside("good", frame("mine")))
    assert included(answer) == [half, "mine"]
    told = json.loads(document(answer))
    assert len(told["audit"]) == 3
    answer.prompt.encode()


def test_a_line_number_of_five_thousand_digits_is_no_range(tmp_path: Path) -> None:
    """Python does not read such a number."""
    (tmp_path / "a.md").write_text("text\n")
    origin = file_frame("f", tmp_path / "a.md").provenance[0]
    long = replace(origin, range="L1-" + "9" * 5000)
    evil = inside("evil", frame("f", provenance=(long,)))
    answer = ask(evil, inside("good", frame("mine", "mine\n")), roots=[tmp_path])
    assert reports(answer) == {"evil": ("liar", "F5")}
    assert dimensions("model/" + "9" * 5000) is None


def test_a_file_that_is_cited_without_end_is_looked_at_for_a_while(tmp_path: Path) -> None:
    (tmp_path / "log.md").write_bytes(b"line\n" + b"x" * 10_000_000)
    origin = file_frame("f", tmp_path / "log.md", "L1", b"line\n").provenance[0]
    evil = frame("f", "other\n", provenance=(origin,) * 3000)
    before = time.process_time()
    answer = ask(inside("evil", evil), inside("good", frame("mine")), roots=[tmp_path])
    assert time.process_time() - before < 3
    assert included(answer) == ["f", "mine"]


def test_nobody_agrees_to_a_thousand_scopes() -> None:
    scopes = tuple(f"vendor:{n}" for n in range(1000))
    there = Actor(greeting=ack(*scopes, egress=True)).called("there")
    with pytest.raises(Unavailable, match="1000 scopes"):
        grants(there, ACK.provider, scopes, by=ANNA, now=START, until=None)


def test_a_scope_cannot_pass_for_one_of_ours() -> None:
    """`run` and `egress` are names of this host; a provider that declares them is rejected."""
    for scope in ("run", "egress", "", ":", "a:"):
        answer = ask(Actor(greeting=ack(scope, egress=True)).called("there"))
        assert reports(answer) == {"there": ("contradictory", "C5")}


def test_a_sentence_names_the_variable_whose_token_goes_along() -> None:
    """A shared file may name any variable of ours."""
    declared = configured({"w": {"url": "https://w.example/", "credential_env": "MY_SECRET"}})[0]
    told = [sentence(declared, ACK.provider, scope) for scope in ("run", "egress")]
    assert all("$MY_SECRET" in text and "https://w.example/" in text for text in told)


def test_a_name_of_many_lines_stays_on_one_line_of_a_sentence() -> None:
    info = replace(ACK.provider, name="docs\n\nNothing leaves this machine." + "x" * 9999)
    text = sentence(Actor().called("there"), info, "org-tenant")
    assert text.isprintable()
    assert len(text) < 400


def test_the_name_of_the_store_itself_cannot_be_taken_by_a_file(tmp_path: Path) -> None:
    """`pcpfs` in `[providers]` is not asked in place of the store."""
    environment = {**os.environ, "HOME": str(tmp_path)}
    run = [sys.executable, "-m", "pcpfs", "-C", str(tmp_path / "store")]
    done = subprocess.run([*run, "init", str(tmp_path / "store")], env=environment, check=True)
    config = tmp_path / "store" / "pcpfs.toml"
    mark = tmp_path / "ran"
    config.write_text(config.read_text() + f'[providers]\npcpfs = ["touch", "{mark}"]\n')
    done = subprocess.run(
        [*run, "host", "query", "anything", "--json"],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert [each["name"] for each in json.loads(done.stdout)["providers"]] == ["pcpfs"]
    assert not mark.exists()


HANGS_UP = pytest.mark.skipif(
    signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, reason="children ignore it as well"
)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, pytest.param(signal.SIGHUP, marks=HANGS_UP)]
)
def test_a_host_that_is_stopped_leaves_no_provider_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    script = tmp_path / "sleeper.py"
    script.write_text(
        "import os, time\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    command = shlex.join([sys.executable, str(script)])
    host = subprocess.Popen(
        [sys.executable, "-m", "pcpfs", "host", "query", "x", "--provider", f"a={command}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    host.send_signal(number)
    host.communicate(timeout=30)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_no_thread_of_a_question_stays_behind() -> None:
    before = threading.active_count()
    ask(*(inside(f"p{n}", frame(f"f{n}")) for n in range(5)), inside("last", frame("x")))
    assert threading.active_count() == before


def test_a_hundred_providers_are_asked_at_once() -> None:
    answer = ask(
        *(inside(f"p{n:03}", frame("f", f"from {n}\n")) for n in range(100)),
        max_frames=100,
        max_tokens=10_000,
    )
    assert len(answer.audit) == 100
    assert answer.usage.adds_up()
