"""Source trees on the command line: add, sync, symbols, and pages that cite them."""

from __future__ import annotations

import hashlib
import shutil
from typing import Any

import pytest

from tests.cli.running import Terminal
from tests.staleness.following import git

TIDE = "def rise(hours):\n    return hours\n\n\ndef fall(hours):\n    return -hours\n"


@pytest.fixture
def shore(terminal: Terminal) -> Terminal:
    """A terminal in a folder with a store beside a source tree that has been taken in."""
    terminal.write("book/tide.py", TIDE)
    terminal.write("book/docs/moon.md", "# Moon\n\nSpring tides follow the full moon.\n")
    terminal.write("book/.gitignore", "*.log\n")
    terminal.write("book/noise.log", "noise\n")
    terminal.run("init", "store")
    terminal.go_to("store")
    report = terminal.run("add", "../book", "--scope", "project:tides", "--json")
    assert report.code == 0, report
    return terminal


def symbol(shore: Terminal, name: str, *options: str) -> dict[str, Any]:
    (hit,) = shore.run("symbol", name, *options, "--json").json["results"]
    return dict(hit)


def cite(shore: Terminal, frame: str) -> str:
    words = ("write", "--scope", "project:tides", "--cites", frame, "--json", "-")
    return str(shore.run(*words, stdin=b"# Rising\n\nIt rises evenly.\n").json["page_id"])


def test_add_reports_files_symbols_and_what_was_left_out(terminal: Terminal) -> None:
    terminal.write("book/tide.py", TIDE)
    terminal.write("book/photo.bin", b"\0\1\2")
    terminal.write("book/big.txt", "x" * 3000)
    terminal.run("init", "store")
    words = ("add", "book", "--scope", "a:b", "--root", "tides", "--max-bytes", "2000")
    answer = terminal.run("-C", "store", *words, "--json").json
    (root,) = answer["roots"]
    assert (root["root"], root["files"], root["symbols"]) == ("tides", 1, 2)
    assert (root["opened"], root["closed"]) == (2, 0)
    assert {skipped["path"] for skipped in root["skipped"]} == {"photo.bin", "big.txt"}
    assert all(skipped["reason"] for skipped in root["skipped"])
    assert answer["commit"]


def test_a_second_add_changes_nothing(shore: Terminal) -> None:
    answer = shore.run("add", "../book", "--scope", "project:tides", "--json").json
    (root,) = answer["roots"]
    assert (root["opened"], root["closed"], root["changed"]) == (0, 0, 0)
    assert "commit" not in answer
    assert "nothing has changed" in shore.run("sync").text


def test_a_folder_that_is_not_there_is_not_found(shore: Terminal) -> None:
    assert shore.run("add", "../nowhere", "--scope", "a:b").code == 3
    assert shore.run("sync", "nowhere").code == 3


def test_a_clone_that_knows_no_place_for_a_source_says_so(shore: Terminal) -> None:
    shutil.rmtree(shore.folder / ".git" / "pcpfs")
    told = shore.run("sync")
    assert told.code == 0
    assert "book in project:tides: not known where it lies" in told.text
    assert "nothing has changed in tree/" in told.text
    (line,) = (line for line in told.text.splitlines() if "pcpfs add PATH" in line)
    words = line[line.index("add") :].replace("PATH", "../book").split()
    assert shore.run(*words).code == 0
    again = shore.run("sync", "--json").json
    assert [root["root"] for root in again["roots"]] == ["book"]
    assert again["unbound"] == []


def test_a_copy_of_a_store_says_how_it_takes_a_source_over(shore: Terminal) -> None:
    shutil.copytree(shore.folder, shore.folder.parent / "copy")
    shore.go_to("../copy")
    told = shore.run("sync").text
    assert "another copy of this store follows it, left alone" in told
    (line,) = (line for line in told.splitlines() if "pcpfs add PATH" in line)
    words = line[line.index("add") :].replace("PATH", "../book").split()
    assert shore.run(*words).code == 0
    assert "nothing has changed in 3 files" in shore.run("sync").text


def test_what_commits_say_is_told_before_what_else_there_is(shore: Terminal) -> None:
    book = shore.folder.parent / "book"
    git(book, "init", "-q")
    git(book, "add", ".")
    git(book, "commit", "-q", "-m", "x")
    told = shore.run("sync", "--history").text.splitlines()
    assert told[1].startswith("  history of ")
    assert told[2] == "  nothing else has changed in 3 files"
    git(book, "branch", "x")
    shore.run("sync", "--history", "--all-branches")
    assert "'x' did nothing to it" in shore.run("log", "tide.py", "--branch", "x").text


def test_include_takes_only_such_files(terminal: Terminal) -> None:
    terminal.write("book/tide.py", TIDE)
    terminal.write("book/moon.md", "# Moon\n")
    terminal.run("init", "store")
    words = ("add", "book", "--scope", "a:b", "--include", "*.md", "--json")
    assert terminal.run("-C", "store", *words).json["roots"][0]["files"] == 1


def test_a_symbol_is_found_and_shown_exactly(shore: Terminal) -> None:
    hit = symbol(shore, "fall")
    assert (hit["path"], hit["lines"], hit["kind"]) == ("tide.py", [5, 6], "function")
    shown = shore.run("show", hit["frame_id"], "--projection", "payload").out
    assert shown == b"def fall(hours):\n    return -hours"
    assert hit["digest"] == "sha256:" + hashlib.sha256(shown).hexdigest()
    whole = shore.run("show", hit["frame_id"], "--json").json
    assert whole["text"] == shown.decode()
    assert whole["lines"] == [5, 6]
    assert "return -hours" in shore.run("show", hit["frame_id"]).text


def test_a_symbol_has_no_history_projection(shore: Terminal) -> None:
    frame = symbol(shore, "fall")["frame_id"]
    assert shore.run("show", frame, "--projection", "history").code == 2


def test_spans_of_a_source_page_lead_to_its_symbols(shore: Terminal) -> None:
    page = symbol(shore, "fall")["page_id"]
    spans = shore.run("show", page, "--projection", "source_spans", "--json").json["source_spans"]
    names = [span["qualified_name"] for span in spans if "qualified_name" in span]
    assert {"rise", "fall"} <= set(names)


def test_an_edit_closes_the_symbol_and_the_page_that_cites_it_is_suspect(shore: Terminal) -> None:
    old = symbol(shore, "rise")
    page = cite(shore, old["frame_id"])
    assert shore.run("stale", "--json").json == {"pages": []}
    shore.write("../book/tide.py", TIDE.replace("return hours", "return hours / 2"))
    (root,) = shore.run("sync", "--json").json["roots"]
    assert (root["opened"], root["closed"]) == (1, 1)
    (stale,) = shore.run("stale", "--json").json["pages"]
    assert (stale["page_id"], stale["frames"][0]["frame_id"]) == (page, old["frame_id"])
    assert "rise" in shore.run("stale").text
    new = symbol(shore, "rise")
    assert new["digest"] != old["digest"]
    then = symbol(shore, "rise", "--as-of", old["valid_from"])
    assert (then["digest"], then["valid_to"]) == (old["digest"], new["valid_from"])
    hits = shore.run("search", "rises evenly", "--kind", "page", "--json").json["results"]
    assert hits[0]["suspect"] is True
    assert "suspect" in shore.run("show", page).text
    shore.write("../book/tide.py", TIDE)
    shore.run("sync")
    assert shore.run("stale", "--json").json == {"pages": []}


def test_the_old_text_of_a_symbol_is_read_as_of_then(shore: Terminal) -> None:
    old = symbol(shore, "rise")
    shore.write("../book/tide.py", "")
    shore.run("sync")
    words = ("show", old["frame_id"], "--as-of", old["valid_from"], "--projection", "payload")
    assert shore.run(*words).out == b"def rise(hours):\n    return hours"


def test_a_source_page_has_symbols_in_its_diff(shore: Terminal) -> None:
    page = symbol(shore, "rise")["page_id"]
    shore.write("../book/tide.py", TIDE.replace("def fall", "def sink"))
    shore.run("sync")
    symbols = shore.run("diff", page, "--json").json["symbols"]
    assert (symbols["added"], symbols["removed"], symbols["changed"]) == (["sink"], ["fall"], [])
    text = shore.run("diff", page).text
    assert "+ sink\n" in text
    assert "-def fall(hours):\n" in text


def test_a_source_page_cannot_be_revised(shore: Terminal) -> None:
    hit = symbol(shore, "rise")
    words = ("revise", hit["page_id"], "--expect", hit["revision_id"], "-")
    assert shore.run(*words, stdin=b"x").code == 2


@pytest.mark.parametrize("pin", ["--as-of", "--recorded-as-of"])
def test_every_read_takes_time_pins(shore: Terminal, pin: str) -> None:
    page = symbol(shore, "rise")["page_id"]
    for words in (["show", page], ["log", page], ["diff", page], ["cat", "/sources/book/tide.py"]):
        assert shore.run(*words, pin, "2099-01-01").code == 0
    for words in (["search", "rise"], ["symbol", "rise"]):
        answer = shore.run(*words, pin, "2001-01-01", "--json").json
        assert answer["results"] == []
        assert answer[pin.removeprefix("--").replace("-", "_")] == "2001-01-01T00:00:00Z"
    for words in (["ls", "/sources/book"], ["tree", "/sources/book"]):
        assert shore.run(*words, pin, "2001-01-01").code in (0, 3)


def test_filters_narrow_symbols_and_search_alike(shore: Terminal) -> None:
    for command in ("symbol", "search"):
        for options in (["--lang", "markdown"], ["--path", "docs/*"], ["--kind", "heading"]):
            hits = shore.run(command, "moon", *options, "--json").json["results"]
            assert [hit["path"] for hit in hits if hit["path"] != "docs/moon.md"] == []
            assert hits
            assert shore.run(command, "rise", *options, "--json").json["results"] == []


def test_status_tells_roots_and_what_needs_attention(shore: Terminal) -> None:
    cite(shore, symbol(shore, "rise")["frame_id"])
    shore.write("../book/tide.py", TIDE.replace("return hours", "return hours / 2"))
    shore.run("sync")
    shore.write("../book/tide.py", TIDE + "\n")
    shore.write("../book/new.py", "x = 1\n")
    status = shore.run("status", "--json").json
    assert [(root["root"], root["files"]) for root in status["roots"]] == [("book", 3)]
    assert {(stale["path"], stale["status"]) for stale in status["stale"]} == {
        ("tide.py", "changed"),
        ("new.py", "new"),
    }
    assert [page["title"] for page in status["suspect"]] == ["Rising"]
    assert {skipped["path"] for skipped in status["skipped"]} == {"noise.log"}
    assert status["conflicts"] == []
    assert {"index", "generation"} <= set(status)
    text = shore.run("status").text
    for part in ("book", "suspect: cites rise", "changed since the last sync: book/tide.py"):
        assert part in text


def test_verify_says_of_each_symbol_whether_it_still_stands(shore: Terminal) -> None:
    assert shore.run("verify").code == 0
    shore.write("../book/tide.py", TIDE.replace("return hours", "return hours / 2"))
    (shore.folder / "../book/docs/moon.md").unlink()
    outcome = shore.run("verify", "--json")
    assert outcome.code == 1
    statuses = {f["qualified_name"]: f["status"] for f in outcome.json["frames"]}
    assert (statuses["rise"], statuses["fall"], statuses["Moon"]) == ("stale", "valid", "gone")
    counts = [outcome.json[name] for name in ("checked", "valid", "stale", "gone")]
    assert counts[0] == sum(counts[1:])
    rise = next(f for f in outcome.json["frames"] if f["qualified_name"] == "rise")
    assert rise["replacement_digest"] != rise["digest"]
    assert "stale" in shore.run("verify").text


def test_fsck_is_quiet_about_a_sound_store_and_names_a_damaged_file(shore: Terminal) -> None:
    assert shore.run("fsck", "--json").json["ok"] is True
    assert "all well" in shore.run("fsck").text
    payload = next(p for p in shore.folder.glob("scopes/**/payloads/*/*/*") if p.is_file())
    payload.chmod(0o644)
    payload.write_bytes(b"other bytes")
    outcome = shore.run("fsck", "--json")
    assert outcome.code == 1
    assert outcome.json["ok"] is False
    assert payload.name in " ".join(problem["path"] for problem in outcome.json["problems"])
    assert payload.name in shore.run("fsck").text


def test_reindex_gives_the_same_answers_in_the_same_order(shore: Terminal) -> None:
    cite(shore, symbol(shore, "rise")["frame_id"])
    before = shore.run("search", "rise tide moon", "--json").json
    assert shore.run("reindex", "--json").json["pages"] == 4
    assert shore.run("search", "rise tide moon", "--json").json == before


def test_tests_and_generated_sources_are_marked_and_can_be_left_out(shore: Terminal) -> None:
    shore.write("../marked/tide.py", "def ebb_height(): pass\n")
    shore.write("../marked/tests/test_tide.py", "def ebb_height(): pass\n")
    shore.write("../marked/tide.min.js", "function ebb_height() {}\n")
    shore.run("add", "../marked", "--scope", "project:marked", "--json")

    def found(*options: str) -> dict[str, tuple[bool, bool]]:
        results = shore.run("symbol", "ebb_height", *options, "--json").json["results"]
        return {r["path"]: (r.get("test", False), r.get("generated", False)) for r in results}

    every = {"tests/test_tide.py": (True, False), "tide.min.js": (False, True)}
    assert found() == {"tide.py": (False, False)} | every
    assert set(found("--no-tests", "--no-generated")) == {"tide.py"}
    assert set(found("--tests")) == {"tests/test_tide.py"}
    assert set(found("--generated")) == {"tide.min.js"}
    results = shore.run("search", "ebb", "height", "--no-tests", "--json").json["results"]
    assert {r["path"] for r in results} == {"tide.py", "tide.min.js"}


def test_where_one_source_has_no_history_the_others_are_recorded(shore: Terminal) -> None:
    for name in ("begun", "old"):
        shore.write(f"../{name}/a.py", TIDE)
        git(shore.folder.parent / name, "init", "-q")
        shore.run("add", f"../{name}", "--scope", "project:tides")
    git(shore.folder.parent / "old", "add", ".")
    git(shore.folder.parent / "old", "commit", "-q", "-m", "one")
    answer = shore.run("sync", "--history", "--json")
    assert answer.code == 3
    told = {root["root"]: root.get("history", {}).get("commits") for root in answer.json["roots"]}
    assert told == {"begun": None, "book": None, "old": 1}
    assert [refused["root"] for refused in answer.json["refused"]] == ["begun"]
    assert answer.json["error"]["code"] == "not_found"
    assert "note: the history of begun was left alone" in shore.run("sync", "--history").text
    assert shore.run("sync", "old", "--history").code == 0
