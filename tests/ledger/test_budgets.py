"""Budgets are exact, whatever the text, the unit and the ranking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcpfs.errors import UsageError
from pcpfs.ledger import ContextEntry, MemoryLedger, Settings
from pcpfs.ledger.corpus import Gathered, LedgerEntry
from pcpfs.ledger.counting import TokenCounter, counter_named
from pcpfs.ledger.fitting import Fitting
from pcpfs.ledger.ranking import Ranked
from pcpfs.ledger.words import Words
from pcpfs.model.context import ShownEntry
from pcpfs.model.instants import Instant

TEXTS = st.one_of(
    st.text(max_size=200),
    st.text(st.sampled_from("ab. !?\n。数据库🙂👩\u200d\u0301🇫🇷"), max_size=300),
    st.sampled_from(["<|endoftext|>" * 9, "a" * 500, ". " * 90, "\n" * 40, "é" * 333, ""]),
)


def words(text: str) -> int:
    """A unit that merges: a longer text may cost less, as with real tokenizers."""
    return len(text.split()) + (len(text) % 3)


UNITS: dict[str, Callable[[str], int]] = {
    "bytes/4": counter_named().count,
    "words": words,
    "characters": len,
}


def fill(texts: list[str], budget: int, unit: str) -> tuple[ShownEntry, ...]:
    corpus = Gathered(Words())
    entries = [ContextEntry("s", text, Instant(n)) for n, text in enumerate(texts)]
    corpus.add([LedgerEntry(f"pg_{n:026}", entry) for n, entry in enumerate(entries)])
    densest = 4 if unit == "bytes/4" else None
    fitting = Fitting(corpus, TokenCounter(unit, UNITS[unit], densest), budget, lambda position: {})
    return fitting.fill(Ranked(1.0, n, is_found=True) for n in range(len(texts)))


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=6), st.integers(0, 120), st.sampled_from(sorted(UNITS)))
def test_no_text_and_no_unit_exceeds_the_budget(texts: list[str], budget: int, unit: str) -> None:
    shown = fill(texts, budget, unit)
    costs = [UNITS[unit](entry.content) for entry in shown]
    assert [entry.tokens for entry in shown] == costs
    assert sum(costs) <= budget


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.integers(1, 100), st.sampled_from(sorted(UNITS)))
def test_a_cut_is_a_beginning_and_names_the_rest(text: str, budget: int, unit: str) -> None:
    for entry in fill([text], budget, unit):
        if entry.remainder is None:
            assert entry.content == text
            continue
        start, end = entry.remainder.bytes
        raw = text.encode()
        assert end == len(raw)
        assert 0 < start < end
        kept = raw[:start].decode()
        assert entry.content.startswith(kept)
        mark = entry.content[len(kept) :]
        assert mark == f" […{end - start} more bytes: {entry.page_id}#bytes={start}-{end}]"


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(0, 60))
def test_what_fits_in_whole_is_never_left_out_for_nothing(texts: list[str], budget: int) -> None:
    """If nothing is shown, nothing fits."""
    if not fill(texts, budget, "bytes/4"):
        least = min(counter_named().count(text) for text in texts)
        assert least > budget or budget == 0


def test_a_cut_parts_no_emoji_and_no_accent() -> None:
    family = "👩\u200d👩\u200d👧"
    (entry,) = fill([(family + "e\u0301" + "🇫🇷") * 40], 60, "bytes/4")
    kept = entry.content.split(" […")[0]
    rest = (family + "e\u0301" + "🇫🇷") * 40
    following = rest[len(kept) :]
    assert not following.startswith(("\u200d", "\u0301", "\u200d👩"))
    assert not kept.endswith("\u200d")
    flags = [c for c in kept if "\U0001f1e6" <= c <= "\U0001f1ff"]
    assert len(flags) % 2 == 0


def test_a_cut_ends_with_a_word_where_no_sentence_does() -> None:
    (entry,) = fill(["word " * 300], 60, "bytes/4")
    assert entry.content.split(" […")[0].endswith("word")


def test_cjk_sentences_end_without_spaces() -> None:
    (entry,) = fill(["潮水上涨。" * 60], 60, "bytes/4")
    assert entry.content.split(" […")[0].endswith("。")


def test_smaller_entries_go_where_a_longer_one_does_not() -> None:
    shown = fill(["x" * 4, "y" * 400, "z" * 4, "w" * 4], 3, "bytes/4")
    assert [entry.content for entry in shown] == ["xxxx", "zzzz", "wwww"]


def test_a_unit_that_is_not_known_or_not_installed_is_told() -> None:
    with pytest.raises(UsageError, match="no counter"):
        MemoryLedger("t", settings=Settings(counter="pages"))
    if find_spec("bpe_openai") is None:
        with pytest.raises(UsageError, match=r"pcpfs\[tokens\]"):
            counter_named("o200k")
    else:
        assert counter_named("o200k").count("<|endoftext|>") > 1


def test_a_call_may_choose_its_unit() -> None:
    ledger = MemoryLedger("t")
    asyncio.run(ledger.ingest(ContextEntry("s", "x" * 8, "2026-01-01T00:00:00Z")))  # type: ignore[arg-type]
    view = asyncio.run(ledger.project("x", 2, counter="bytes/4"))
    assert (view.counter, view.token_count) == ("bytes/4", 2)
