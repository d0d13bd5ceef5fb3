"""`pcpfs thread` and `pcpfs event` on the command line."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.running import Outcome, Terminal


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Terminal:
    """A terminal that stands in a new store."""
    terminal = Terminal(tmp_path / "work", monkeypatch, capfdbinary)
    assert terminal.run("init").code == 0
    return terminal


def ingest(terminal: Terminal, text: str, *options: str) -> dict[str, str]:
    done = terminal.run(
        "thread", "ingest", "fix", "--source", "tool:make", *options, "--json", "-",
        stdin=text.encode(),
    )  # fmt: skip
    assert done.code == 0, done
    return dict(done.json)


def project(terminal: Terminal, *words: str) -> dict[str, object]:
    done = terminal.run("thread", *words, "--json")
    assert done.code == 0, done
    return dict(done.json)


def test_an_event_answers_its_ids_and_a_retry_the_same(terminal: Terminal) -> None:
    words = ("event", "--scope", "conversation:c1", "--key", "m1", "--json", "-")
    first, again = (terminal.run(*words, stdin=b"High water at noon.").json for _ in range(2))
    assert set(first) >= {"page_id", "revision_id", "scope", "path"}
    assert [again[name] for name in ("page_id", "revision_id", "scope", "path")] == [
        first[name] for name in ("page_id", "revision_id", "scope", "path")
    ]
    assert Path(first["path"]).is_file()
    shown = terminal.run("show", first["page_id"], "--json").json
    assert (shown["kind"], shown["title"]) == ("event", "High water at noon.")
    raw = terminal.run("show", first["page_id"], "--projection", "payload")
    assert raw.out == b"High water at noon."
    assert terminal.run("fsck").code == 0
    reused = terminal.run(*words, stdin=b"Other.")
    assert (reused.code, reused.json["error"]["code"]) == (4, "key_reused")


def test_events_are_searched_by_kind_and_listed_in_the_view(terminal: Terminal) -> None:
    made = terminal.run("event", "--scope", "c:1", "--json", "-", stdin=b"The pump stopped.").json
    terminal.run("write", "--scope", "c:1", "-", stdin=b"A page about the pump.")
    found = terminal.run("search", "pump", "--kind", "event", "--json").json["results"]
    assert [hit["page_id"] for hit in found] == [made["page_id"]]
    assert made["page_id"] in terminal.run("ls", "/pages").text
    assert terminal.run("log", made["page_id"]).code == 0
    assert not list(Path("scopes/c/1/tree").glob("*stopped*"))


def test_a_projection_has_the_fields_that_scripts_rely_on(terminal: Terminal) -> None:
    ingest(terminal, "The import fails: no year.", "--goal", "g1", "--tag", "failure")
    ingest(terminal, "Tides are fine.", "--importance", "0.2")
    view = project(terminal, "project", "fix", "import fails", "--budget", "100")
    (first, second) = view["entries"]  # type: ignore[misc]
    assert first["content"] == "The import fails: no year."
    assert (first["source"], first["tags"], first["goal_id"]) == ("tool:make", ["failure"], "g1")
    assert (first["importance"], second["importance"]) == (0.8, 0.2)
    assert set(first["terms"]) == {"text", "tags", "importance"}
    assert view["token_count"] == 7 + 4
    assert view["total_entries"] == 2
    assert view["algorithm_version"] == "v2_bm25"


def test_the_algorithm_is_chosen_by_option_or_in_the_settings(terminal: Terminal) -> None:
    ingest(terminal, "one", "--goal", "g1")
    words = ("project", "fix", "g1")
    assert (
        project(terminal, *words, "--algorithm", "v1_keyword")["algorithm_version"] == "v1_keyword"
    )
    settings = Path("pcpfs.toml")
    settings.write_text(settings.read_text() + 'ledger_algorithm = "v1_keyword"\n')
    assert project(terminal, *words)["algorithm_version"] == "v1_keyword"
    wrong = terminal.run("thread", *words, "--algorithm", "v9", "--json")
    assert wrong.code == 2


def test_a_brief_is_of_one_goal(terminal: Terminal) -> None:
    ingest(terminal, "about one", "--goal", "g1")
    ingest(terminal, "about two", "--goal", "g2")
    ingest(terminal, "about none")
    view = project(terminal, "brief", "fix", "g1", "--budget", "1000", "--query", "about two none")
    assert [entry["content"] for entry in view["entries"]] == ["about one"]  # type: ignore[attr-defined]
    assert view["total_entries"] == 1
    assert project(terminal, "brief", "fix", "g", "--budget", "9")["entries"] == []


def test_a_result_goes_back_and_is_seen_by_the_orchestrator(terminal: Terminal) -> None:
    ingest(terminal, "find the cause", "--goal", "g1")
    done = terminal.run(
        "thread", "result", "fix", "--from", "g1", "-", stdin=b"The year is missing."
    )
    assert done.code == 0
    terminal.run("thread", "result", "fix", "--from", "g2", "--failed", "-", stdin=b"Gave up.")
    view = project(terminal, "project", "fix", "year missing", "--budget", "1000")
    first = view["entries"][0]  # type: ignore[index]
    assert (first["source"], first["goal_id"], first["importance"]) == ("subagent:g1", "g1", 0.6)
    assert first["tags"] == ["result", "success"]
    found = project(terminal, "reflect", "fix")
    goals = {goal["goal_id"]: goal for goal in found["goals"]}  # type: ignore[attr-defined]
    assert goals["g1"]["tagged"] == {"success": 1}
    assert [entry["content"] for entry in goals["g2"]["evidence"]] == ["Gave up."]


def test_a_summary_is_for_people(terminal: Terminal) -> None:
    ingest(terminal, "one", "--goal", "g1", "--tag", "success")
    text = terminal.run("thread", "summary", "fix").text
    assert "1 entry: 1 success" in text
    assert "g1: " in text
    assert project(terminal, "summary", "fix", "--goal", "none")["summary"] == "nothing yet"


def test_a_summary_spans_all_times_whatever_the_order_of_the_entries(terminal: Terminal) -> None:
    for month in (5, 1, 9, 4):
        ingest(terminal, f"month {month}", "--goal", "g", "--at", f"2026-0{month}-01")
    for given in ((), ("--goal", "g")):
        text = terminal.run("thread", "summary", "fix", *given).text
        assert "2026-01-01T00:00:00Z … 2026-09-01T00:00:00Z" in text


def test_the_mark_of_a_cut_entry_leads_to_its_rest(terminal: Terminal) -> None:
    text = "The gauge reads metres. " * 40 + "\u6e80\u6f6e\u3002"
    ingest(terminal, text)
    (shown,) = project(terminal, "project", "fix", "gauge", "--budget", "60")["entries"]  # type: ignore[misc]
    begun, mark = shown["content"].removesuffix("]").split(" […")
    place = mark.rsplit(" ", 1)[1]
    rest = terminal.run("show", place, "--projection", "payload").out
    assert (begun.encode() + rest).decode() == text
    assert terminal.run("show", place, "--bytes", "0-5").code == 2


def test_who_may_write_but_not_read_can_give_a_result(terminal: Terminal) -> None:
    ingest(terminal, "start", "--goal", "g1")
    assert terminal.run("scope", "grant", "thread:fix", "agent:sub", "write").code == 0
    words = ("--as", "agent:sub", "thread")
    assert terminal.run(*words, "result", "fix", "--from", "g1", "-", stdin=b"Found.").code == 0
    assert terminal.run(*words, "log", "fix").code == 3
    assert terminal.run(*words, "result", "other", "--from", "g1", "-", stdin=b"x").code == 3
    assert project(terminal, "log", "fix")["total_entries"] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": 5},
        {"source": 5},
        {"goal_id": 7},
        {"key": 7},
        {"tags": [1]},
        {"tags": 1},
        {"tags": {"a": 1}},
        {"importance": True},
        {"importance": "0.5"},
        {"timestamp": 5},
    ],
    ids=str,
)
def test_a_line_whose_values_are_of_another_kind_is_refused(
    wrong: dict[str, object], terminal: Terminal
) -> None:
    line = json.dumps({"content": "x", "source": "s", **wrong}).encode()
    done = terminal.run("thread", "ingest", "fix", "--jsonl", "--json", "-", stdin=line)
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    told = done.json["error"]["message"]
    assert "line 1" in told
    assert next(iter(wrong)) in told or "no time" in told
    assert not list(Path("scopes").rglob("*.jsonl"))


def test_looking_back_goes_by_importance_and_takes_no_ranking(terminal: Terminal) -> None:
    ingest(terminal, "worse", "--tag", "failure", "--importance", "0.9")
    ingest(terminal, "bad", "--tag", "failure")
    ingest(terminal, "fine", "--tag", "success")
    (goal,) = project(terminal, "reflect", "fix", "--budget", "3")["goals"]  # type: ignore[misc]
    assert [shown["content"] for shown in goal["evidence"]] == ["worse", "bad"]
    assert terminal.run("thread", "reflect", "fix", "--half-life", "1").code == 2


def test_the_log_is_in_order_and_paged(terminal: Terminal) -> None:
    for number in range(5):
        ingest(terminal, f"entry {number}")
    first = project(terminal, "log", "fix", "--limit", "3")
    rest = project(terminal, "log", "fix", "--limit", "3", "--cursor", str(first["cursor"]))
    both = [*first["entries"], *rest["entries"]]  # type: ignore[misc]
    assert [entry["content"] for entry in both] == [f"entry {number}" for number in range(5)]
    assert "cursor" not in rest
    assert terminal.run("thread", "log", "fix", "--cursor", "nonsense").code == 2


def test_many_lines_are_one_commit(terminal: Terminal) -> None:
    lines = [{"content": f"n{n}", "tags": ["a"], "goal_id": "g", "key": str(n)} for n in range(50)]
    raw = "\n".join(map(json.dumps, lines)).encode()
    words = ("thread", "ingest", "fix", "--source", "tool:x", "--jsonl", "--json", "-")
    first, again = (terminal.run(*words, stdin=raw).json for _ in range(2))
    assert (first["created"], again["created"]) == (50, 0)
    assert len({entry["commit"] for entry in first["entries"]}) == 1
    assert len(list(Path("scopes").rglob("*.jsonl"))) == 1
    bad = terminal.run(*words, stdin=b'{"content": "x"}\n{"contents": "y"}')
    assert (bad.code, "line 2" in bad.json["error"]["message"]) == (2, True)
    assert project(terminal, "log", "fix")["total_entries"] == 50


@pytest.mark.parametrize(
    "view", [("project", "q"), ("brief", "g"), ("reflect",), ("summary",), ("log",)]
)
def test_a_thread_that_is_not_there_is_not_found(view: tuple[str, ...], terminal: Terminal) -> None:
    done = terminal.run("thread", view[0], "nowhere", *view[1:], "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "not_found")


@pytest.mark.parametrize("thread", ["", "../x", "a/b", "a\\b", "%2e%2e", "x\x00"])
def test_a_thread_id_that_leads_elsewhere_is_refused(thread: str, terminal: Terminal) -> None:
    done = terminal.run("thread", "ingest", thread, "--source", "s", "-", stdin=b"x")
    assert done.code == 2
    assert not list(Path().rglob("*.jsonl"))


def test_bytes_that_are_no_text_and_escapes_for_terminals_do_no_harm(terminal: Terminal) -> None:
    done = terminal.run("thread", "ingest", "fix", "--source", "s", "-", stdin=b"\xff\x1b[2J ok")
    assert done.code == 0
    shown = terminal.run("thread", "log", "fix")
    assert b"\x1b[2J" not in shown.out
    assert "ok" in shown.text


def test_processes_that_ingest_at_once_lose_nothing(terminal: Terminal) -> None:
    ingest(terminal, "start")

    def send(number: int) -> Outcome:
        lines = [json.dumps({"content": f"w{number} {n}", "source": "t"}) for n in range(10)]
        raw = "\n".join(lines).encode()
        return terminal.process("thread", "ingest", "fix", "--jsonl", "-", stdin=raw)

    with ThreadPoolExecutor(4) as pool:
        assert {done.code for done in pool.map(send, range(8))} == {0}
    log = project(terminal, "log", "fix", "--limit", "1000")
    contents = [entry["content"] for entry in log["entries"]]  # type: ignore[attr-defined]
    assert len(contents) == 81
    for number in range(8):
        own = [text for text in contents if text.startswith(f"w{number} ")]
        assert own == [f"w{number} {n}" for n in range(10)]
    assert terminal.run("fsck").code == 0
