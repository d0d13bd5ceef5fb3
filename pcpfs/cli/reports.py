"""How `add` and `sync` tell what they did."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import plural, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import HistoryReport, RootReport, Skipped
    from pcpfs.sources.synced import SyncReport
    from pcpfs.store.trees.take_edits import TreeChange, TreeReport


def sync_lines(report: SyncReport) -> Iterator[str]:
    """One paragraph a root."""
    for root in report.roots:
        yield from _root_lines(root)
    for lost in report.unbound:
        name = styled(safe(lost.root), "bold")
        yield f"{name} in {safe(lost.scope)}: not known where it lies, left alone"
        yield styled(f"  {safe(_bind(lost.scope, lost.root))}", "dim")
    told = list(tree_lines(report.tree))
    yield from told
    yield from (f"note: {safe(warning)}" for warning in report.warnings)
    if report.commit:
        yield styled(f"commit {report.commit[:12]}", "dim")
    elif not (told or report.roots):
        yield "nothing has changed in tree/"


def _bind(scope: str, root: str) -> str:
    words = ["pcpfs", "add", "PATH", "--scope", scope, "--root", root, "--take-over"]
    return f"to follow it from here: {shlex.join(words)}"


def tree_lines(report: TreeReport) -> Iterator[str]:
    """One line an edit in `tree/`, and what was not taken."""
    for operation in ("revised", "created", "renamed", "restored", "resolved", "tombstoned"):
        for change in getattr(report, operation):
            yield tree_line(operation, change)
    yield from (
        f"{styled('reverted', 'yellow')} {safe(f'{left.path}: {left.reason}')}"
        for left in report.reverted
    )
    if report.held_back:
        count = plural(len(report.held_back), "file")
        yield (
            f"{styled('held back', 'yellow')} {count} removed at once, which are there again; "
            "if that was meant, remove them and sync with --accept-removals"
        )
    for left in report.left:
        yield f"{styled('left alone', 'yellow')} {safe(f'{left.path}: {left.reason}')}"


def tree_line(operation: str, change: TreeChange) -> str:
    """One edit that was taken."""
    was = f" (was {change.was})" if change.was else ""
    now = f", now at {change.now}" if change.now else ""
    heads = f"; the page has {len(change.heads)} heads (pcpfs conflicts)" if change.heads else ""
    return f"{styled(operation, 'green')} {safe(f'{change.path}{was}{now}{heads}')}"


def _root_lines(root: RootReport) -> Iterator[str]:
    files, symbols = plural(root.files, "file"), plural(root.symbols, "symbol")
    about = f"{styled(safe(root.root), 'bold')} in {safe(root.scope)}: {files}, {symbols}"
    if root.state == "not_observed":
        yield f"{about}; another copy of this store follows it, left alone"
        yield styled(f"  {safe(_bind(root.scope, root.root))}", "dim")
        return
    yield about if root.state == "ok" else f"{about}, {safe(root.state)}"
    if root.history is not None:
        yield f"  {safe(_history(root.history))}"
    yield f"  {_changes(root)}"
    if root.skipped:
        reasons = Counter(skipped.reason for skipped in root.skipped).most_common()
        told = ", ".join(f"{count} {reason}" for reason, count in reasons)
        yield f"  left out: {safe(told)}; 'pcpfs status' lists them"


def _history(history: HistoryReport) -> str:
    """How far the history is recorded, and what of it is new."""
    name = (history.branch or "a detached HEAD").removeprefix("refs/heads/")
    walked = plural(history.commits, "commit")
    seen = plural(history.observed, "observation")
    lost = f", {plural(history.retracted, 'commit')} retracted" if history.retracted else ""
    why = {"shallow": "; the repository is shallow and knows nothing before", "since": " (--since)"}
    begins = f"from {history.start_at} on{why.get(history.cut or '', '')}"
    others = f"; {_beside(history)}" if history.branches else ""
    lacks = plural(history.lacking, "version of a file", "versions of files")
    without = f"; git lacks {lacks}, whose time is left open" if history.lacking else ""
    return f"history of {name}: {walked}, {seen}{lost}; {begins}{others}{without}"


def _beside(history: HistoryReport) -> str:
    count = history.branches or 0
    what = f"{count} other branches" if count != 1 else "1 other branch"
    return f"of {what} {plural(history.beside or 0, 'commit')}"


def skipped_line(skipped: Skipped) -> str:
    """A path that was left out, and why."""
    detail = f" ({skipped.detail})" if skipped.detail else ""
    place = f"{skipped.root}/{skipped.path}" if skipped.root else skipped.path
    return safe(f"skipped {place}: {skipped.reason}{detail}")


def _changes(root: RootReport) -> str:
    counts = (
        (root.added, "added"),
        (root.changed, "changed"),
        (root.removed, "removed"),
        (root.renamed, "renamed"),
    )
    told = ", ".join(f"{count} {what}" for count, what in counts if count)
    if not told:
        history = root.history
        has_told = history and (history.observed or history.closed or history.retracted)
        what = "nothing else" if has_told else "nothing"
        return f"{what} has changed in {plural(root.unchanged, 'file')}"
    return f"{told}; symbols: {root.opened} opened, {root.closed} closed"
