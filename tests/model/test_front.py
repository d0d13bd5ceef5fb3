"""What a text says about itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.front import About, read_front


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("# Title\n\ntext", About("Title")),
        ("\n\n  plain first line\nmore", About("plain first line")),
        ("---\ntitle: A title\ntags: [x, y]\n---\n# Other\n", About("A title", ("x", "y"))),
        ("---\ntitle: 'quoted'\ntags:\n  - x\n  - '#y'\n---\n", About("quoted", ("x", "y"))),
        ("---\r\nTitle: windows\r\n---\r\n", About("windows")),
        ("---\ntags: a, b, a\n...\n## Head", About("Head", ("a", "b"))),
        ("---\nno end: of it\n", About("no end: of it")),
        ("\ufeff# marked\n", About("marked")),
        ("- [ ] task\n", About("[ ] task")),
        ("!!!\n***\n", About(None)),
        ("", About(None)),
        ("---\ntitle:\n---\nfirst", About("first")),
        ("# ti\x1b[31mtle\u202e\n", About("ti[31mtle")),
    ],
)
def test_title_and_tags_are_read(text: str, about: About) -> None:
    assert read_front(text.encode()) == about


def test_front_matter_that_only_looks_so_is_text() -> None:
    assert read_front(b"text\n---\ntitle: x\n---\n") == About("text")
    assert read_front(b"----\ntitle: x\n----\n").title == "title: x"


@given(st.binary(max_size=200))
def test_any_bytes_give_a_title_that_can_be_shown(raw: bytes) -> None:
    about = read_front(raw)
    for text in (about.title or "x", *about.tags):
        assert text.isprintable()
        assert 0 < len(text) <= 120
