"""What every adapter must do, as a pytest class to subclass.

    class TestMyAdapter(AdapterContract):
        @pytest.fixture
        def adapter(self) -> Adapter:
            return MyAdapter()

        @pytest.fixture
        def sources(self) -> Sequence[bytes]:
            return (b"…",)  # UTF-8 with LF line ends, each with symbols if the adapter sees any

`broken_rules` runs the same rules without pytest.
"""

from __future__ import annotations

import inspect
import json
import pickle
import re
from collections.abc import Callable, Iterable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.model.frames import Extraction, Symbol
from pcpfs.model.ids import Digest
from pcpfs.ports import Adapter

_BOM = b"\xef\xbb\xbf"

_PLACE = st.integers(0, 10_000)
_NOISE = st.one_of(
    st.binary(max_size=20),
    st.text("(){}[]<>\"'`#/*\\\r\n\t é", max_size=20).map(str.encode),
)

_thorough = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


class AdapterContract:
    """Rules that hold for any adapter, whatever it sees."""

    @pytest.fixture
    def adapter(self) -> Adapter:
        raise NotImplementedError("a subclass says which adapter is tested")

    @pytest.fixture
    def sources(self) -> Sequence[bytes]:
        raise NotImplementedError("a subclass gives some sources that its adapter understands")

    def test_an_adapter_says_what_it_is(self, adapter: Adapter) -> None:
        assert re.fullmatch(r"[a-z0-9_]+", adapter.name)
        assert adapter.version >= 1
        assert "/" in adapter.media_type
        for suffix in adapter.suffixes:
            assert suffix.startswith(".")
            assert suffix == suffix.lower()

    def test_an_extraction_names_its_adapter(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        for source in (b"", *sources):
            extraction = adapter.extract(source)
            assert extraction.adapter_tag == f"{adapter.name}-{adapter.version}"
            assert extraction.language

    def test_the_same_bytes_give_the_same_extraction(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        first = [adapter.extract(source) for source in sources]
        again = [adapter.extract(source) for source in reversed(sources)]
        assert first == list(reversed(again))

    def test_a_worker_process_sees_the_same(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        copy: Adapter = pickle.loads(pickle.dumps(adapter))
        for source in sources:
            sent = pickle.loads(pickle.dumps(copy.extract(source)))
            assert sent == adapter.extract(source)

    def test_the_symbols_of_the_examples_are_sound(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        for source in sources:
            require_sound(adapter, source)

    def test_crlf_changes_no_symbol(self, adapter: Adapter, sources: Sequence[bytes]) -> None:
        for source in sources:
            windows = source.replace(b"\n", b"\r\n")
            wanted = [(k, q, t.replace(b"\n", b"\r\n")) for k, q, t in _texts(adapter, source)]
            assert _texts(adapter, windows) == wanted
            assert _lines(adapter, windows) == _lines(adapter, source)
            require_sound(adapter, windows)

    def test_a_byte_order_mark_only_moves_the_symbols(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        for source in sources:
            assert _texts(adapter, _BOM + source) == _texts(adapter, source)
            assert _lines(adapter, _BOM + source) == _lines(adapter, source)
            require_sound(adapter, _BOM + source)

    def test_a_marked_utf_16_source_gives_the_same_symbols(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        for source in sources:
            text = source.decode("utf-8")
            for codec, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
                wide = mark + text.encode(codec)
                found = [(k, q, t.decode(codec).encode()) for k, q, t in _texts(adapter, wide)]
                assert found == _texts(adapter, source)
                assert _lines(adapter, wide) == _lines(adapter, source)
                require_sound(adapter, wide, is_wide=True)

    def test_lone_carriage_returns_and_nul_bytes_are_handled_or_named(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        for source in sources:
            for odd in (source.replace(b"\n", b"\r"), source.replace(b"\n", b"\0\n")):
                require_sound(adapter, odd)
                extraction = adapter.extract(odd)
                assert _named(extraction) == _named(adapter.extract(source)) or extraction.notes

    def test_a_source_cut_anywhere_is_sound(
        self, adapter: Adapter, sources: Sequence[bytes]
    ) -> None:
        for source in sources:
            for end in range(0, len(source), max(1, len(source) // 40)):
                require_sound(adapter, source[:end])

    @_thorough
    @given(noise=st.binary(max_size=400))
    def test_any_bytes_are_sound(self, adapter: Adapter, noise: bytes) -> None:
        require_sound(adapter, noise)

    @_thorough
    @given(damage=st.tuples(_PLACE, _PLACE, st.integers(0, 30), _NOISE))
    def test_damaged_examples_are_sound(
        self, adapter: Adapter, sources: Sequence[bytes], damage: tuple[int, int, int, bytes]
    ) -> None:
        choice, place, removed, noise = damage
        source = sources[choice % len(sources)]
        place %= len(source) + 1
        require_sound(adapter, source[:place] + noise + source[place + removed :])

    @pytest.mark.parametrize("opening", [b"(", b"{", b"[", b"<", b"# ", b"`", b"/*"])
    def test_ten_thousand_openings_are_sound(self, adapter: Adapter, opening: bytes) -> None:
        require_sound(adapter, opening * 10_000)


def require_sound(adapter: Adapter, source: bytes, *, is_wide: bool = False) -> None:
    """Assert all that is true of every extraction, whatever the source; it may not raise.

    `is_wide` leaves out what can be said of line numbers only where a line end is one byte.
    """
    extraction = adapter.extract(source)
    starts = [(symbol.bytes[0], -symbol.bytes[1]) for symbol in extraction.symbols]
    assert starts == sorted(starts), "symbols are in document order, outer ones first"
    _require_nesting(extraction.symbols)
    json.dumps([(s.qualified_name, s.signature, s.doc) for s in extraction.symbols]).encode()
    for symbol in extraction.symbols:
        _require_symbol(symbol, source)
        if not is_wide and extraction.encoding.startswith("utf-8"):
            _require_lines(symbol, source)
    if not is_wide and extraction.encoding.startswith("utf-8"):
        ends = source.count(b"\n")
        assert extraction.line_count == ends + (not source.endswith(b"\n") and bool(source))


def rules() -> tuple[str, ...]:
    """The names of all rules, without their `test_`."""
    members = inspect.getmembers(AdapterContract, inspect.isfunction)
    return tuple(name.removeprefix("test_") for name, _ in members if name.startswith("test_"))


def broken_rules(
    adapter: Adapter, sources: Sequence[bytes], tried: Iterable[str] = ()
) -> tuple[str, ...]:
    """Which of these rules, or of all, this adapter breaks."""
    given_to = {"adapter": adapter, "sources": sources, "opening": b"("}
    named = {name: getattr(AdapterContract, f"test_{name}") for name in tuple(tried) or rules()}
    return tuple(name for name, rule in named.items() if not _holds(rule, given_to))


def _holds(rule: Callable[..., None], given_to: dict[str, object]) -> bool:
    wanted = inspect.signature(rule).parameters
    try:
        rule(AdapterContract(), **{k: v for k, v in given_to.items() if k in wanted})
    except Exception:
        return False
    return True


def _require_symbol(symbol: Symbol, source: bytes) -> None:
    start, end = symbol.bytes
    assert 0 <= start < end <= len(source), "a symbol has bytes of the source"
    assert symbol.digest == Digest.of(source[start:end]), "the digest is of exactly these bytes"
    assert symbol.kind, "a symbol has a kind"
    assert symbol.kind != "file", "the kind `file` is the store's own"
    assert symbol.name, "a symbol has a name"
    assert symbol.qualified_name.endswith(symbol.name), "a qualified name ends with the name"
    assert "\n" not in symbol.signature + symbol.doc, "signature and doc are single lines"
    for text in (symbol.name, symbol.qualified_name, symbol.signature, symbol.doc):
        text.encode("utf-8")  # no half characters
    if symbol.doc_bytes is not None:
        assert 0 <= symbol.doc_bytes[0] < symbol.doc_bytes[1] <= len(source)


def _require_lines(symbol: Symbol, source: bytes) -> None:
    start, end = symbol.bytes
    first = source.count(b"\n", 0, start) + 1
    assert symbol.lines == (first, first + source.count(b"\n", start, end)), "lines split on LF"
    assert source[start:end].strip(b"\r\n") == source[start:end], "no line end around a symbol"


def _require_nesting(symbols: Sequence[Symbol]) -> None:
    around: list[int] = []
    for symbol in symbols:
        while around and around[-1] <= symbol.bytes[0]:
            around.pop()
        assert not around or symbol.bytes[1] <= around[-1], "symbols nest or lie apart"
        around.append(symbol.bytes[1])


def _texts(adapter: Adapter, source: bytes) -> list[tuple[str, str, bytes]]:
    return [
        (symbol.kind, symbol.qualified_name, source[slice(*symbol.bytes)])
        for symbol in adapter.extract(source).symbols
    ]


def _lines(adapter: Adapter, source: bytes) -> list[tuple[int, int]]:
    return [symbol.lines for symbol in adapter.extract(source).symbols]


def _named(extraction: Extraction) -> list[tuple[str, str]]:
    return [(symbol.kind, symbol.qualified_name) for symbol in extraction.symbols]
