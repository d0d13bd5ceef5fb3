"""How `add` and `sync` tell what they did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import plural, safe, styled

if TYPE_CHECKING:
    from pcpfs.model.answers import RootReport
    from pcpfs.sources.service import SyncReport

MOST_SKIPPED = 5
"""How many skipped paths are listed; `status` lists all."""


def sync_lines(report: SyncReport) -> Iterator[str]:
    """One paragraph a root."""
    for root in report.roots:
        yield from _root_lines(root)
    if report.commit:
        yield styled(f"commit {report.commit[:12]}", "dim")


def _root_lines(root: RootReport) -> Iterator[str]:
    state = "" if root.state == "ok" else f", {safe(root.state)}"
    files, symbols = plural(root.files, "file"), plural(root.symbols, "symbol")
    yield f"{styled(safe(root.root), 'bold')} in {safe(root.scope)}: {files}, {symbols}{state}"
    yield f"  {_changes(root)}"
    for skipped in root.skipped[:MOST_SKIPPED]:
        yield f"  skipped {safe(skipped.path)}: {safe(skipped.reason)}"
    if len(root.skipped) > MOST_SKIPPED:
        more = len(root.skipped) - MOST_SKIPPED
        yield f"  and {more} more skipped; 'pcpfs status' lists them"


def _changes(root: RootReport) -> str:
    counts = (
        (root.added, "added"),
        (root.changed, "changed"),
        (root.removed, "removed"),
        (root.renamed, "renamed"),
    )
    told = ", ".join(f"{count} {what}" for count, what in counts if count)
    if not told:
        return f"nothing has changed in {plural(root.unchanged, 'file')}"
    return f"{told}; symbols: {root.opened} opened, {root.closed} closed"
