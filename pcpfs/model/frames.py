"""What an adapter sees in some bytes (symbols), and what the store makes of it (frames)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.model.codec import canonical, decode
from pcpfs.model.ids import Digest, FrameId, PageId, derived

FILE_KIND = "file"
"""The kind of the frame that is a whole file; it is no symbol."""
TOO_LARGE = "too large to parse"
TOOK_TOO_MUCH = "took too much to parse"
TOO_DAMAGED = "too damaged to search"
LEFT_OUT = "left out"
"""Notes of an extraction that has not all symbols; of some that were left out, the end of one."""

LFS_POINTER = "git_lfs"
"""The language of a file that is only a pointer to one that Git LFS keeps; its note says to which
(`sha256:…, 12,345 bytes`)."""


def dotted(name: str) -> str:
    """The name of a symbol as people write it (`A::b()`), as frames have it (`A.b`)."""
    return name.strip().replace("::", ".").removesuffix("()")


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition in a source.

    `bytes` is half-open in the source as read (never in a transcoded copy): the definition with
    its decorators, attributes and `export`, without leading comment or trailing line end. `lines`
    is 1-based and inclusive, lines split on LF only. `digest` is the sha256 of exactly those bytes.
    `doc` is the first documentation line, `doc_bytes` the range of the whole documentation.
    """

    kind: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    lines: tuple[int, int]
    bytes: tuple[int, int]
    digest: Digest
    doc_bytes: tuple[int, int] | None = None

    def to_json(self) -> dict[str, object]:
        members = {name: getattr(self, name) for name in self.__slots__}
        return {name: v for name, v in members.items() if v not in (None, "")}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        documented = value.get("doc_bytes")
        return cls(
            value["kind"],
            value["name"],
            value["qualified_name"],
            value.get("signature", ""),
            value.get("doc", ""),
            (value["lines"][0], value["lines"][1]),
            (value["bytes"][0], value["bytes"][1]),
            Digest(value["digest"]),
            documented and (documented[0], documented[1]),
        )


class Import(NamedTuple):
    """What a source says it needs, as its language spells it (`..a.b`, `./a`, `crate::a`), and the
    first line that says so. Which file that means depends on the files that there are."""

    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that one adapter sees in one source: a pure function of (bytes, adapter, version).

    `symbols` are in document order (start, then longest first). `error_count` counts places that
    did not parse; `notes` says in words what was limited, such as "too large to parse". `imports`
    are in order, each target once. `generated`: it says of itself that a program wrote it.
    """

    adapter: str
    version: int
    language: str
    symbols: tuple[Symbol, ...] = ()
    error_count: int = 0
    encoding: str = "utf-8"
    line_count: int = 0
    notes: tuple[str, ...] = ()
    imports: tuple[Import, ...] = ()
    generated: bool = False

    @property
    def adapter_tag(self) -> str:
        """`python-1`: the name under which the store keeps this extraction."""
        return f"{self.adapter}-{self.version}"

    @property
    def limits(self) -> tuple[str, ...]:
        """Of the notes those that say that symbols are missing."""
        ends = (TOO_LARGE, TOOK_TOO_MUCH, TOO_DAMAGED, LEFT_OUT)
        return tuple(note for note in self.notes if note.endswith(ends))

    def encode(self) -> bytes:
        """The canonical bytes of a frames file: names, kinds, ranges and digests; no ids. It says
        neither that nothing is imported nor that nobody generated it."""
        members = {name: getattr(self, name) for name in self.__slots__}
        members["symbols"] = [symbol.to_json() for symbol in self.symbols]
        members["imports"] = self.imports or None
        members["generated"] = self.generated or None
        return canonical(members, sound=("symbols", "imports"))

    @classmethod
    def decode(cls, raw: bytes, what: str) -> Self:
        """Read a frames file; Corrupt, naming `what`, where it is none."""
        value: dict[str, Any] = decode(raw, what)
        try:
            return cls(
                value["adapter"],
                value["version"],
                value["language"],
                tuple(map(Symbol.from_json, value["symbols"])),
                value["error_count"],
                value["encoding"],
                value["line_count"],
                tuple(value["notes"]),
                tuple(Import(target, line) for target, line in value.get("imports", ())),
                value.get("generated", False),
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, PcpfsError) as error:
            raise Corrupt(f"{what} is no frames file: {error}", path=what) from error


@dataclass(frozen=True, slots=True)
class Frame:
    """A symbol (or a whole file, kind `file`) of one page, with the id that survives edits."""

    frame_id: FrameId
    symbol: Symbol


def file_frame(page: PageId, name: str, payload: Digest, size: int, line_count: int) -> Frame:
    """The frame that is a whole file."""
    return Frame(
        _frame_id(page, "", FILE_KIND),
        Symbol(FILE_KIND, name, name, "", "", (1, max(line_count, 1)), (0, size), payload),
    )


def frame_ids(page: PageId, symbols: Sequence[Symbol]) -> tuple[Frame, ...]:
    """Give each symbol its id: page, qualified name and kind; equals are told apart by their
    parameters first, then by order. Names are compared byte for byte: nothing collapses.
    """
    alike = Counter((s.qualified_name, s.kind) for s in symbols)
    seen: Counter[tuple[str, ...]] = Counter()
    frames = []
    for symbol in symbols:
        parts: tuple[str, ...] = (symbol.qualified_name, symbol.kind)
        if alike[parts[0], parts[1]] > 1:
            parts += (parameters(symbol.signature),)
            seen[parts] += 1
            parts += (str(seen[parts]),) if seen[parts] > 1 else ()
        frames.append(Frame(_frame_id(page, *parts), symbol))
    return tuple(frames)


@lru_cache(16_384)
def _frame_id(page: PageId, *parts: str) -> FrameId:
    """Kept for a while: each file is asked for several times, before and after a change."""
    return FrameId("fr_" + derived("frame", page, *parts))


def parameters(signature: str) -> str:
    """The text from the first `(` to its matching `)`, white space folded; else the signature."""
    start, depth = signature.find("("), 0
    for position in range(max(start, 0), len(signature)):
        depth += {"(": 1, ")": -1}.get(signature[position], 0)
        if start >= 0 and depth == 0:
            return " ".join(signature[start : position + 1].split())
    return " ".join(signature.split())
