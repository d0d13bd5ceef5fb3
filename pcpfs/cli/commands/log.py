"""`pcpfs log`: the history of a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.graph import drawn
from pcpfs.cli.options import branch_option, with_part, with_pins
from pcpfs.cli.text import columns, interval, more_lines, short, size, styled
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import LogEntry, Pins
    from pcpfs.model.symbol_answers import SymbolLife, SymbolStep
    from pcpfs.store.paging import Part


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs log glossary.md",
        "pcpfs log --graph glossary.md",
        "pcpfs log --json pg_01k0w3v5c8e2f9",
        "pcpfs log --symbol Router.match",
        "pcpfs log --symbol Router.match --branch feature/faster",
    ],
)
@with_part
@with_pins
@click.option("--symbol", metavar="SYMBOL", help="The life of a symbol; with ID only of that file.")
@branch_option("Only what this branch of a source did beside the line.")
@click.option("--graph", is_flag=True, help="Draw which revision comes of which.")
@click.argument("page", metavar="[ID]", required=False)
def command(
    call: Call,
    *,
    page: str | None,
    symbol: str | None,
    branch: str | None,
    graph: bool,
    pins: Pins,
    limit: int,
    cursor: str | None,
) -> None:
    """Show the history of a page or a symbol.

    The revisions, or what was observed of a source file; newest first. Of a symbol, under all of
    its names and in all of its places: when it was opened, changed, moved, renamed and closed, and,
    where the git history is recorded (add --history), by which commit of whom. What commits of
    other branches did (--all-branches) names these; it holds at no time.
    """
    if symbol is not None and graph:
        raise UsageError("--graph is for pages; a symbol has one line of life")
    if symbol is not None:
        from pcpfs.store.searches.symbol_life import lives  # noqa: PLC0415 (help needs no store)

        reader = call.session.reader(pins)
        found = lives(reader, symbol, until=pins.as_of, page=page, branch=branch)
        call.answer({"symbols": found}, _life_lines(found), cut=True)
        return
    if page is None:
        raise UsageError("say of which page, or --symbol NAME")
    part = call.session.history(page, pins, limit=limit, cursor=cursor, branch=branch)
    lines = _graph_lines(part) if graph else _lines(part)
    if branch is not None and not (part.items or cursor):
        lines = iter([safe(f"the branch {branch!r} did nothing to it beside the line")])
    call.answer({"revisions": part.items, "cursor": part.cursor}, lines, cut=True)


def _graph_lines(part: Part[LogEntry]) -> Iterator[str]:
    """The same lines beside their lines of descent; of a source file each comes of the one before
    on the line, or on one of its branches."""
    entries = part.items
    if any(entry.parents for entry in entries):
        steps = [(str(entry.revision_id), tuple(map(str, entry.parents))) for entry in entries]
    else:
        steps = [(str(at), (str(_before(entries, at)),)) for at in range(len(entries))]
    drawing, told = list(drawn(steps)), _lines(part)
    room = max((len(left) for left, _ in drawing), default=0)
    for left, is_step in drawing:
        pad = " " * (room - len(left))
        yield f"{styled(left, 'red')}{pad}  {next(told)}" if is_step else styled(left, "red")
    yield from told


def _before(entries: Sequence[LogEntry], at: int) -> int:
    """The place of what an observation of a file, or what a branch did to it, comes of."""
    own = set(entries[at].branches or ())
    for place, entry in enumerate(entries[at + 1 :], at + 1):
        if entry.branches is None or not own.isdisjoint(entry.branches):
            return place
    return len(entries)


def _lines(part: Part[LogEntry]) -> Iterator[str]:
    rows = [
        (
            short(entry.revision_id),
            entry.operation,
            str(entry.created_at),
            safe(str(entry.created_by)),
            f"{_span(entry)}{_change(entry)}",
        )
        for entry in part.items
    ]
    yield from columns(rows, ("yellow", "bold", "dim")) if rows else ()
    yield from more_lines(part.cursor)


def _life_lines(lives: Iterable[SymbolLife]) -> Iterator[str]:
    for life in lives:
        place = safe(f"{life.root}/{life.path}")
        yield f"{styled(safe(life.qualified_name), 'bold')} ({place})  {life.kind}"
        rows = [
            (
                step.event,
                str(step.at),
                (step.commit or "")[:12],
                safe(step.author or ""),
                safe(f"{step.path}:{step.lines[0]}{_was(step)}{_on(step.branches)}"),
            )
            for step in life.steps
        ]
        yield from (f"  {line}" for line in columns(rows, ("yellow", "bold", "dim")))


def _was(step: SymbolStep) -> str:
    was = f", was {step.was}" if step.was else ""
    return f"{was}, {step.reason}" if step.reason not in (None, "changed") else was


def _on(branches: tuple[str, ...] | None) -> str:
    """`, on feature/x`, with how many more branches have it."""
    if not branches:
        return ""
    more = f" and {len(branches) - 1} more" if len(branches) > 1 else ""
    return f", on {branches[0]}{more}"


def _span(entry: LogEntry) -> str:
    if entry.branches is not None:
        return _beside(entry)
    holds = entry.valid_from or entry.valid_to
    told = f"holds {interval(entry.valid_from, entry.valid_to)}" if holds else ""
    by = f"commit {entry.commit[:12]} {safe(entry.author or '')}" if entry.commit else ""
    return "  ".join(filter(None, [safe(entry.title or ""), _size(entry), told, by]))


def _beside(entry: LogEntry) -> str:
    left = _size(entry) if entry.reason is None else entry.reason
    by = f"commit {(entry.commit or '')[:12]} {entry.author or ''}"
    on = f"{entry.valid_from}{_on(entry.branches)}"
    return "  ".join(filter(None, [safe(entry.title or ""), left, on, safe(by)]))


def _size(entry: LogEntry) -> str:
    return "" if entry.size is None else size(entry.size)


def _change(entry: LogEntry) -> str:
    if entry.opened is None and entry.closed is None:
        return ""
    return f"  {entry.opened or 0} opened, {entry.closed or 0} closed"
