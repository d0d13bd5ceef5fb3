"""Nothing that content says can drive a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.cli.text import columns, interval, plural, readable, short, size, width
from pcpfs.model.instants import Instant
from pcpfs.model.shown import safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Tréguier 潮汐", "Tréguier 潮汐"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\x0alines"),
        ("c1 \x9b31m", "c1 \\x9b31m"),
        ("txt.\u202eexe", "txt.\\u202eexe"),
        ("line\u2028sep", "line\\u2028sep"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\\xe9"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_would_drive_a_terminal_is_shown_escaped(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_safe_text_holds_no_control_character_and_can_be_encoded(text: str) -> None:
    shown = safe(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs")]
    shown.encode("utf-8")


def test_a_payload_keeps_its_lines_but_loses_its_escapes() -> None:
    assert readable(b"a\tb\r\nc\x07\xff\n") == "a\tb\nc\\x07\\xff\n"


def test_a_payload_with_nul_is_no_text() -> None:
    assert readable(b"GIF\0") is None


def test_columns_align_by_what_the_terminal_shows() -> None:
    assert list(columns([("潮", "x"), ("ab c", "y")])) == ["潮    x", "ab c  y"]


def test_width_counts_wide_and_combining_characters() -> None:
    assert (width("潮"), width("e\u0301"), width("e")) == (2, 1, 1)


def test_ids_are_shortened_by_kind_and_other_text_is_not() -> None:
    assert short("rev_" + "ab" * 32) == "rev_" + "ab" * 6
    assert short("fr_4h6j7k8m9na01k0w3v5c8e2f9g") == "fr_4h6j7k8m9n"
    assert short("glossary.md") == "glossary.md"


def test_counts_and_sizes_read_as_people_say_them() -> None:
    assert [plural(n, "file") for n in (0, 1, 2, 12_345)] == [
        "no files",
        "1 file",
        "2 files",
        "12,345 files",
    ]
    assert [size(n) for n in (0, 1, 2048, 3 << 20)] == ["no bytes", "1 byte", "2.0 KiB", "3.0 MiB"]


def test_what_holds_over_no_time_says_so() -> None:
    at, later = Instant.read("2024-01-01"), Instant.read("2024-02-01")
    assert interval(at, later) == "2024-01-01T00:00:00Z … 2024-02-01T00:00:00Z"
    assert interval(None, None) == "ever … now"
    assert interval(at, at) == "at no time (2024-01-01T00:00:00Z)"
