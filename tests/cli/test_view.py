"""`ls`, `cat` and `tree` over the virtual view."""

from __future__ import annotations

import base64

import pytest

from tests.cli.running import Terminal

TIDE = b"def rise(hours):\n    return hours\n"
NOTE = b"# Moon\n\nSpring tides follow it.\n"


@pytest.fixture
def shore(terminal: Terminal) -> Terminal:
    """A terminal in a store with a note and a source tree."""
    terminal.write("book/tide.py", TIDE)
    terminal.write("book/raw.txt", b"caf\xe9\n")
    terminal.run("init", "store")
    terminal.go_to("store")
    assert terminal.run("add", "../book", "--scope", "project:tides").code == 0
    assert terminal.run("write", "--scope", "project:tides", "-", stdin=NOTE).code == 0
    return terminal


def names(shore: Terminal, path: str, *options: str) -> list[str]:
    return [entry["name"] for entry in shore.run("ls", path, *options, "--json").json["entries"]]


def test_the_root_lists_the_branches(shore: Terminal) -> None:
    assert {"scopes", "sources", "pages"} <= set(names(shore, "/"))
    assert shore.run("ls").text == shore.run("ls", "/").text


def test_a_file_is_read_byte_by_byte(shore: Terminal) -> None:
    assert shore.run("cat", "/scopes/project/tides/moon.md").out == NOTE
    assert shore.run("cat", "/sources/book/raw.txt").out == b"caf\xe9\n"
    answer = shore.run("cat", "/sources/book/raw.txt", "--json").json
    assert base64.b64decode(answer["base64"]) == b"caf\xe9\n"
    assert shore.run("cat", "/sources/book/tide.py", "--json").json["text"] == TIDE.decode()


def test_a_symbol_is_a_file_of_exactly_its_bytes(shore: Terminal) -> None:
    (name,) = names(shore, "/sources/book/tide.py.symbols")
    assert shore.run("cat", f"/sources/book/tide.py.symbols/{name}").out == TIDE.rstrip()


def test_ls_of_a_file_lists_the_file(shore: Terminal) -> None:
    (entry,) = shore.run("ls", "/sources/book/tide.py", "--json").json["entries"]
    assert (entry["name"], entry["kind"], entry["size"]) == ("tide.py", "file", len(TIDE))


def test_earlier_instants_are_seen_by_option_and_by_path(shore: Terminal) -> None:
    then = shore.run("symbol", "rise", "--json").json["results"][0]["valid_from"]
    shore.write("../book/tide.py", b"def fall(hours):\n    return -hours\n")
    shore.run("sync")
    assert shore.run("cat", "--as-of", then, "/sources/book/tide.py").out == TIDE
    assert shore.run("cat", f"/as-of/{then}/sources/book/tide.py").out == TIDE
    assert names(shore, "/sources/book", "--as-of", "2001-01-01") == []
    assert shore.run("cat", "--recorded-as-of", "2001-01-01", "/sources/book/tide.py").code == 3


def test_a_tree_shows_its_levels(shore: Terminal) -> None:
    text = shore.run("tree", "/sources", "--depth", "3").text
    assert text.startswith("/sources\n└── book/\n    ├── ")
    entries = shore.run("tree", "/sources", "--depth", "2", "--json").json["entries"]
    paths = [entry["path"] for entry in entries]
    assert "book/tide.py" in paths
    assert not [path for path in paths if path.count("/") > 1]


@pytest.mark.parametrize("path", ["/nowhere", "/sources/nowhere", "/scopes/../../etc/passwd"])
def test_what_is_not_in_the_view_is_refused(shore: Terminal, path: str) -> None:
    for command in ("ls", "cat", "tree"):
        assert shore.run(command, path).code in (2, 3)


def test_a_folder_cannot_be_read_as_a_file(shore: Terminal) -> None:
    assert shore.run("cat", "/sources").code == 2


def test_a_long_list_is_given_in_parts(shore: Terminal) -> None:
    whole = shore.run("ls", "/frames", "--json").json
    assert "cursor" not in whole
    assert len(whole["entries"]) > 2
    parts, cursor = [], []
    while True:
        answer = shore.run("ls", "/frames", "--limit", "2", *cursor, "--json").json
        parts += answer["entries"]
        if "cursor" not in answer:
            break
        assert len(answer["entries"]) == 2
        cursor = ["--cursor", answer["cursor"]]
    assert parts == whole["entries"]
    told = shore.run("ls", "/frames", "--limit", "1")
    assert len(told.text.splitlines()) == 1
    assert "--cursor" in told.message


@pytest.mark.parametrize("cursor", ["x", "WzFd", "bnVsbA==", "WyIvIiwgMV0="])
def test_what_is_no_cursor_is_refused(shore: Terminal, cursor: str) -> None:
    assert shore.run("ls", "/", "--cursor", cursor).code == 2


def test_a_cursor_belongs_to_its_folder(shore: Terminal) -> None:
    cursor = shore.run("ls", "/", "--limit", "1", "--json").json["cursor"]
    assert shore.run("ls", "/pages", "--cursor", cursor).code == 2


def test_an_empty_folder_is_an_empty_list(shore: Terminal) -> None:
    assert shore.run("ls", "/relations", "--json").json == {"path": "/relations", "entries": []}
    assert shore.run("ls", "/relations").text == ""


def test_a_search_is_a_folder(shore: Terminal) -> None:
    (entry, *_) = shore.run("ls", "/search/spring tides", "--json").json["entries"]
    assert (entry["name"], entry["kind"]) == ("01-Moon.md", "link")
    assert shore.run("cat", "/search/spring tides/01-Moon.md").out == NOTE


def test_a_branch_is_exported_as_plain_files(shore: Terminal) -> None:
    first = shore.run("export", "--view", "/sources/book", "../out", "--json").json
    assert (first["view"], first["removed"], first["left"]) == ("/sources/book", 0, [])
    assert shore.run("cat", "/sources/book/tide.py").out == TIDE
    again = shore.run("export", "--view", "/sources/book", "../out").text
    assert f"0 written, 0 removed, {first['written']} unchanged" in again
    assert shore.run("export", "--view", "/scopes", "../out").code == 4
    assert shore.run("export", "--view", "/", "--scope", "project:tides", "../x").code == 2
    assert shore.run("export", "--as-of", "2026-01-01", "../x").code == 2


def test_a_source_does_not_take_in_what_is_exported_of_it(shore: Terminal) -> None:
    for folder in ("../book", "../book/sub/out"):
        refused = shore.run("export", "--view", "/sources/book", folder)
        assert (refused.code, refused.text) == (2, "")
        assert "take the export in" in refused.message
    assert not (shore.folder.parent / "book/sub").exists()
    assert shore.run("export", "--view", "/sources/book", "../bookend").code == 0


def test_a_mount_says_what_is_missing(shore: Terminal) -> None:
    assert shore.run("mount", "../nowhere").code in (3, 7)  # 7: no FUSE here
