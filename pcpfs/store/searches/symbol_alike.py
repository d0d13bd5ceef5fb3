"""What lives of symbols on the line and on branches are told by alike: which rows a name means,
when two of them are one symbol, and what a step says."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

from pcpfs.errors import PcpfsError
from pcpfs.model.frames import dotted
from pcpfs.model.ids import Digest, FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.symbol_answers import SymbolStep
from pcpfs.store.catalogs.rows import BesideFrameRow, FrameRow
from pcpfs.store.reading import Reader

LONGEST = 1000
"""So many names and places of one symbol are followed."""

SymbolRow = FrameRow | BesideFrameRow


class Named(NamedTuple):
    """Rows that are meant by an id, by a name, or by the end of a dotted one."""

    column: str
    value: str
    end: str = ""

    @classmethod
    def by(cls, name: str) -> Self:
        name = dotted(name)
        if name.startswith("fr_"):
            return cls("frame_id", name)
        return cls("name", name.rpartition(".")[2], "." + name)

    def means(self, row: SymbolRow) -> bool:
        """Whether one of those with this value in the column is meant."""
        return ("." + row.qualified_name).endswith(self.end)


class Why(NamedTuple):
    """Who made a step, and what it says besides the symbol."""

    commit: str | None
    author: str | None
    was: str | None = None
    reason: str | None = None
    branches: tuple[str, ...] | None = None


def step_of(row: SymbolRow, path: str | None, event: str, at: int, why: Why) -> SymbolStep:
    """What happened to a symbol of the file at a path."""
    return SymbolStep(
        event=event,
        at=Instant(at),
        frame_id=FrameId(row.frame_id),
        page_id=PageId(row.page_id),
        revision_id=RevisionId(row.revision_id),
        path=path or "",
        qualified_name=row.qualified_name,
        signature=row.signature,
        lines=(row.line_a, row.line_b),
        digest=Digest(row.digest),
        was=why.was,
        reason=why.reason,
        commit=why.commit,
        author=why.author,
        branches=why.branches,
    )


def is_same(one: SymbolRow, other: SymbolRow) -> bool:
    """To the letter, but perhaps for the place."""
    return (one.name, one.digest) == (other.name, other.digest)


def is_renamed(reader: Reader, old: SymbolRow, new: SymbolRow) -> bool:
    """Whether a symbol is another one in which one name stands for another; not where a text of
    them cannot be read."""
    if old.name == new.name:
        return False
    try:
        before, after = source_of(reader, old), source_of(reader, new)
    except PcpfsError:
        return False
    word = rb"(?<!\w)%s(?!\w)" % re.escape(old.name.encode())
    return re.sub(word, lambda _: new.name.encode(), before) == after


def source_of(reader: Reader, row: SymbolRow) -> bytes:
    """Exactly the bytes of a symbol."""
    return reader.payload(f"{row.page_id}@{row.revision_id}")[row.byte_a : row.byte_b]
