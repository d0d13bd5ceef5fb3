"""Names in the view: any text becomes one, none leaves its directory, none collapse."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.instants import Instant
from pcpfs.view.nodes import Directory, File, folded, plain_name, safe_name

any_text = st.binary(max_size=30).map(os.fsdecode) | st.text(
    st.characters(exclude_categories=("Cs",)), max_size=20
)


@given(any_text)
def test_every_text_comes_back_from_its_name(text: str) -> None:
    assert plain_name(safe_name(text)) == text


@given(any_text, any_text)
def test_no_two_texts_share_a_name(one: str, other: str) -> None:
    assert (safe_name(one) == safe_name(other)) == (one == other)


@given(any_text)
def test_a_name_is_one_part_of_a_path(text: str) -> None:
    name = safe_name(text)
    assert name not in ("", ".", "..")
    assert "/" not in name
    assert not any(ord(char) < 32 or ord(char) == 127 for char in name)


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
        ("back\\slash", "back\\slash"),
    ],
)
def test_names_are_spelled_so(text: str, name: str) -> None:
    assert safe_name(text) == name


def test_paths_fold_into_sorted_directories() -> None:
    file = File(0, Instant(0), bytes)
    tree = folded({"b/y": file, "a": file, "b/x": file, "b/c/z": file})
    assert list(tree) == ["a", "b"]
    inner = tree["b"]
    assert isinstance(inner, Directory)
    assert list(inner.entries()) == ["c", "x", "y"]
    assert inner.child("x") is file
    assert inner.child("nothing") is None


def test_a_directory_may_know_more_names_than_it_lists() -> None:
    file = File(0, Instant(0), bytes)
    hidden = Directory(dict, {"x": file}.get)
    assert list(hidden.entries()) == []
    assert hidden.child("x") is file
