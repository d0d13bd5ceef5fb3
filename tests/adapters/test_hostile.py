"""Sources made to hurt: bounded in time and memory, and what was left out is named."""

from __future__ import annotations

import pytest
from pcpfs_adapters.definitions import MAX_DEPTH
from pcpfs_adapters.installed import builtin
from pcpfs_adapters.language import MAX_BYTES, Language
from pcpfs_adapters.tree_sitter_engine import TreeSitterAdapter

ADAPTERS = {a.name: a for a in builtin().all() if isinstance(a, TreeSitterAdapter)}
PYTHON: Language = ADAPTERS["python"].language


def test_a_line_of_two_megabytes_is_parsed() -> None:
    source = b"s='" + b"x" * 2_000_000 + b"';f=lambda:0\ndef f():pass\n"
    seen = ADAPTERS["python"].extract(source)
    assert [s.name for s in seen.symbols] == ["s", "f", "f"]
    assert len(seen.symbols[0].signature) == 200
    assert seen.notes == ()


def test_a_source_that_is_too_large_says_so() -> None:
    seen = ADAPTERS["python"].extract(b"x = 1\n" * (MAX_BYTES // 6 + 1))
    assert (seen.symbols, seen.notes) == ((), ("too large to parse",))
    assert seen.line_count == MAX_BYTES // 6 + 1


@pytest.mark.parametrize("size", [32_767, 32_768, 32_769, 65_536])
@pytest.mark.parametrize("name", ADAPTERS)
def test_sizes_around_a_power_of_two_are_parsed_to_the_end(name: str, size: int) -> None:
    adapter = ADAPTERS[name]
    example = adapter.language.example.encode()
    source = b"\n" * (size - len(example)) + example
    if name == "php":
        source = example + b"\n" * (size - len(example))
    assert len(source) == size
    seen = adapter.extract(source)
    assert [s.qualified_name for s in seen.symbols] == [
        s.qualified_name for s in adapter.extract(example).symbols
    ]


def test_a_parse_that_takes_too_long_is_given_up_and_the_next_one_is_clean() -> None:
    adapter = TreeSitterAdapter(PYTHON, seconds=0.0)
    slow = adapter.extract(b"def f(): pass\n" * 20_000)
    assert (slow.symbols, slow.error_count) == ((), 1)
    assert slow.notes == ("took too much to parse",)
    assert [s.name for s in adapter.extract(b"def g(): pass\n").symbols] == ["g"]


def test_definitions_nested_too_deeply_are_counted() -> None:
    seen = ADAPTERS["javascript"].extract(b"function f(){" * 10_000 + b"}" * 10_000)
    assert len(seen.symbols) == MAX_DEPTH
    assert seen.symbols[-1].qualified_name.count(".") == MAX_DEPTH - 1
    assert seen.notes == (
        f"{10_000 - MAX_DEPTH} definitions nested deeper than {MAX_DEPTH} left out",
    )


NESTED = {
    "css": ("a {", "}"),
    "elixir": ("defmodule A do\n", "end\n"),
    "html": ("<div id=a>", "</div>"),
    "lua": ("function a()\n", "end\n"),
    "scala": ("object A {", "}"),
    "swift": ("class A {", "}"),
}


@pytest.mark.parametrize("name", NESTED)
def test_definitions_nested_too_deeply_are_counted_in_newer_languages(name: str) -> None:
    opening, closing = NESTED[name]
    seen = ADAPTERS[name].extract((opening * 1000 + closing * 1000).encode())
    assert len(seen.symbols) == MAX_DEPTH
    (limit,) = seen.limits
    assert limit == f"{1000 - MAX_DEPTH} definitions nested deeper than {MAX_DEPTH} left out"


@pytest.mark.parametrize(
    ("name", "opening", "middle", "closing"),
    [
        ("json", '{"a":', "1", "}"),
        ("kotlin", "class A {", "", "}"),
        ("make", "ifdef A\n", "", "endif\n"),
        ("sql", "SELECT (", "1", ")"),
        ("toml", "a = [", "", "]"),
        ("yaml", "[", "", "]"),
        ("dockerfile", "RUN (", "", ")"),
    ],
)
def test_what_nests_without_definitions_ends(
    name: str, opening: str, middle: str, closing: str
) -> None:
    source = (opening * 10_000 + middle + closing * 10_000).encode()
    assert len(ADAPTERS[name].extract(source).symbols) <= MAX_DEPTH


def test_ten_thousand_closed_parentheses_hide_nothing() -> None:
    source = b"x = " + b"(" * 10_000 + b")" * 10_000 + b"\ndef f(): pass\n"
    assert "f" in [s.name for s in ADAPTERS["python"].extract(source).symbols]


def test_ten_thousand_comments_and_constants_take_time_in_proportion() -> None:
    group = b"const (\n" + b"\t// c\n\tA = 1\n" * 10_000 + b")\n"
    assert len(ADAPTERS["go"].extract(group).symbols) == 10_000
    comments = b"// c\n" * 20_000 + b"func f() {}\n"
    assert ADAPTERS["go"].extract(comments).symbols[0].doc == "c"


@pytest.mark.parametrize("name", ["swift", "kotlin"])
def test_comments_nested_too_deeply_are_not_parsed(name: str) -> None:
    """The grammar takes the cube of their depth."""
    extraction = ADAPTERS[name].extract(b"/*" * 10_000 + b"*/" * 10_000)
    assert extraction.notes == ("too damaged to search",)
    many = ADAPTERS[name].extract(b"/* a */\n" * 1000 + b"class A {}\n")
    assert [symbol.name for symbol in many.symbols] == ["A"]
