"""Names in the view: any text becomes one, readable everywhere, and none of two texts."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.names import is_device
from pcpfs.view.names import MOST_BYTES, beginning, plain_name, safe_name

any_text = st.binary(max_size=30).map(os.fsdecode) | st.text(
    st.characters(exclude_categories=("Cs",)), max_size=20
)
long_text = st.builds(
    lambda piece, times, rest: piece * times + rest,
    st.sampled_from(["a", "é", "数", "%", "\n", "a\N{LINE SEPARATOR}", os.fsdecode(b"\xff")]),
    st.integers(60, 300),
    any_text,
)


@given(any_text)
def test_every_text_comes_back_from_its_name(text: str) -> None:
    assert plain_name(safe_name(text)) == text
    assert beginning(safe_name(text)) is None


@given(any_text | long_text, any_text | long_text)
def test_no_two_texts_share_a_name(one: str, other: str) -> None:
    assert (safe_name(one) == safe_name(other)) == (one == other)


@given(any_text | long_text)
def test_a_name_is_one_part_of_a_path_on_every_system(text: str) -> None:
    name = safe_name(text)
    assert name not in ("", ".", "..")
    assert not any(
        ord(char) < 32 or 127 <= ord(char) < 160 or char in '/\\<>:"|?*' for char in name
    )
    assert name[-1] not in ". "
    assert not is_device(name)
    assert len(name.encode("utf-8", "strict")) <= MOST_BYTES


@given(long_text)
def test_a_name_that_was_cut_says_how_its_text_begins(text: str) -> None:
    name = safe_name(text)
    start = beginning(name)
    if start is None:
        assert plain_name(name) == text
    else:
        assert plain_name(name) is None
        assert text.startswith(start)
        assert len(start) > 15


@given(st.text(max_size=12))
def test_a_name_that_no_text_has_is_read_as_none(name: str) -> None:
    text = plain_name(name)
    assert text is None or safe_name(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("plain.py", "plain.py"),
        ("é 数据库", "é 数据库"),
        ("a/b", "a%2fb"),
        ("..", "%2e%2e"),
        (".", "%2e"),
        ("", "%"),
        ("100%", "100%25"),
        ("a\n\0\x1b\x7f", "a%0a%00%1b%7f"),
        ("back\\slash", "back%5cslash"),
        ('say "hi"?', "say %22hi%22%3f"),
        ("line\u2028end\u202e\x9b", "line%e2%80%a8end%e2%80%ae%c2%9b"),
        (os.fsdecode(b"caf\xe9"), "caf%e9"),
        ("CON", "%43ON"),
        ("aux.tar.gz", "%61ux.tar.gz"),
        ("console.py", "console.py"),
        (" lead", "%20lead"),
        ("trail ", "trail%20"),
        ("etc.", "etc%2e"),
        ("it's.md", "it's.md"),
    ],
)
def test_names_are_spelled_so(text: str, name: str) -> None:
    assert safe_name(text) == name


@pytest.mark.parametrize("name", ["%2E", "a%2fb%", "%zz", "a%", "con", "a.", "caf%C3%A9", "%41"])
def test_another_spelling_of_a_name_is_no_name(name: str) -> None:
    assert plain_name(name) is None


def test_what_is_cut_keeps_its_ending() -> None:
    name = safe_name("word " * 100 + "end.md")
    assert name.endswith(".md")
    assert name.startswith("word word")
    assert len(name.encode()) == MOST_BYTES
