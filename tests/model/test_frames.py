"""Frames: ids that survive edits, and the file that holds what an adapter saw."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.errors import Corrupt
from pcpfs.model.frames import Extraction, Symbol, file_frame, frame_ids, parameters
from pcpfs.model.ids import Digest, FrameId, PageId
from tests.model.strategies import extractions, symbols

PAGE = PageId("pg_" + "0" * 25 + "1")
OTHER = PageId("pg_" + "0" * 25 + "2")


def symbol(qualified: str, kind: str = "function", signature: str = "", text: str = "") -> Symbol:
    name = qualified.rpartition(".")[2]
    digest = Digest.of(text.encode())
    return Symbol(kind, name, qualified, signature, "", (1, 1), (0, len(text)), digest)


def ids(*seen: Symbol, page: PageId = PAGE) -> list[FrameId]:
    return [frame.frame_id for frame in frame_ids(page, seen)]


def test_the_golden_bytes_of_a_frames_file() -> None:
    seen = Extraction("python", 1, "python", (symbol("f", signature="def f()", text="x"),), 0)
    assert (
        seen.encode()
        == (
            '{\n"adapter":"python",\n"encoding":"utf-8",\n"error_count":0,\n"language":"python",\n'
            '"line_count":0,\n"notes":[],\n"symbols":[{"bytes":[0,1],'
            f'"digest":"{Digest.of(b"x")}","kind":"function","lines":[1,1],"name":"f",'
            '"qualified_name":"f","signature":"def f()"}],\n"version":1\n}\n'
        ).encode()
    )
    assert seen.adapter_tag == "python-1"


@given(extractions)
def test_every_frames_file_comes_back_from_its_bytes(seen: Extraction) -> None:
    raw = seen.encode()
    assert Extraction.decode(raw, "x") == seen
    assert Extraction.decode(raw, "x").encode() == raw


@pytest.mark.parametrize(
    "raw", [b"{}", b"[]", b'{"adapter":1}', b'{"symbols":[{}],"adapter":"p","version":1}']
)
def test_what_is_no_frames_file_is_corrupt_and_named(raw: bytes) -> None:
    with pytest.raises(Corrupt, match=r"frames/x\.json"):
        Extraction.decode(raw, "frames/x.json")


def test_an_id_survives_edits_of_text_signature_and_place() -> None:
    before = symbol("A.f", signature="def f(a)", text="old")
    after = replace(before, signature="def f(a, b)", lines=(9, 20), digest=Digest.of(b"new"))
    assert ids(before) == ids(after)


def test_page_name_and_kind_tell_ids_apart() -> None:
    f = symbol("f")
    assert len({*ids(f), *ids(f, page=OTHER), *ids(symbol("F")), *ids(symbol("f", "class"))}) == 4
    assert len({*ids(symbol("é")), *ids(symbol("e\u0301")), *ids(symbol("e"))}) == 3
    assert ids(symbol("a.b")) != ids(symbol("a"), symbol("b"))[:1]


def test_overloads_are_told_apart_by_their_parameters_whatever_their_order() -> None:
    one, two = symbol("f", signature="f(int a)"), symbol("f", signature="f(String a)")
    forward, backward = ids(one, two), ids(two, one)
    assert len(set(forward)) == 2
    assert forward == backward[::-1]


def test_white_space_and_result_do_not_count_among_parameters() -> None:
    one, two = symbol("f", signature="int f(int a)"), symbol("f", signature="f(b)")
    moved = replace(one, signature="long f( int\n   a )")
    assert ids(one, two)[1] == ids(moved, two)[1]
    assert parameters("long f(a,\n  b) -> c") == parameters("f(a, b)") == "(a, b)"


def test_a_property_pair_has_two_ids_that_a_third_does_not_change() -> None:
    getter, setter = symbol("A.x", signature="def x(self)"), symbol("A.x", signature="x(self, v)")
    deleter = symbol("A.x", signature="def x(self) -> None")
    assert len(set(ids(getter, setter))) == 2
    assert ids(getter, setter) == ids(getter, setter, deleter)[:2]


def test_equal_definitions_are_told_apart_by_their_order() -> None:
    twins = [symbol("f", signature="def f()", text=str(n)) for n in range(3)]
    assert len(set(ids(*twins))) == 3


def test_unequal_neighbours_never_change_an_id() -> None:
    f = symbol("f", signature="def f()")
    alone = ids(f)
    assert ids(symbol("g"), f, symbol("f", "class"))[1:2] == alone


@given(st.lists(symbols, max_size=6))
def test_every_symbol_gets_an_id_of_its_own(seen: list[Symbol]) -> None:
    frames = frame_ids(PAGE, seen)
    assert [frame.symbol for frame in frames] == seen
    assert len({frame.frame_id for frame in frames}) == len(seen)


@given(st.permutations(["f(a)", "f(b)", "f(c, d)", "f()"]), st.permutations(["g", "h", "A.f"]))
def test_the_order_of_distinct_definitions_does_not_matter(
    overloads: list[str], others: list[str]
) -> None:
    seen = [symbol("f", signature=s) for s in overloads] + [symbol(name) for name in others]
    by_name = {
        (f.symbol.qualified_name, f.symbol.signature): f.frame_id for f in frame_ids(PAGE, seen)
    }
    again = frame_ids(PAGE, sorted(seen, key=lambda s: (s.qualified_name, s.signature)))
    assert by_name == {(f.symbol.qualified_name, f.symbol.signature): f.frame_id for f in again}


@given(st.lists(symbols, max_size=4))
def test_the_file_frame_is_no_symbols_frame(seen: list[Symbol]) -> None:
    whole = file_frame(PAGE, "a.py", Digest.of(b""), 0, 0)
    assert whole.frame_id not in {frame.frame_id for frame in frame_ids(PAGE, seen)}
    assert whole.symbol.lines == (1, 1)


@pytest.mark.parametrize(
    ("signature", "shown"),
    [
        ("def f(a, (b, c)) -> d()", "(a, (b, c))"),
        ("def f(a", "def f(a"),
        ("class  A", "class A"),
        ("", ""),
        ("f)(x)", "(x)"),
    ],
)
def test_parameters_are_the_first_matching_parentheses(signature: str, shown: str) -> None:
    assert parameters(signature) == shown
