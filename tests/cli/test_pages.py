"""Authored pages on the command line: write, revise, show, log, diff, link and their life."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.cli.running import Terminal

TEXT = b"# Chart datum\n\nDepths are counted from the lowest tide.\n"
OTHER = b"# Chart datum\n\nDepths are counted from the lowest astronomical tide.\n"


@pytest.fixture
def shore(terminal: Terminal) -> Terminal:
    """A terminal that stands in a new store."""
    assert terminal.run("init").code == 0
    return terminal


def write(shore: Terminal, *options: str, content: bytes = TEXT) -> dict[str, str]:
    outcome = shore.run("write", "--scope", "project:tides", *options, "--json", "-", stdin=content)
    assert outcome.code == 0, outcome
    return dict(outcome.json)


def test_init_answers_what_was_made(terminal: Terminal, tmp_path: Path) -> None:
    made = terminal.run("init", str(tmp_path / "a store"), "--json").json
    assert made["store_id"].startswith("st_")
    assert made["path"] == str(tmp_path / "a store")
    assert made["format"] == 0
    assert terminal.run("-C", str(tmp_path / "a store"), "status").code == 0


def test_init_goes_where_the_other_commands_look(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal.run("-C", str(tmp_path / "one"), "init").code == 0
    assert terminal.process("init", PCPFS_STORE=str(tmp_path / "two")).code == 0
    for store in ("one", "two"):
        assert terminal.run("-C", str(tmp_path / store), "status").code == 0
    assert list(terminal.folder.iterdir()) == []


def test_the_store_in_the_user_data_folder_is_the_last_resort(
    terminal: Terminal, tmp_path: Path
) -> None:
    assert terminal.run("init", str(tmp_path / "home" / "data" / "pcpfs")).code == 0
    assert terminal.run("status").code == 0


def test_init_twice_is_refused(shore: Terminal) -> None:
    assert shore.run("init").code == 4


def test_the_store_is_found_from_a_folder_below_it(shore: Terminal) -> None:
    page = write(shore)["page_id"]
    assert shore.process("show", page, folder="scopes/project").code == 0
    assert shore.process("show", page, folder="..").code == 3


def test_the_environment_names_a_store_and_an_option_outranks_it(
    shore: Terminal, tmp_path: Path
) -> None:
    page = write(shore)["page_id"]
    elsewhere = str(tmp_path / "elsewhere")
    assert shore.run("init", elsewhere).code == 0
    store = str(shore.folder)
    assert shore.process("show", page, PCPFS_STORE=elsewhere).code == 3
    assert shore.process("-C", store, "show", page, PCPFS_STORE=elsewhere).code == 0


def test_what_is_written_comes_back_byte_by_byte(shore: Terminal) -> None:
    for content in (b"", b"---\nno: front matter", b"a\r\nb\rc\n", b"\xff\xfe\0\x01", TEXT * 1000):
        page = write(shore, "--title", "Bytes", content=content)["page_id"]
        assert shore.run("show", page, "--projection", "payload").out == content


def test_a_payload_as_json_is_text_or_base64(shore: Terminal) -> None:
    text = write(shore)["page_id"]
    shown = shore.run("show", text, "--projection", "payload", "--json").json
    assert shown["text"] == TEXT.decode()
    assert shown["payload"]["size"] == len(TEXT)
    raw = write(shore, "--title", "Raw", content=b"\xff\0")["page_id"]
    shown = shore.run("show", raw, "--projection", "payload", "--json").json
    assert base64.b64decode(shown["base64"]) == b"\xff\0"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("-", TEXT, "text/markdown"),
        ("-", b"\xff\xfe", "application/octet-stream"),
        ("-", b"nul \0", "application/octet-stream"),
        ("words.txt", TEXT, "text/plain"),
        ("table.csv", b"a,b\n", "text/csv"),
        ("noending", TEXT, "text/markdown"),
    ],
)
def test_the_media_type_is_told_by_name_then_by_content(
    shore: Terminal, tmp_path: Path, name: str, content: bytes, kind: str
) -> None:
    file = name
    if name != "-":
        file = str(tmp_path / name)
        Path(file).write_bytes(content)
    page = shore.run("write", "--scope", "a:b", "--title", "T", "--json", file, stdin=content).json[
        "page_id"
    ]
    assert shore.run("show", page, "--json").json["payload"]["media_type"] == kind


def test_a_key_writes_once_and_refuses_other_bytes(shore: Terminal) -> None:
    first = write(shore, "--key", "k1")
    again = write(shore, "--key", "k1")
    assert (again["page_id"], again["revision_id"]) == (first["page_id"], first["revision_id"])
    outcome = shore.run(
        "write", "--scope", "project:tides", "--key", "k1", "--json", "-", stdin=OTHER
    )
    assert outcome.code == 4
    assert outcome.json["error"]["code"] == "key_reused"


def test_a_revision_that_is_no_longer_current_is_refused_with_the_heads(shore: Terminal) -> None:
    page = write(shore)
    expect = ("--expect", page["revision_id"])
    second = shore.run("revise", page["page_id"], *expect, "--json", "-", stdin=OTHER).json
    outcome = shore.run("revise", page["page_id"], *expect, "--json", "-", stdin=b"third\n")
    assert outcome.code == 4
    assert outcome.json["error"]["code"] == "conflict"
    assert outcome.json["error"]["heads"] == [second["revision_id"]]
    assert shore.run("show", page["page_id"], "--projection", "payload").out == OTHER


def test_revise_with_neither_expect_nor_branch_is_wrong_usage(shore: Terminal) -> None:
    page = write(shore)["page_id"]
    assert shore.run("revise", page, "-", stdin=OTHER).code == 2


def test_a_branch_makes_a_second_head(shore: Terminal) -> None:
    page = write(shore)
    first = page["revision_id"]
    for content in (OTHER, b"third\n"):
        outcome = shore.run("revise", page["page_id"], "--branch", first, "-", stdin=content)
        assert outcome.code == 0
    assert len(shore.run("show", page["page_id"], "--json").json["heads"]) == 2


def test_show_tells_people_title_place_and_text(shore: Terminal) -> None:
    page = write(shore, "--tag", "depth")["page_id"]
    text = shore.run("show", page).text
    assert text.startswith("Chart datum\n")
    for part in ("project:tides", "depth", page, "Depths are counted from the lowest tide."):
        assert part in text


def test_show_as_json_is_the_manifest(shore: Terminal) -> None:
    page = write(shore)
    shown = shore.run("show", page["page_id"][:14], "--json").json
    assert shown["page_id"] == page["page_id"]
    assert shown["heads"] == [shown["revision_id"]] == [page["revision_id"]]
    assert shown["scope"] == "project:tides"
    assert shown["title"] == "Chart datum"


@pytest.mark.parametrize(
    ("projection", "member"),
    [
        ("manifest", "heads"),
        ("payload", "text"),
        ("source_spans", "source_spans"),
        ("relations", "relations"),
        ("facets", "facets"),
        ("history", "revisions"),
    ],
)
def test_every_projection_names_its_page_and_revision(
    shore: Terminal, projection: str, member: str
) -> None:
    page = write(shore)
    shown = shore.run("show", page["page_id"], "--projection", projection, "--json").json
    assert (shown["page_id"], shown["revision_id"]) == (page["page_id"], page["revision_id"])
    assert member in shown
    assert shore.run("show", page["page_id"], "--projection", projection).code == 0


def test_an_old_revision_is_shown_by_its_id_and_by_its_time(shore: Terminal) -> None:
    page = write(shore)
    ident, first = page["page_id"], page["revision_id"]
    held = shore.run("show", ident, "--json").json["valid_from"]
    shore.run("revise", ident, "--expect", first, "-", stdin=OTHER)
    for words in ([first], [f"{ident}@{first}"], [ident, "--as-of", held]):
        assert shore.run("show", *words, "--projection", "payload").out == TEXT
    assert shore.run("show", ident, "--recorded-as-of", held, "--projection", "payload").out == TEXT
    assert shore.run("show", ident, "--as-of", "2001-01-01").code == 3


def test_log_lists_revisions_newest_first(shore: Terminal) -> None:
    page = write(shore)
    second = shore.run(
        "revise", page["page_id"], "--expect", page["revision_id"], "--json", "-", stdin=OTHER
    ).json["revision_id"]
    entries = shore.run("log", page["page_id"], "--json").json["revisions"]
    assert [entry["revision_id"] for entry in entries] == [second, page["revision_id"]]
    assert entries[0]["parents"] == [page["revision_id"]]
    assert {"created_at", "created_by", "operation", "valid_from"} <= set(entries[0])
    assert shore.run("log", page["page_id"]).text.count("\n") == 2


def test_diff_shows_the_last_step_or_any_two_revisions(shore: Terminal) -> None:
    page = write(shore)
    ident, first = page["page_id"], page["revision_id"]
    shore.run("revise", ident, "--expect", first, "-", stdin=OTHER)
    text = shore.run("diff", ident).text
    assert "-Depths are counted from the lowest tide.\n" in text
    assert "+Depths are counted from the lowest astronomical tide.\n" in text
    assert shore.run("diff", ident, first).text == text
    assert shore.run("diff", ident, first, first, "--json").json["text"] == ""


def test_link_relates_two_pages_and_both_show_it(shore: Terminal) -> None:
    one, two = write(shore), write(shore, "--title", "Other", content=OTHER)
    linked = shore.run("link", one["page_id"], "refines", two["page_id"], "--json").json
    assert (linked["type"], linked["to_page_id"]) == ("refines", two["page_id"])
    for page in (one, two):
        shown = shore.run("show", page["page_id"], "--projection", "relations", "--json").json
        assert [relation["type"] for relation in shown["relations"]] == ["refines"]
    assert "refines →" in shore.run("link", one["page_id"], "refines", two["page_id"]).text


@pytest.mark.parametrize(
    ("command", "state"), [("tombstone", "tombstoned"), ("archive", "archived")]
)
def test_a_page_is_put_away_and_brought_back(shore: Terminal, command: str, state: str) -> None:
    page = write(shore)["page_id"]
    assert shore.run(command, page).code == 2
    assert shore.run(command, page, "--why", "superseded").code == 0
    assert shore.run("show", page, "--json").json["lifecycle_status"] == state
    assert state in shore.run("show", page).text
    assert shore.run("search", "datum", "--json").json["results"] == []
    assert shore.run("restore", page, "--why", "needed again").code == 0
    assert len(shore.run("search", "datum", "--json").json["results"]) == 1


def test_search_finds_pages_and_filters_them(shore: Terminal) -> None:
    page = write(shore, "--tag", "depth")["page_id"]
    write(shore, "--title", "Harbour", content=b"Ask the master about the datum.\n")
    found = shore.run("search", "datum", "--json").json
    assert {hit["page_id"] for hit in found["results"]} >= {page}
    assert found["policy"] == "global"
    assert "as_of" not in found
    tagged = shore.run("search", "datum", "--tag", "depth", "--json").json["results"]
    assert {hit["page_id"] for hit in tagged} == {page}
    first = shore.run("search", "datum", "--limit", "1", "--json").json
    then = shore.run("search", "datum", "--limit", "1", "--cursor", first["cursor"], "--json").json
    assert first["results"][0]["page_id"] != then["results"][0]["page_id"]


def test_no_hits_are_no_error(shore: Terminal) -> None:
    write(shore)
    outcome = shore.run("search", "zzzzz")
    assert outcome.code == 0
    assert outcome.text.startswith("no results")


def test_a_search_stays_in_its_scope(shore: Terminal) -> None:
    write(shore)
    other = shore.run("write", "--scope", "project:ports", "-", stdin=TEXT)
    assert other.code == 0
    for query in ("datum", "scope:project:ports OR datum", '"chart datum"', "*"):
        found = shore.run("search", query, "--scope", "project:tides", "--json").json
        assert {hit["scope"] for hit in found["results"]} <= {"project:tides"}


def test_scopes_are_listed(shore: Terminal) -> None:
    write(shore)
    (scope,) = shore.run("scope", "list", "--json").json["scopes"]
    assert (scope["scope"], scope["pages"]) == ("project:tides", 1)
    assert "project:tides" in shore.run("scope", "list").text


def test_content_cannot_drive_the_terminal(shore: Terminal) -> None:
    page = write(shore, "--title", "T", content=b"\x1b]0;own\x07 \x9b31m\n\xe2\x80\xaedatum\n")
    for words in (["show", page["page_id"]], ["search", "datum"], ["diff", page["page_id"]]):
        out = shore.run(*words).out
        assert not set(out) & {0x1B, 0x07}
        assert "\u202e".encode() not in out


@pytest.mark.parametrize(
    "words",
    [
        ["write", "--scope", "../x", "-"],
        ["write", "--scope", "a:b", "--path", "../x.md", "-"],
        ["write", "--scope", "a:b", "--path", "/etc/x.md", "-"],
        ["write", "--scope", "a:b", "--path", "a\\..\\x.md", "-"],
        ["write", "--scope", "a:b", "--title", "a\x1b[31m", "-"],
        ["write", "--scope", "a:b", "--path", "con.md", "-"],
    ],
)
def test_names_that_lead_elsewhere_are_refused(shore: Terminal, words: list[str]) -> None:
    outcome = shore.run(*words, "--json", stdin=TEXT)
    assert outcome.code == 2
    assert outcome.json["error"]["code"] == "invalid_name"


def test_what_nobody_knows_is_not_found(shore: Terminal) -> None:
    for words in (["show", "pg_00000000"], ["log", "nothing.md"], ["diff", "rev_00000000"]):
        outcome = shore.run(*words, "--json")
        assert (outcome.code, outcome.json["error"]["code"]) == (3, "not_found")


def test_the_principal_who_acts_is_recorded(shore: Terminal) -> None:
    write(shore)  # the owner's first write makes the scope
    page = write(shore, "--as", "model:local")["page_id"]
    assert shore.run("show", page, "--json").json["created_by"] == "model:local"
