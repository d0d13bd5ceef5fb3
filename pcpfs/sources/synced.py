"""What bringing roots up to date has done: of one root, and of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcpfs.errors import PcpfsError
from pcpfs.model.answers import RootReport
from pcpfs.model.instants import Instant
from pcpfs.sources.applied import Applied
from pcpfs.sources.roots import Root
from pcpfs.sources.statcache import StatCache
from pcpfs.store.catalogs.rows import RootRow
from pcpfs.store.trees.take_edits import TreeReport
from pcpfs.store.writes import one_line


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What `add` or `sync` did; `commit` is the last one, None where nothing changed. Files
    of `refused` roots were looked at all the same."""

    roots: tuple[RootReport, ...]
    tree: TreeReport
    commit: str | None
    warnings: tuple[str, ...] = ()
    unbound: tuple[UnboundRoot, ...] = ()
    refused: tuple[Refused, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A root whose history was asked for and cannot be recorded."""

    root: str
    error: PcpfsError

    def to_json(self) -> dict[str, object]:
        return {"root": self.root, "code": self.error.code, "message": self.error.message}


@dataclass(frozen=True, slots=True)
class UnboundRoot:
    """A root that this clone does not know where to find."""

    root: str
    scope: str


@dataclass(frozen=True, slots=True)
class Done:
    """One look at one root: what changed, and the report of it."""

    root: Root
    applied: Applied
    report: RootReport
    cache: StatCache | None = None
    scanned: Instant | None = None
    """When a look at all of the root began."""
    warnings: tuple[str, ...] = ()
    refused: PcpfsError | None = None
    """Why the history that was asked for is not recorded."""


def unbound(row: RootRow) -> UnboundRoot:
    return UnboundRoot(row.name, row.scope)


def unobserved(root: Root) -> Done:
    """Another clone observes this root; this one only reads what that one wrote."""
    empty = Applied()
    report = RootReport(root.name, root.namespace, 0, 0, 0, 0, 0, 0, 0, 0, 0, (), "not_observed")
    return Done(root, empty, report)


def touched(applied: Applied) -> int:
    return applied.added + applied.changed + applied.removed + applied.renamed


def subject(operation: str, done: Sequence[Done]) -> str:
    """`sync: django +2 ~3 -1`: files added, changed, removed, renamed."""
    parts = []
    for item in done:
        a = item.applied
        marks = (("+", a.added), ("~", a.changed), ("-", a.removed), (">", a.renamed))
        shown = " ".join(f"{mark}{count}" for mark, count in marks if count)
        parts += [f"{one_line(item.root.name)} {shown}"] if shown else []
    return f"{operation}: " + ("; ".join(parts) or "settings")
