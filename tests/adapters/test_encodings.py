"""Bytes of any encoding: names are read right, ranges lead back to the very bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pcpfs_adapters.installed import builtin
from pcpfs_adapters.source_text import read

from pcpfs.model.frames import Extraction

PROGRAM = "s = 'größe 𝄞'\ndef größe(x):\n    '''Höhe.'''\n    return x\n\ndef last(): pass\n"


def extracted(source: bytes) -> Extraction:
    return builtin().for_source("a.py", b"").extract(source)


def texts(source: bytes, codec: str) -> list[str]:
    return [source[slice(*s.bytes)].decode(codec) for s in extracted(source).symbols[1:]]


WANTED = ["def größe(x):\n    '''Höhe.'''\n    return x", "def last(): pass"]


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff", "utf-32-be"),
        (b"", "utf-8"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
    ],
)
def test_unicode_encodings_are_read_with_and_without_a_mark(mark: bytes, codec: str) -> None:
    source = mark + PROGRAM.encode(codec)
    assert texts(source, codec) == WANTED
    seen = extracted(source)
    assert [s.name for s in seen.symbols] == ["s", "größe", "last"]
    assert [s.lines for s in seen.symbols] == [(1, 1), (2, 4), (6, 6)]
    assert seen.symbols[1].doc == "Höhe."
    assert seen.encoding.startswith(codec)
    assert seen.line_count == 6
    assert seen.notes == ()


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "shift_jis", "gb18030", "koi8-r", "euc-kr"])
def test_a_coding_line_is_followed(codec: str) -> None:
    word = {"shift_jis": "表示ソ", "gb18030": "数据库𝄞", "koi8-r": "высота", "euc-kr": "높이"}
    name = word.get(codec, "größe")
    program = f"# -*- coding: {codec} -*-\ndef f():\n    '''{name} \\\\.'''\n\ndef last(): pass\n"
    source = program.encode(codec)
    first, last = extracted(source).symbols
    assert first.doc == f"{name} \\\\."
    assert source[slice(*last.bytes)] == b"def last(): pass"
    assert source[slice(*first.bytes)].decode(codec) in program


def test_a_codec_that_is_no_character_set_is_not_followed() -> None:
    for codec in ("rot13", "hex", "unicode_escape", "utf-7", "no-such-thing", "idna", "punycode"):
        seen = extracted(f"# coding: {codec}\ndef f(): pass # é\n".encode("latin-1"))
        assert [s.name for s in seen.symbols] == ["f"]
        assert seen.notes == ("not UTF-8: read as Latin-1",)


def test_what_is_not_utf_8_is_named() -> None:
    seen = extracted("def größe(): pass\n".encode("latin-1"))
    assert (seen.symbols[0].name, seen.encoding) == ("größe", "latin-1")
    assert seen.notes == ("not UTF-8: read as Latin-1",)
    source = "def größe(): 'äöü'\n".encode() + b"def f(): '\xff'\n"
    damaged = extracted(source)
    assert [s.name for s in damaged.symbols] == ["größe", "f"]
    assert damaged.notes == ("1 bytes are not UTF-8",)
    assert source[slice(*damaged.symbols[1].bytes)] == b"def f(): '\xff'"


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_utf_16_source_may_end_within_a_character(cut: int) -> None:
    source = b"\xff\xfe" + "def f(): pass\n𝄞𝄞".encode("utf-16-le")[:-cut]
    seen = extracted(source)
    assert [s.name for s in seen.symbols] == ["f"]
    assert bool(seen.notes) == (cut % 4 != 0)


def test_nul_bytes_and_lone_carriage_returns_are_named_and_hide_nothing() -> None:
    seen = extracted(b"def a(): pass\0\n\0def b(): pass\n")
    assert [s.name for s in seen.symbols] == ["a", "b"]
    assert seen.notes == ("NUL bytes read as spaces",)
    classic = extracted(b"# why\rdef a(): pass\rdef b(): pass\r")
    assert [(s.name, s.lines) for s in classic.symbols] == [("a", (1, 1)), ("b", (1, 1))]
    assert classic.notes == ("lone carriage returns read as line ends",)


def test_lines_are_counted_by_their_ends() -> None:
    counts = [extracted(source).line_count for source in (b"", b"\n", b"a", b"a\nb", b"a\r\nb\r\n")]
    assert counts == [0, 1, 1, 2, 2]


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    text=st.text(max_size=900),
    codec=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"]),
)
def test_every_offset_leads_back_to_its_character(text: str, codec: str) -> None:
    mark = "\ufeff".encode(codec)
    source = read(mark + text.encode(codec))
    head = len(source.utf8) - len(text.encode("utf-8"))
    for index in range(0, len(text) + 1, 7):
        offset = head + len(text[:index].encode("utf-8"))
        assert source.origin(offset) == len(mark + text[:index].encode(codec))


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(raw=st.binary(max_size=900))
def test_any_bytes_are_read_and_their_end_is_their_end(raw: bytes) -> None:
    source = read(raw)
    assert len(source.parsed) == len(source.utf8)
    end = source.origin(len(source.utf8))
    assert end == len(raw) or "ends within a character" in source.notes
