"""What an adapter sees in one version of a file, said by what it saw in an earlier one.

Most of a saved file is what it was: then the difference is some symbols and how far the others
moved. It stands in the `observed` event of the version, and names the observation that it starts
from; so it can only lead back, and never in a circle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from pcpfs.errors import Corrupt
from pcpfs.model.frames import Extraction, Import, Symbol
from pcpfs.model.ids import ChangeId, Digest, RevisionId

_OTHERS = (
    "language",
    "error_count",
    "encoding",
    "line_count",
    "notes",
    "imports",
    "generated",
)
"""The members of an extraction besides its symbols that may differ; adapter and version do not."""

Key = tuple[object, ...]


class Base(NamedTuple):
    """The observation that a difference starts from: of this revision of the same page by the same
    adapter, in that change; in an earlier event of the same change, where `change` is None."""

    revision: RevisionId
    change: ChangeId | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """So many symbols as they were, from number `at` on; all moved by `lines` and `bytes`."""

    at: int
    count: int
    lines: int = 0
    bytes: int = 0

    def __post_init__(self) -> None:
        numbers = (self.at, self.count, self.lines, self.bytes)
        if any(type(n) is not int for n in numbers) or self.at < 0 or self.count < 1:
            raise Corrupt(f"{numbers} are no run of symbols")

    def to_json(self) -> dict[str, int]:
        moved = {"lines": self.lines, "bytes": self.bytes}
        return {"at": self.at, "count": self.count} | {n: v for n, v in moved.items() if v}


@dataclass(frozen=True, slots=True)
class Difference:
    """From the extraction of `base` to another one, the frames file of which has this `digest`.

    `symbols` are those of the other one in order: runs of symbols that are kept, and new ones.
    `others` are the members besides the symbols that are not as they were, as JSON.
    """

    base: Base
    digest: Digest
    symbols: tuple[Kept | Symbol, ...]
    others: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def between(cls, base: Base, before: Extraction, after: Extraction, digest: Digest) -> Self:
        """Both by the same version of an adapter; `digest` is of the later one's frames file."""
        assert before.adapter_tag == after.adapter_tag, "one adapter saw both"
        now, was = _others(after), _others(before)
        changed = {name: value for name, value in now.items() if value != was[name]}
        return cls(base, digest, tuple(_runs(before.symbols, after.symbols)), changed)

    def applied(self, before: Extraction, what: str) -> Extraction:
        """The later extraction; Corrupt, naming `what`, if this difference does not lead to it."""
        try:
            others = {**_others(before), **self.others}
            others["notes"] = tuple(others["notes"])
            others["imports"] = tuple(Import(target, line) for target, line in others["imports"])
            after = Extraction(
                before.adapter, before.version, symbols=tuple(self._symbols(before)), **others
            )
            is_right = Digest.of(after.encode()) == self.digest
        except (IndexError, TypeError, ValueError) as error:
            raise Corrupt(f"{what} holds no difference of frames: {error}", path=what) from error
        if not is_right:
            raise Corrupt(f"the frames that {what} starts from are not what they were", path=what)
        return after

    def _symbols(self, before: Extraction) -> Iterator[Symbol]:
        for one in self.symbols:
            if isinstance(one, Symbol):
                yield one
                continue
            kept = before.symbols[one.at : one.at + one.count]
            if len(kept) != one.count:
                raise IndexError(f"there are no {one.count} symbols from number {one.at} on")
            yield from kept if one.lines == one.bytes == 0 else (_moved(s, one) for s in kept)

    def to_json(self) -> dict[str, object]:
        start = {"revision": self.base.revision, "change": self.base.change}
        return {
            **self.others,
            "from": {name: value for name, value in start.items() if value is not None},
            "digest": self.digest,
            "symbols": [one.to_json() for one in self.symbols],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        start = value["from"]
        change = ChangeId(start["change"]) if "change" in start else None
        return cls(
            Base(RevisionId(start["revision"]), change),
            Digest(value["digest"]),
            tuple(map(_one, value["symbols"])),
            {name: value[name] for name in _OTHERS if name in value},
        )


def _one(value: Mapping[str, Any]) -> Kept | Symbol:
    if "at" not in value:
        return Symbol.from_json(value)
    return Kept(value["at"], value["count"], value.get("lines", 0), value.get("bytes", 0))


def _others(seen: Extraction) -> dict[str, Any]:
    members = {name: getattr(seen, name) for name in _OTHERS}
    return members | {"notes": list(seen.notes), "imports": [list(one) for one in seen.imports]}


def _runs(before: Sequence[Symbol], after: Sequence[Symbol]) -> Iterator[Kept | Symbol]:
    """The later symbols in order, those that were there before by number. Of several alike the one
    right behind the last is taken, else the first."""
    keys = [_key(symbol) for symbol in before]
    places: dict[Key, int] = {}
    for number, key in enumerate(keys):
        places.setdefault(key, number)
    run: Kept | None = None
    for symbol in after:
        key = _key(symbol)
        following = run.at + run.count if run else 0
        at = following if following < len(keys) and keys[following] == key else places.get(key)
        if at is None:
            yield from [run] if run else []
            yield symbol
            run = None
            continue
        was = before[at]
        moved = (symbol.lines[0] - was.lines[0], symbol.bytes[0] - was.bytes[0])
        if run and at == following and moved == (run.lines, run.bytes):
            run = replace(run, count=run.count + 1)
        else:
            yield from [run] if run else []
            run = Kept(at, 1, *moved)
    yield from [run] if run else []


def _key(symbol: Symbol) -> Key:
    """All of a symbol but where it stands."""
    start, documented = symbol.bytes[0], symbol.doc_bytes
    return (
        symbol.digest,
        symbol.qualified_name,
        symbol.kind,
        symbol.name,
        symbol.signature,
        symbol.doc,
        symbol.lines[1] - symbol.lines[0],
        symbol.bytes[1] - start,
        documented and (documented[0] - start, documented[1] - start),
    )


def _moved(symbol: Symbol, by: Kept) -> Symbol:
    (first, last), (start, end), documented = symbol.lines, symbol.bytes, symbol.doc_bytes
    return Symbol(
        symbol.kind,
        symbol.name,
        symbol.qualified_name,
        symbol.signature,
        symbol.doc,
        (first + by.lines, last + by.lines),
        (start + by.bytes, end + by.bytes),
        symbol.digest,
        documented and (documented[0] + by.bytes, documented[1] + by.bytes),
    )
