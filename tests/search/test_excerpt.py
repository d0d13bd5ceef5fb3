"""Where words stand in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.search.excerpt import (
    LONGEST_EXCERPT,
    Excerpt,
    _readings,
    _Text,
    contains_phrase,
    excerpt,
    locate,
    phrase_filter,
    span_of,
)
from pcpfs.search.query import parse
from pcpfs.search.spelling import nearness

TEXT = """import os

class HTTPServerError(Exception):
    \"\"\"Saving sessions failed.\"\"\"

    def get_user_by_id(self, userId):
        return self.user_id   # C++ style a->b

    def other(self): superuser = 1
数据库 向量数据库
"""


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("user_id", [(7, "user_id")]),
        ("getUserById", [(6, "get_user_by_id")]),
        ("user", [(6, "user"), (6, "user"), (7, "user")]),
        ("error", [(3, "Error")]),
        ("HTTP server", [(3, "HTTP"), (3, "Server")]),
        ("saved", [(4, "Saving")]),
        ("session", [(4, "sessions")]),
        ("C++", [(7, "C++")]),
        ("->", [(7, "->")]),
        ("数据", [(10, "数据"), (10, "数据")]),
        ("self.user_id", [(7, "self.user_id")]),
        ("get*", [(6, "get_user_by_id")]),
        ("sesions~", [(4, "sessions")]),
        ("os.path", [(1, "os")]),
        ("nowhere", []),
        ("", []),
    ],
)
def test_words_are_located(query: str, found: list[tuple[int, str]]) -> None:
    places = locate(TEXT, parse(query))
    assert [(place.line, TEXT[place.start : place.end]) for place in places] == found


def test_bytes_are_located_as_text() -> None:
    raw = b"one\r\ncaf\xc3\xa9 \xff two\n"
    assert [place.line for place in locate(raw, parse("café two"))] == [2, 2]


def test_the_excerpt_shows_most_of_the_words() -> None:
    assert excerpt(TEXT, parse("saving server")) == Excerpt(
        (3, 4), 'class HTTPServerError(Exception):\n    """Saving sessions failed."""'
    )


def test_the_excerpt_keeps_within_the_lines() -> None:
    assert excerpt(TEXT, parse("user"), within=(7, 9)) == Excerpt(
        (7, 7), "return self.user_id   # C++ style a->b"
    )


def test_without_a_place_the_excerpt_is_the_first_line_with_text() -> None:
    assert excerpt("\n\n  first\nsecond", parse("nowhere")) == Excerpt((3, 3), "first")
    assert excerpt(TEXT, parse("nowhere"), within=(8, 9)) == Excerpt(
        (9, 9), "def other(self): superuser = 1"
    )
    assert excerpt(" \n \n", parse("nowhere")) is None


def test_a_long_line_is_cut_around_the_word() -> None:
    found = excerpt("x " * 500 + "needle " + "y " * 500, parse("needle"))
    assert found is not None
    assert "needle" in found.text
    assert len(found.text) <= LONGEST_EXCERPT


@given(st.text(), st.text(max_size=30))
def test_no_text_and_no_query_is_too_odd(text: str, query: str) -> None:
    found = excerpt(text, parse(query))
    assert found is None or 1 <= found.lines[0] <= found.lines[1] <= text.count("\n") + 1
    assert found is None or len(found.text) <= LONGEST_EXCERPT


def test_the_shortest_span_with_most_words_is_chosen() -> None:
    places = locate(TEXT, parse("user id"))
    assert span_of(places, [(3, 9), (6, 7), (9, 9)]) == 1
    assert span_of(places, [(1, 2), (9, 9)]) is None


@pytest.mark.parametrize(
    ("phrase", "there"),
    [
        ("saving  sessions", True),
        ("SAVING SESSIONS failed.", True),
        ("aving sess", False),
        ("sessions saving", False),
        ("数据", True),
        ("return self.user_id", True),
        ("(exception):", True),
        ("", False),
    ],
)
def test_phrases_are_whole_words_in_order(phrase: str, there: bool) -> None:
    assert contains_phrase(TEXT, phrase) is there


def test_a_phrase_goes_over_lines() -> None:
    assert contains_phrase(b"one\n   two", "one two")


def test_the_phrase_filter_reads_the_texts_of_a_key() -> None:
    texts: dict[str, list[bytes | str]] = {
        "a": ["one two", b"three four"],
        "b": ["one", "two three four"],
    }
    allowed = phrase_filter(parse('"one two" "three four"'), lambda key: texts[key])
    assert allowed is not None
    assert [allowed("a"), allowed("b")] == [True, False]
    assert phrase_filter(parse("one two"), lambda key: texts[key]) is None


@pytest.mark.parametrize(
    ("word", "term", "share"),
    [
        ("session", "session", 1.0),
        ("sesion", "session", 0.6),
        ("sessoin", "session", 0.6),
        ("sesoin", "session", 0.3),
        ("save", "sve", 0.6),
        ("save", "sv", None),
        ("save", "sale", 0.6),
        ("save", "slvee", None),
    ],
)
def test_fuzzy_terms_are_worth_less_the_farther_they_are(
    word: str, term: str, share: float | None
) -> None:
    assert list(nearness(word, [term])) == ([] if share is None else [(share, term)])


@given(st.text("aAbBzZ01_- \n.", max_size=60), st.text("aAbBzZ01_-", min_size=1, max_size=6))
def test_plain_text_is_searched_faster_with_the_same_result(text: str, word: str) -> None:
    for clause in parse(word).clauses:
        for reading in _readings(clause):
            assert _Text.of(text).spans(reading) == _Text(text, None).spans(reading)
