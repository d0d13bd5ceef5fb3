"""How the catalog follows the segments of event pages.

A segment is written once and merged by union, like every file of the truth; a line that is in two
segments is one event. A line that cannot be read is named, and costs only itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.model.events import EventLine, segment
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Catalog, Damage
from pcpfs.store.catalogs.rows import EventRow, FollowRow, PageRows, SegmentRow
from pcpfs.store.catalogs.seen_frames import Bodies
from pcpfs.store.events.event_lines import places_in, segment_key
from pcpfs.store.folding.fold import fold_page
from pcpfs.store.folding.projection import page_rows
from pcpfs.store.workshop import Workshop, bodies, refold


class Placed(NamedTuple):
    """A line and where it stands: the bytes [start, start + length) of its segment."""

    line: EventLine
    start: int
    length: int


class Trouble(NamedTuple):
    """What is wrong with a line (from 1), or (0) with the segment as a whole."""

    number: int
    message: str


class Segment(NamedTuple):
    """A segment as read: the lines that are sound, and what is wrong with others."""

    path: str
    namespace: Namespace
    lines: tuple[Placed, ...]
    troubles: tuple[Trouble, ...] = ()

    @classmethod
    def of(cls, namespace: Namespace, lines: Iterable[EventLine]) -> tuple[Segment, bytes]:
        """The segment of new lines, and its bytes."""
        placed: list[Placed] = []
        parts: list[bytes] = []
        start = 0
        for line in lines:
            raw = segment([line])
            placed.append(Placed(line, start, len(raw) - 1))
            parts.append(raw)
            start += len(raw)
        content = b"".join(parts)
        path = layout.segment_file(namespace, Digest.of(content))
        return cls(path, namespace, tuple(placed)), content

    @classmethod
    def read(cls, path: str, namespace: Namespace, raw: bytes) -> Segment:
        """All lines of a file that are sound, whatever is wrong with the rest."""
        placed: list[Placed] = []
        troubles: list[Trouble] = []
        if hashlib.sha256(raw).hexdigest() != path.rpartition("/")[2].removesuffix(".jsonl"):
            troubles.append(Trouble(0, f"{path} does not hold what its name says"))
        start = 0
        for number, text in enumerate(raw.removesuffix(b"\n").split(b"\n"), 1):
            try:
                line = _line(text, f"{path} line {number}", namespace)
                placed.append(Placed(line, start, len(text)))
            except Corrupt as error:
                troubles.append(Trouble(number, error.message))
            start += len(text) + 1
        return cls(path, namespace, tuple(placed), tuple(troubles))


def refold_segments(shop: Workshop, paths: Iterable[str]) -> None:
    """Bring the rows of these segments and their pages up to date with the files, within a
    writing; paths of other files are passed over."""
    for path in sorted(set(paths)):
        namespace = layout.segment_of(path)
        if namespace is None:
            continue
        before = {PageId(row.page_id) for row in places_in(shop.catalog, path)}
        _forget(shop.catalog, path, namespace)
        found = _found(shop, path, namespace)
        take_in(shop, found)
        gone = before - {placed.line.revision.page for placed in found.lines}
        refold(shop, [(page, namespace) for page in sorted(gone)])


def take_in(shop: Workshop, found: Segment) -> None:
    """Tell the catalog of a segment that it does not know, within a writing."""
    catalog = shop.catalog
    found = _without_erased(shop, found)
    _place(catalog, found)
    for number, message in found.troubles:
        where = f"{found.path}#{number}"
        catalog.set_damage(Damage(where, found.namespace, found.path, message))
    by_page: dict[PageId, list[EventLine]] = {}
    for placed in found.lines:
        by_page.setdefault(placed.line.revision.page, []).append(placed.line)
    rows: list[PageRows] = []
    for page, lines in by_page.items():
        try:
            rows.append(_rows(shop, found.namespace, page, lines))
        except (PcpfsError, ValueError, RecursionError) as error:
            catalog.set_damage(Damage(page, found.namespace, found.path, str(error)))
    catalog.replace_pages(rows)


def _without_erased(shop: Workshop, found: Segment) -> Segment:
    """The events that count; those of erased pages are noted, to be removed."""
    erased = shop.objects.erased(found.namespace)
    gone = {placed.line.revision.page for placed in found.lines} & erased
    shop.catalog.note_residue(found.path, found.namespace, gone)
    if not gone:
        return found
    kept = tuple(placed for placed in found.lines if placed.line.revision.page not in gone)
    return found._replace(lines=kept)


def _found(shop: Workshop, path: str, namespace: Namespace) -> Segment:
    try:
        raw = shop.disk.read(shop.root / path)
    except FileNotFoundError:
        return Segment(path, namespace, ())
    except PcpfsError as error:
        return Segment(path, namespace, (), (Trouble(0, error.message),))
    return Segment.read(path, namespace, raw)


def _line(raw: bytes, what: str, namespace: Namespace) -> EventLine:
    line = EventLine.decode(raw, what)
    if line.revision.namespace != namespace:
        raise Corrupt(f"{what} belongs to the scope {line.revision.namespace}", path=what)
    return line


def _rows(
    shop: Workshop, namespace: Namespace, page: PageId, lines: Sequence[EventLine]
) -> PageRows:
    """The rows of a page some of whose events are at hand."""
    changes = {line.change_id: line.change for line in lines}
    changes = shop.objects.page_changes(namespace, page, changes)
    return page_rows(fold_page(page, namespace, changes), _bodies(shop, namespace, page, lines))


def _bodies(
    shop: Workshop, namespace: Namespace, page: PageId, lines: Sequence[EventLine]
) -> Bodies:
    stored = bodies(shop.objects, namespace, page)
    revisions = {line.revision_id: line.revision for line in lines}
    payloads: Mapping[Digest, bytes] = {
        line.revision.payload.ref: line.content
        for line in lines
        if line.revision.payload is not None and line.content is not None
    }
    return Bodies(
        revision=lambda r: revisions.get(r) or stored.revision(r),
        extraction=stored.extraction,
        payload=lambda d: payloads[d] if d in payloads else stored.payload(d),
    )


def _place(catalog: Catalog, found: Segment) -> None:
    """Say where the lines are, what they follow, and which of them none follows."""
    if not found.lines:
        return
    key = segment_key(found.path)
    events: list[EventRow] = []
    follows: list[FollowRow] = []
    for line, start, length in found.lines:
        body = line.revision
        digest = body.payload.ref if body.payload and line.content is not None else None
        events.append(EventRow(line.revision_id, key, body.page, digest, start, length))
        follows += [FollowRow(after, line.revision_id) for after in line.after]
    db, scope = catalog.db, found.namespace
    db.execute("INSERT INTO segment VALUES (?, ?, ?)", SegmentRow(key, found.path, scope))
    db.executemany("INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?)", events)
    db.executemany("INSERT OR REPLACE INTO follow VALUES (?, ?)", follows)
    db.executemany(
        "DELETE FROM latest_event WHERE scope = ? AND revision_id = ?",
        [(scope, row.followed) for row in follows],
    )
    db.executemany(
        "INSERT OR IGNORE INTO latest_event SELECT ?1, ?2 "
        "WHERE NOT EXISTS (SELECT 1 FROM follow WHERE followed = ?2)",
        [(scope, row.revision_id) for row in events],
    )


def _forget(catalog: Catalog, path: str, namespace: Namespace) -> None:
    """Drop all that is known of a segment; the events that it alone had are followed no more."""
    db = catalog.db
    db.execute("DELETE FROM damage WHERE path = ?", (path,))
    key = segment_key(path)
    if not catalog.query("SELECT 1 FROM segment WHERE segment = ?", (key,)):
        return
    db.execute(
        "DELETE FROM follow WHERE revision_id IN "
        "(SELECT revision_id FROM event WHERE segment = ?1) AND revision_id NOT IN "
        "(SELECT revision_id FROM event WHERE segment <> ?1)",
        (key,),
    )
    db.execute("DELETE FROM event WHERE segment = ?", (key,))
    db.execute("DELETE FROM segment WHERE segment = ?", (key,))
    db.execute("DELETE FROM latest_event WHERE scope = ?", (namespace,))
    db.execute(
        "INSERT INTO latest_event SELECT DISTINCT scope, revision_id "
        "FROM event JOIN segment USING (segment) "
        "WHERE scope = ? AND revision_id NOT IN (SELECT followed FROM follow)",
        (namespace,),
    )


def segments_to_refold(shop: Workshop) -> set[str]:
    """All segments that are there, and all of which the catalog knows."""
    known = shop.catalog.query("SELECT path FROM segment")
    there = (path for scope in shop.objects.scopes() for path in shop.objects.segments(scope))
    return {*there, *(path for (path,) in known)}


def event_pages(catalog: Catalog) -> set[str]:
    """The pages that have events."""
    return {page for (page,) in catalog.query("SELECT DISTINCT page_id FROM event")}


def without(raw: bytes, path: str, namespace: Namespace, gone: Iterable[RevisionId]) -> bytes:
    """The bytes of a segment without some events: what erasure puts in its place, under the name
    that they get. Lines that cannot be read are left out too."""
    erased = set(gone)
    found = Segment.read(path, namespace, raw)
    return segment(p.line for p in found.lines if p.line.revision_id not in erased)
