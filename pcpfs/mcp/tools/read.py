"""`read`: a page, one of its revisions, or a symbol."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pcpfs.errors import NotFound, UsageError
from pcpfs.host.fences import whole
from pcpfs.mcp.arguments import AS_OF, BUDGET, Argument, Given
from pcpfs.mcp.found import CHANGED, label_of
from pcpfs.mcp.quoting import Quote, Rest, answer, at, holds, short
from pcpfs.mcp.room import Room, broken_citations
from pcpfs.mcp.tool import Tool
from pcpfs.model.answers import Manifest
from pcpfs.model.marks import marks
from pcpfs.model.texts import decoded
from pcpfs.provider.answering import Desk
from pcpfs.provider.candidate import Candidate, Subject
from pcpfs.provider.cutting import Text
from pcpfs.provider.naming import item_of
from pcpfs.store.references import Reference

_RANGE = re.compile(r"(\d{1,15})-(\d{0,15})", re.ASCII)


def run(room: Room, given: Given) -> str:
    """Its text, from a byte on if that is asked for."""
    wanted = item_of(given["id"], room.session.store.store_id) or given["id"]
    reference = room.session.resolve(wanted, given.pins)
    desk = room.desk(given.pins)
    quote = text_of(room, desk, wanted, reference, given)
    return answer(f"{reference.frame or reference.page}{at(given.pins)}", [quote], given.budget)


def text_of(room: Room, desk: Desk, wanted: str, reference: Reference, given: Given) -> Quote:
    """What an id means, as a quote."""
    page = desk.reader.page(reference.page)
    if page.is_source and reference.revision is None:
        frame = reference.frame
        kind = desk.reader.frame(frame).kind if frame else "file"
        candidate = Candidate(page.page_id, 0.0, frame if kind != "file" else None)
        subject = desk.subject(candidate)
        if subject is not None:
            return _source(desk, subject, wanted, kind, given)
        if given.pins.as_of is None and page.is_open and page.root_id in desk.roots:
            raise NotFound(f"{page.path} is gone since the last sync, or has lost this symbol")
    manifest, raw = room.session.read(wanted, given.pins)
    return _stored(desk, manifest, raw, wanted, given)


def _source(desk: Desk, subject: Subject, wanted: str, kind: str, given: Given) -> Quote:
    """A source as it stands in its file now, or stood then."""
    standing = subject.standing
    raw = standing.text.raw
    if subject.symbol:
        raw = raw[subject.symbol.bytes[0] : subject.symbol.bytes[1]]
    members = {
        "id": subject.candidate.frame_id or standing.page.page_id,
        "page": standing.page.page_id if subject.symbol else None,
        "revision": None if standing.has_changed else short(standing.span.revision_id),
        "cite": label_of(desk, standing, subject),
        "kind": kind,
        "marks": "generated" if standing.page.generated else None,
        "scope": standing.page.scope,
        "lines": "{}-{}".format(*subject.symbol.lines) if subject.symbol else None,
        "valid": holds(subject.valid_from, subject.valid_to),
        "state": CHANGED if standing.has_changed else None,
    }
    return _part(members, raw, wanted, given, ())


def _stored(desk: Desk, page: Manifest, raw: bytes, wanted: str, given: Given) -> Quote:
    status = page.lifecycle_status
    members = {
        "id": page.page_id,
        "revision": page.revision_id,
        "heads": " ".join(page.heads) if len(page.heads) > 1 else None,
        "cite": f"{page.title} ({page.scope})" if page.root is None else f"{page.root}/{page.path}",
        "kind": page.kind,
        "marks": marks(page) or None,
        "scope": page.scope,
        "type": page.payload.media_type if page.payload else None,
        "by": page.created_by,
        "valid": holds(page.valid_from, page.valid_to),
        "state": None if status == "active" else status,
    }
    after = [str(broken) for broken in broken_citations(desk, page.page_id)]
    if len(page.heads) > 1:
        after.append(
            "conflict: this page has several heads. read each (id=PAGE@REV), then revise with one "
            f'text for all: expected_revision_id="{",".join(map(short, page.heads))}"'
        )
    return _part(members, raw, wanted, given, tuple(after))


def _part(
    members: Mapping[str, object], raw: bytes, wanted: str, given: Given, after: tuple[str, ...]
) -> Quote:
    """The part that is asked for, as text (bytes are those of its UTF-8); of what is no text only
    the size."""
    if not Text(raw).is_readable:
        return Quote({**members, "state": f"no text, {len(raw)} bytes"}, "", after)
    text = whole(decoded(raw)).encode()
    start, end = (_boundary(text, at) for at in _range(given.get("bytes"), len(text)))
    if "bytes" in given:
        members = {**members, "bytes": f"{start}-{end} of {len(text)}"}
    return Quote(members, text[start:end].decode(), after, _rest(wanted, start))


def _boundary(text: bytes, at: int) -> int:
    """The start of the character that this byte belongs to."""
    while 0 < at < len(text) and text[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _rest(wanted: str, start: int) -> Rest:
    return lambda part: f'go on with read id={wanted} bytes="{start + len(part.encode())}-"'


def _range(given: str | None, size: int) -> tuple[int, int]:
    if given is None:
        return 0, size
    found = _RANGE.fullmatch(given)
    start = int(found[1]) if found else 0
    end = int(found[2]) if found and found[2] else max(start, size)
    if found is None or start > end:
        raise UsageError(f'bytes is a range such as "4096-8192" or "4096-", not {given[:40]!r}')
    return min(start, size), min(end, size)


TOOL = Tool(
    "read",
    "Read a page, PAGE@REV, path, symbol or pcpfs:// uri; sources as they are now.",
    (
        Argument("id", required=True),
        Argument("bytes", "A-B or A-"),
        AS_OF,
        BUDGET,
    ),
    run,
)
