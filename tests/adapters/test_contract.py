"""Each adapter of the package under the public contract, and the contract under wrong adapters."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import pytest
from pcpfs_adapters.installed import builtin
from pcpfs_adapters.markdown import Markdown
from pcpfs_adapters.plain_text import PlainText
from pcpfs_adapters.tree_sitter_engine import TreeSitterAdapter
from pcpfs_conformance.adapters import AdapterContract, broken_rules

from pcpfs.model.frames import Extraction, Symbol
from pcpfs.model.ids import Digest
from pcpfs.ports import Adapter

PROSE = "# Tides\n\nHöchst and low.\n\n## Höhe\n\ntext\n\nLow\n---\n\n```\n# no\n```\n".encode()


ADAPTERS = {adapter.name: adapter for adapter in builtin().all()}


@pytest.mark.parametrize("name", ADAPTERS)
class TestBuiltinAdapter(AdapterContract):
    @pytest.fixture
    def adapter(self, name: str) -> Adapter:
        return ADAPTERS[name]

    @pytest.fixture
    def sources(self, adapter: Adapter) -> Sequence[bytes]:
        if isinstance(adapter, TreeSitterAdapter):
            return (adapter.language.example.encode(),)
        return (PROSE,)


class Honest:
    """Sees `def name` lines; right, and small enough to go wrong in one place at a time."""

    name = "honest"
    version = Markdown().version
    media_type = "text/plain"
    suffixes: tuple[str, ...] = (".def",)
    filenames: tuple[str, ...] = ()

    def extract(self, source: bytes) -> Extraction:
        text = Markdown().extract(source)
        return dataclasses.replace(text, adapter=self.name, symbols=self.seen(source, text.symbols))

    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return symbols


class EndsOneByteLate(Honest):
    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(_moved(source, s, s.bytes[0], s.bytes[1] + 1) for s in symbols)


class CountsCharacters(Honest):
    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(
            dataclasses.replace(s, bytes=(_characters(source, s.bytes[0]), s.bytes[1]))
            for s in symbols
        )


class TakesDigestOfText(Honest):
    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(
            dataclasses.replace(
                s, digest=Digest.of(source[slice(*s.bytes)].replace(b"\r\n", b"\n"))
            )
            for s in symbols
        )


class ListsBackwards(Honest):
    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(reversed(symbols))


class SplitsLinesOnCarriageReturns(Honest):
    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(dataclasses.replace(s, lines=_any_lines(source, s)) for s in symbols)


class Remembers(Honest):
    def __init__(self) -> None:
        self.calls = 0

    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        self.calls += 1
        return tuple(dataclasses.replace(s, doc=f"seen {self.calls} times") for s in symbols)


class RaisesOnBadText(Honest):
    def extract(self, source: bytes) -> Extraction:
        source.decode("utf-8")
        return super().extract(source)


class KeepsHalfCharacters(Honest):
    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        text = source.decode("utf-8", "surrogateescape")
        return tuple(dataclasses.replace(s, doc=text[:40].replace("\n", " ")) for s in symbols)


class CannotBeSent(Honest):
    def __init__(self) -> None:
        self.hook = lambda: None


class IgnoresMarks(Honest):
    def extract(self, source: bytes) -> Extraction:
        found = re.match(rb"# (\w+)", source)
        extraction = PlainText().extract(source)
        if found is None:
            return dataclasses.replace(extraction, adapter=self.name)
        name = found[1].decode()
        symbol = Symbol(
            "heading", name, name, name, "", (1, 1), found.span(), Digest.of(found.group())
        )
        return dataclasses.replace(extraction, adapter=self.name, symbols=(symbol,))


class OverlapsItsNeighbour(Honest):
    def seen(self, source: bytes, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        if len(symbols) < 3:
            return symbols
        inner = _moved(source, symbols[1], symbols[1].bytes[0], symbols[2].bytes[0] + 1)
        return (symbols[0], inner, *symbols[2:])


MUTANTS = {
    EndsOneByteLate: "the_symbols_of_the_examples_are_sound",
    CountsCharacters: "the_symbols_of_the_examples_are_sound",
    TakesDigestOfText: "crlf_changes_no_symbol",
    ListsBackwards: "the_symbols_of_the_examples_are_sound",
    SplitsLinesOnCarriageReturns: "lone_carriage_returns_and_nul_bytes_are_handled_or_named",
    Remembers: "the_same_bytes_give_the_same_extraction",
    RaisesOnBadText: "any_bytes_are_sound",
    KeepsHalfCharacters: "damaged_examples_are_sound",
    CannotBeSent: "a_worker_process_sees_the_same",
    IgnoresMarks: "a_byte_order_mark_only_moves_the_symbols",
    OverlapsItsNeighbour: "the_symbols_of_the_examples_are_sound",
}


def test_a_right_adapter_breaks_no_rule() -> None:
    assert broken_rules(Honest(), (PROSE,)) == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_the_contract_catches_a_wrong_adapter(mutant: type[Honest]) -> None:
    rule = MUTANTS[mutant]
    assert broken_rules(mutant(), (PROSE,), [rule]) == (rule,)


def _moved(source: bytes, symbol: Symbol, start: int, end: int) -> Symbol:
    return dataclasses.replace(symbol, bytes=(start, end), digest=Digest.of(source[start:end]))


def _characters(source: bytes, offset: int) -> int:
    return len(source[:offset].decode("utf-8", "replace"))


def _any_lines(source: bytes, symbol: Symbol) -> tuple[int, int]:
    before, inside = source[: symbol.bytes[0]], source[slice(*symbol.bytes)]
    first = len(re.findall(rb"\r\n|\r|\n", before)) + 1
    return first, first + len(re.findall(rb"\r\n|\r|\n", inside))
