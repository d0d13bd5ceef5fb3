"""The life of a page, step by step: what it was, or what was seen and told of a source file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pcpfs.errors import NotFound
from pcpfs.model.answers import LogEntry
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.store.branches import RootBranches, unknown_branch
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.rows import BesideRow, PageRow, SpanRow

if TYPE_CHECKING:
    from pcpfs.store.reading import Reader


def page_log(reader: Reader, given: str) -> tuple[LogEntry, ...]:
    """A page's life, newest first; for a source page its observations with the symbols that
    each opened and closed, and those of the paths that it was renamed from."""
    return _in_order(entry for page in _line(reader, given) for entry in _observed(reader, page))


def log_with_branches(
    reader: Reader, given: str, branch: str | None = None
) -> tuple[LogEntry, ...]:
    """The same with what commits of other branches did to a source file; or only what those of one
    branch did (or the line, where that is meant). NotFound for a branch that is none."""
    pages = list(_line(reader, given))
    branches = RootBranches.of(reader.catalog, pages[0].root_id)
    ref = None if branch is None else branches.find(branch)
    if branch is not None and ref is None:
        raise NotFound(unknown_branch(branch, branches))
    entries: list[LogEntry] = []
    for page in pages:
        if ref in (None, branches.line):
            entries += _observed(reader, page)
        if ref is None or ref != branches.line:
            commits = branches.branches.commits if ref is None else set(branches.commits(ref))
            rows = reader.catalog.besides("page_id = ?", (page.page_id,))
            told = [row for row in rows if row.commit_id in commits]
            entries += _beside(reader, page, told, branches)
    return _in_order(entries)


def _in_order(entries: Iterator[LogEntry] | list[LogEntry]) -> tuple[LogEntry, ...]:
    found = list(entries)
    if len({(entry.path, entry.branches is None) for entry in found}) > 1:
        found.sort(key=lambda entry: entry.valid_from or entry.created_at, reverse=True)
    return tuple(found)


def _line(reader: Reader, given: str) -> Iterator[PageRow]:
    """A page and the pages that it was renamed from, newest first; each once."""
    page = reader.page(reader.resolve(given).page)
    seen: set[str] = set()
    while page.page_id not in seen:
        seen.add(page.page_id)
        yield page
        came = reader.catalog.relations("from_page = ? AND type = 'renamed_from'", (page.page_id,))
        before = reader.catalog.page(came[-1].to_page) if came else None
        page = before or page


def _observed(reader: Reader, page: PageRow) -> Iterator[LogEntry]:
    counts = _symbol_counts(reader, page) if page.is_source else {}
    for span in reversed(reader.catalog.spans(page.page_id)):
        body = reader.envelope(page, span.revision_id)
        yield LogEntry(
            revision_id=RevisionId(span.revision_id),
            parents=tuple(map(RevisionId, decode_list(span.parents))),
            created_at=Instant(span.recorded_at),
            created_by=Principal(span.actor),
            operation=span.operation,
            change_id=span.change_id,
            valid_from=Instant(span.valid_from),
            valid_to=None if span.valid_to is None else Instant(span.valid_to),
            path=reader.shown_path(page),
            title=reader.title(page, span.revision_id),
            size=body.payload.size if body.payload else None,
            opened=counts.get(("valid_from", span.valid_from), 0) if page.is_source else None,
            closed=counts.get(("valid_to", span.valid_to or 0), 0) if page.is_source else None,
            commit=span.commit_id,
            author=span.author,
        )


def _symbol_counts(reader: Reader, page: PageRow) -> Mapping[tuple[str, int], int]:
    """How many symbols opened and closed at each instant."""
    counts: Counter[tuple[str, int]] = Counter()
    for row in reader.catalog.frames("page_id = ? AND kind <> ?", (page.page_id, FILE_KIND)):
        for edge, at in (("valid_from", row.valid_from), ("valid_to", row.valid_to)):
            counts.update([(edge, at)] if at is not None else ())
    return counts


def _beside(
    reader: Reader, page: PageRow, rows: list[BesideRow], branches: RootBranches
) -> Iterator[LogEntry]:
    """What commits of other branches did; it holds at no time. Where nothing is left of the file it
    is told what was."""
    for row in sorted(rows, key=lambda row: (row.at, row.place), reverse=True):
        revision = row.revision_id or row.was_revision or ""
        payload = reader.envelope(page, revision).payload
        counts = Counter(
            event
            for (event,) in reader.catalog.query(
                "SELECT event FROM beside_frame WHERE page_id = ? AND place = ?",
                (row.page_id, row.place),
            )
        )
        yield LogEntry(
            revision_id=RevisionId(revision),
            parents=(),
            created_at=Instant(row.recorded_at),
            created_by=Principal(row.actor),
            operation=row.operation,
            change_id=row.change_id,
            valid_from=Instant(row.at),
            valid_to=Instant(row.at),
            path=reader.shown_path(page),
            title=page.title,
            size=payload.size if payload else None,
            opened=counts["opened"] + counts["changed"],
            closed=counts["closed"] + counts["changed"],
            commit=row.commit_id,
            author=row.author,
            branches=branches.names(row.commit_id),
            reason=row.reason,
        )


def beside_spans(rows: list[BesideRow], revision: str | None = None) -> list[SpanRow]:
    """What commits beside the line told of a page (of one revision of it), as observations that
    hold for no time."""
    versions = (
        (row, *version)
        for row in rows
        for version in ((row.was_revision, row.was_adapter), (row.revision_id, row.adapter))
        if version[0] is not None and revision in (None, version[0])
    )
    return [
        SpanRow(
            row.page_id,
            -1,
            told,
            row.at,
            row.at,
            row.recorded_at,
            row.change_id,
            row.actor,
            row.operation,
            "[]",
            adapter,
            None,
            None,
        )
        for row, told, adapter in versions
        if told is not None
    ]
