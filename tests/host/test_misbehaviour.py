"""Whatever a provider does costs itself and never the others, and is said by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from pcpfs_conformance.example_modes import MODES

from pcpfs.host.channels import Limits
from pcpfs.model import cgp
from tests.host.acting import (
    ACK,
    HURRIED,
    Actor,
    ask,
    example,
    excluded,
    file_frame,
    frame,
    included,
    inside,
    is_gone,
    program,
    reports,
)

HONEST = ["example:backoff.txt", "example:retry-policy.md", "example:why-three.txt"]

CAUGHT = {
    "wrong-version": ("foreign_version", "H1"),
    "hang-on-handshake": ("hung", None),
    "nameless-provider": ("garbled", "H2"),
    "die-at-start": ("crashed", None),
    "scope-lie": ("contradictory", "C5"),
    "crash-on-query": ("crashed", None),
    "hang-on-query": ("hung", None),
    "flood-on-query": ("flooder", None),
    "lying-costs": ("budget_liar", "B3"),
    "under-report-cost": ("budget_liar", "B3"),
    "over-budget": ("budget_liar", "B1"),
    "frame-flood": ("flooder", "B4"),
    "bad-score": ("liar", "F1"),
    "empty-title": ("liar", "F2"),
    "empty-citation": ("liar", "F3"),
    "bare-id-citation": ("liar", "F3"),
    "bad-timestamp": ("liar", "F4"),
    "malformed-digest": ("liar", "F5"),
    "stale-digest": ("liar", "F5"),
    "missing-file": ("liar", "F5"),
    "wrong-content-digest": ("liar", "D2"),
    "full-with-reference": ("liar", "P1"),
    "duplicate-ids": ("liar", "D1"),
    "nameless-relation": ("liar", "G1"),
    "wrong-correlation-id": ("garbled", "H4"),
    "drop-correlation-id": ("garbled", "H4"),
    "ignore-kinds": ("liar", "Q1"),
    "future-frames": ("liar", "as_of"),
    "expired-frames": ("liar", "as_of"),
}
"""What the host says of each way to misbehave."""

HARMLESS = set(MODES) - set(CAUGHT)
"""What a host does not notice, or may pass over: verify, anchors, endings, other shapes."""

ASKED = {
    "over-budget": {"max_tokens": 100},
    "frame-flood": {"max_frames": 4},
    "ignore-kinds": {"kinds": ("doc",)},
    "future-frames": {"as_of": "2025-01-15T00:00:00Z"},
    "expired-frames": {"as_of": "2025-01-15T00:00:00Z"},
    "duplicate-ids": {"max_frames": 64},
}


@pytest.mark.parametrize("mode", sorted(CAUGHT))
def test_each_way_to_misbehave_costs_only_itself(mode: str) -> None:
    asked = ASKED.get(mode, {})
    others = inside("honest", frame("mine", valid_from="2020-01-01T00:00:00Z"))
    limits = HURRIED if "hang" in mode else Limits(exit=0.3)
    corpus = Path(os.path.dirname(__import__("pcpfs_conformance").__file__))
    answer = ask(example("bad", mode), others, limits=limits, roots=[corpus], **asked)
    assert reports(answer) == {"bad": CAUGHT[mode]}
    assert "mine" in included(answer)
    assert answer.usage.adds_up()


@pytest.mark.parametrize("mode", sorted(HARMLESS))
def test_what_is_no_matter_of_a_query_is_passed_over(mode: str) -> None:
    answer = ask(example("odd", mode), limits=Limits(exit=0.1))
    assert reports(answer) == {}
    assert included(answer) == HONEST


@pytest.mark.parametrize("mode", ["lying-costs", "over-budget", "frame-flood"])
def test_all_frames_of_whoever_breaks_the_budget_are_dropped_and_named(mode: str) -> None:
    """B2."""
    answer = ask(example("bad", mode), inside("honest", frame("mine")), **ASKED.get(mode, {}))
    assert included(answer) == ["mine"]
    assert set(excluded(answer).values()) == {"quarantined"}
    assert len(excluded(answer)) >= 3
    assert (*answer.budget_liars(), *answer.flooders()) == ("bad",)


PROGRAMS = {
    "ends at once": ("raise SystemExit(7)", "crashed", "exit code 7"),
    "is killed": ("import os, signal; os.kill(os.getpid(), 9)", "crashed", "signal 9"),
    "says why": ("import sys; sys.exit('the index is broken')", "crashed", "the index is broken"),
    "chatters": ("while True: print('x' * 9999)", "flooder", "no envelopes"),
    "never ends a line": (
        "import sys\nwhile True: sys.stdout.write('y' * 65536)",
        "flooder",
        "more than any honest answer",
    ),
    "complains for ever": (
        "import sys\nwhile True: sys.stderr.write('noise ' * 9999)",
        "flooder",
        "standard error",
    ),
    "closes its output": ("import os, time; os.close(1); time.sleep(99)", "crashed", "closed"),
    "speaks in lists": ("print('[1, 2]', flush=True); import time; time.sleep(99)", "hung", "1 s"),
    "half an envelope": ('print(\'{"type": "handshake_ack"}\')', "garbled", "missing"),
    "another envelope": (
        'print(\'{"type": "frames", "result": {"frames": [], "truncated": false}}\')',
        "garbled",
        "of type frames",
    ),
    "deep nesting": ("print('[' * 200000)", "crashed", ""),
    "forks": ("import os, time; os.fork(); os.fork(); time.sleep(99)", "hung", "1 s"),
    "reads nothing": ("import time; time.sleep(99)", "hung", "1 s"),
}


@pytest.mark.parametrize("what", sorted(PROGRAMS))
def test_a_program_of_any_kind_gets_a_report(what: str) -> None:
    source, kind, told = PROGRAMS[what]
    limits = HURRIED if kind == "hung" else Limits(exit=0.3)
    answer = ask(program("bad", source), inside("honest", frame("mine")), limits=limits)
    (report,) = answer.reports
    assert (report.provider, str(report.kind)) == ("bad", kind)
    assert told in report.message
    assert report.message.isprintable()
    assert included(answer) == ["mine"]


def test_a_gigabyte_without_a_line_end_is_neither_kept_nor_waited_for() -> None:
    source = (
        "import sys\n"
        "for _ in range(16384): sys.stdout.buffer.write(b'z' * 65536)\n"
        "sys.stdout.buffer.write(b'\\n')"
    )
    before = time.process_time()
    answer = ask(program("bad", source), inside("honest", frame("mine")))
    assert time.process_time() - before < 2
    assert answer.flooders() == ("bad",)
    assert included(answer) == ["mine"]


def test_a_command_that_is_none_is_named_without_its_arguments() -> None:
    from pcpfs.host.declarations import typed  # noqa: PLC0415 (used here only)

    answer = ask(typed("bad=/no/such/thing --token hunter2"))
    (report,) = answer.reports
    assert str(report.kind) == "unreachable"
    assert "/no/such/thing" in report.message
    assert "hunter2" not in str(answer)


def test_nothing_of_a_provider_is_left_running(tmp_path: Path) -> None:
    sleep = "import time; time.sleep(99)"
    source = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {sleep!r}])\n"
        f"open({os.fspath(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n{sleep}"
    )
    ask(program("bad", source), limits=Limits(handshake=2, query=1, exit=0.1))
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_one_in_this_process_that_hangs_is_given_up() -> None:
    def sleep(query: cgp.Query) -> None:
        time.sleep(4)

    limits = Limits(handshake=0.1, query=0.2, exit=0.1)
    answer = ask(Actor(act=sleep).called("bad"), inside("honest", frame("mine")), limits=limits)
    assert reports(answer) == {"bad": ("hung", None)}
    assert included(answer) == ["mine"]


@pytest.mark.parametrize(
    "trouble", [ValueError("what?"), SystemExit(3), RecursionError(), MemoryError()]
)
def test_one_in_this_process_that_raises_is_reported(trouble: BaseException) -> None:
    def fall(query: cgp.Query) -> None:
        raise trouble

    answer = ask(Actor(act=fall).called("bad"), inside("honest", frame("mine")))
    assert reports(answer) == {"bad": ("crashed", None)}
    assert included(answer) == ["mine"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"score": float("nan")},
        {"token_cost": "many"},
        {"title": b"bytes"},
        {"kind": 7},
        {"provenance": ({"type": "file"},)},
        {"relations": (None,)},
    ],
)
def test_values_of_the_wrong_type_do_not_come_through(wrong: dict[str, object]) -> None:
    bad = Actor([frame("theirs", **wrong)]).called("bad")
    answer = ask(bad, inside("honest", frame("mine")))
    assert included(answer) == ["mine"]
    assert answer.named(*{report.kind for report in answer.reports}) == ("bad",)


def test_a_refusal_is_told_by_its_code_and_an_unknown_code_is_internal() -> None:
    """X1, X2."""

    def refuse(query: cgp.Query) -> cgp.Error:
        return cgp.Error(id=query.id, code="on_holiday", message="come back \x1b[31mlater")

    (report,) = ask(Actor(act=refuse).called("bad")).reports
    assert str(report.kind) == "refused"
    assert report.message == "internal: come back [31mlater"


def test_a_version_that_is_refused_is_told_by_name() -> None:
    """H3."""
    greeting = cgp.Error(code="incompatible_version", message="only 2.0 here")
    answer = ask(Actor(greeting=greeting).called("bad"))
    assert reports(answer) == {"bad": ("foreign_version", "H3")}


def test_ids_are_sent_only_to_those_who_correlate() -> None:
    """H4."""
    plain = cgp.HandshakeAck(
        protocol_version="contextgraph/1.7",
        provider=ACK.provider,
        capabilities=cgp.Capabilities(query=cgp.QueryCapability(kinds=())),
    )
    first, second = Actor([frame("a")]), Actor([frame("b", "other\n")], greeting=plain)
    answer = ask(first.called("first"), second.called("second"))
    assert reports(answer) == {}
    assert [getattr(actor.heard[1], "id", 0) for actor in (first, second)] == ["1", None]


def test_a_file_that_changed_since_is_left_out_alone(tmp_path: Path) -> None:
    """F5: only the frame that is not so any more, and only below folders that are trusted."""
    trusted, other = tmp_path / "trusted", tmp_path / "other"
    for folder in (trusted, other):
        folder.mkdir()
        (folder / "a.md").write_text("one\ntwo\nthree\n")
    same = file_frame("same", trusted / "a.md", "L1-3")
    stale = file_frame("stale", trusted / "a.md", "L2", b"TWO\n")
    elsewhere = file_frame("elsewhere", other / "a.md", "L2", b"nobody looks\n")
    made = file_frame("made", trusted / "a.md", "L3", b"three\n")
    made = frame("made", "in other words\n", provenance=made.provenance)
    answer = ask(inside("mixed", same, stale, elsewhere, made), roots=[trusted])
    rows = {row.identity.frame_id: row for row in answer.audit}
    assert excluded(answer) == {"stale": "quarantined"}
    assert reports(answer) == {"mixed": ("liar", "F5")}
    standings = {name: row.standing for name, row in rows.items() if row.standing}
    assert standings == {"same": "exact", "elsewhere": "unverified", "made": "cited"}
    assert not rows["elsewhere"].verifiable


@pytest.mark.parametrize(
    "uri",
    [
        "file://{root}/../secret",
        "file://{root}/link",
        "file://{root}/folder/../../secret",
        "file://{root}",
        "file://{root}/fifo",
        "file://elsewhere{root}/a.md",
        "file://{root}/a.md?x",
        "file://{root}/a%00.md",
        "file://[/a",
        "http://{root}/a.md",
        "{root}/a.md",
    ],
)
def test_what_lies_around_a_trusted_folder_is_not_read(uri: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret\n")
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "a.md").write_text("text\n")
    (root / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(root / "fifo")
    origin = cgp.Provenance(
        type="file", uri=uri.format(root=root), digest="sha256:" + "0" * 64, range="L1"
    )
    answer = ask(inside("prying", frame("it", provenance=(origin,))), roots=[root])
    assert [row.standing for row in answer.audit] == ["unverified"]


def test_a_trusted_folder_may_be_named_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("text\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    frames = [file_frame(name, tmp_path / name / "a.md") for name in ("real", "link")]
    answer = ask(inside("a", frames[0]), inside("b", frames[1]), roots=[tmp_path / "link"])
    assert [row.standing for row in answer.audit if row.outcome == "included"] == ["exact"]
    assert len(excluded(answer)) == 1
