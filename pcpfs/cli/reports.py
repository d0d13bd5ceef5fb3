"""How `add` and `sync` tell what they did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import plural, safe, styled

if TYPE_CHECKING:
    from pcpfs.model.answers import RootReport, Skipped
    from pcpfs.sources.service import SyncReport


def sync_lines(report: SyncReport) -> Iterator[str]:
    """One paragraph a root."""
    for root in report.roots:
        yield from _root_lines(root)
    for path in report.tree.edits:
        yield f"edited in tree/ and not taken in: {safe(path)}"
    yield from (f"note: {safe(warning)}" for warning in report.warnings)
    if report.commit:
        yield styled(f"commit {report.commit[:12]}", "dim")


def _root_lines(root: RootReport) -> Iterator[str]:
    state = "" if root.state == "ok" else f", {safe(root.state)}"
    files, symbols = plural(root.files, "file"), plural(root.symbols, "symbol")
    yield f"{styled(safe(root.root), 'bold')} in {safe(root.scope)}: {files}, {symbols}{state}"
    yield f"  {_changes(root)}"
    if root.skipped:
        reasons = Counter(skipped.reason for skipped in root.skipped).most_common()
        told = ", ".join(f"{count} {reason}" for reason, count in reasons)
        yield f"  left out: {safe(told)}; 'pcpfs status' lists them"


def skipped_line(skipped: Skipped) -> str:
    """A path that was left out, and why."""
    detail = f" ({skipped.detail})" if skipped.detail else ""
    return safe(f"skipped {skipped.path}: {skipped.reason}{detail}")


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
