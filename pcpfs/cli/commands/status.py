"""`pcpfs status`: how the store and its sources are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.conflict_lines import conflict_lines
from pcpfs.cli.options import with_part
from pcpfs.cli.reports import skipped_line
from pcpfs.cli.shown import suspect_lines
from pcpfs.cli.text import columns, more_lines, plural, size, styled
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import RootView, Skipped
    from pcpfs.sources.status import Status
    from pcpfs.sources.watch_sign import WatcherView
    from pcpfs.store.upkeeping.sizes import Sizes

_FEW = 12


@click.command(
    cls=Command,
    section="Store",
    examples=["pcpfs status", "pcpfs status --size", "pcpfs status --only skipped --json"],
)
@click.option(
    "--all", "everything", is_flag=True, help="List all that was left out, not only some."
)
@click.option("--size", "sized", is_flag=True, help="Say where the space goes, too.")
@click.option("--only", metavar="LIST", help="One list, in parts: stale, skipped, conflicts, …")
@with_part
def command(
    call: Call, *, everything: bool, sized: bool, only: str | None, limit: int, cursor: str | None
) -> None:
    """Show the sources and what needs attention.

    Of each list so many as --limit says; --only with --cursor goes on in one of them.
    """
    from pcpfs.sources.status import status, status_list  # noqa: PLC0415 (help needs no store)

    if only is None:
        if cursor is not None:
            raise UsageError("a cursor belongs to one list; say which: --only LIST")
        answer = status(call.session, limit=limit, size=sized)
        left_out = _all_skipped(call) if everything else answer.skipped[:_FEW]
        call.answer(answer, _lines(answer, left_out))
        return
    from pcpfs.model.answers import plain  # noqa: PLC0415 (see above)

    part = status_list(call.session, only, limit=limit, cursor=cursor)
    lines = (json.dumps(plain(item), ensure_ascii=False) for item in part.items)
    call.answer(
        {only: part.items, "cursor": part.cursor}, [*map(safe, lines), *more_lines(part.cursor)]
    )


def _all_skipped(call: Call) -> Iterator[Skipped]:
    """Every file that was left out, for a person who asks for all."""
    from pcpfs.model.requests import MOST_RESULTS  # noqa: PLC0415 (see above)
    from pcpfs.sources.status import status_list  # noqa: PLC0415 (see above)

    cursor = None
    while True:
        part = status_list(call.session, "skipped", limit=MOST_RESULTS, cursor=cursor)
        yield from part.items
        cursor = part.cursor
        if cursor is None:
            return


def _lines(status: Status, left_out: Iterable[Skipped]) -> Iterator[str]:
    scopes, pages = plural(len(status.scopes), "scope"), plural(status.pages, "page")
    yield f"{styled(safe(status.path), 'bold')}: {scopes}, {pages}"
    yield from _roots(status.roots)
    yield from _watchers(status.watchers)
    yield from suspect_lines(status.suspect)
    yield from _needs_attention(status)
    yield from _left_out(left_out, Counter(status.skipped_reasons))
    for name, more in status.more.items():
        if name != "skipped":
            listing = f"'pcpfs status --only {name} --cursor {more.cursor}' goes on"
            yield styled(f"{name}: {more.total:,} in all; {listing}", "dim")
    yield from _sizes(status.size) if status.size else ()


def _left_out(shown: Iterable[Skipped], rest: Counter[str]) -> Iterator[str]:
    """The files that were not taken in: some of them, then how many more for what reason."""
    for one in shown:
        rest[str(one.reason)] -= 1
        yield skipped_line(one)
    rest = +rest
    if rest:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in rest.most_common())
        yield f"and {sum(rest.values()):,} more ({reasons}); 'pcpfs status --all' lists them"


def _roots(roots: Sequence[RootView]) -> Iterator[str]:
    rows = [
        (
            f"  {safe(root.root)}",
            safe(root.scope),
            plural(root.files, "file"),
            plural(root.symbols, "symbol"),
            root.state,
            safe(root.path or ""),
        )
        for root in roots
    ]
    yield from columns(rows, ("bold",)) if rows else ()


def _sizes(sizes: Sizes) -> Iterator[str]:
    """A line for each kind of files, and the total: what the disk gives them, what they hold."""
    rows = [
        (size(part.disk), size(part.bytes), plural(part.files, "file"), part.kind, part.scope or "")
        for part in sizes.parts
    ]
    total = (size(sizes.disk), size(sizes.bytes), plural(sizes.files, "file"), "in all", "")
    yield from columns((("on disk", "held", "", "", ""), *rows, total), ("bold",))
    for frees, when in ((sizes.thinning, "now"), (sizes.thinning_later, "within a week")):
        if frees is not None and frees.payloads:
            saves = plural(frees.payloads, "old save")
            yield f"thinning lets go of {saves} {when}: {size(frees.bytes)}"


def _watchers(watchers: Sequence[WatcherView]) -> Iterator[str]:
    for one in watchers:
        how = "polling" if one.polling else "watching"
        roots = ", ".join(map(safe, one.roots)) or "tree/"
        yield f"{how} {roots} since {one.since} (process {one.pid})"
        yield from (f"  {safe(note)}" for note in one.notes)


def _needs_attention(status: Status) -> Iterator[str]:
    for stale in status.stale:
        yield f"{stale.status} since the last sync: {safe(stale.root)}/{safe(stale.path)}"
    yield from conflict_lines(status.conflicts)
    yield from (f"edited in tree/ and not taken in: {safe(path)}" for path in status.edits)
    yield from (f"incomplete: {page} misses earlier changes" for page in status.incomplete)
    for one in status.recommended:
        who, why = safe(one.actor), safe(one.why)
        yield f"{who} recommends to delete {safe(one.title)} ({one.page_id}): {why}"
    if status.erasure_pending:
        pages = plural(len(status.erasure_pending), "erased page")
        yield f"erasure pending: history still holds {pages}; 'pcpfs maintain' rewrites it"
    if status.damaged:
        yield f"damaged: {plural(len(status.damaged), 'page')}; 'pcpfs fsck' says why"
