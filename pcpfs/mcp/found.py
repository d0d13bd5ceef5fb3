"""Search results as quotes: what they say now, not what the store saw last."""

from __future__ import annotations

from pcpfs.mcp.quoting import Quote, Rest, holds, short
from pcpfs.mcp.room import broken_citations
from pcpfs.model.answers import SearchHit
from pcpfs.model.marks import marks
from pcpfs.provider.answering import Desk
from pcpfs.provider.candidate import Candidate, Subject
from pcpfs.provider.standing import Standing
from pcpfs.search.excerpt import WINDOW

CHANGED = "changed since the last sync; shown as it is now"
GONE = "gone since the last sync"


def quote_of(desk: Desk, hit: SearchHit, *, whole: bool = False) -> Quote:
    """A hit, with the lines to look at, or (of a symbol) all of them. A source is looked at again:
    what has changed is shown as it stands, what is gone is not shown."""
    if hit.root is None:
        return _page(desk, hit)
    subject = desk.subject(Candidate(hit.page_id, hit.score, hit.frame_id, hit.lines))
    if subject is None:
        return Quote({**_members(hit), "state": GONE}, "")
    if not subject.standing.has_changed:
        text = desk.framer.whole(subject).content if whole and subject.symbol else hit.excerpt
        return Quote(_members(hit), text, rest=_rest(hit))
    return Quote(_changed(desk, hit, subject), _lines(desk, subject, whole=whole), rest=_rest(hit))


def _page(desk: Desk, hit: SearchHit) -> Quote:
    broken = tuple(map(str, broken_citations(desk, hit.page_id)))
    state = hit.lifecycle_status
    members = {**_members(hit), "state": None if state == "active" else state}
    return Quote(members, hit.excerpt, broken, _rest(hit))


def _members(hit: SearchHit) -> dict[str, object]:
    return {
        "id": hit.frame_id or hit.page_id,
        "page": hit.page_id if hit.frame_id else None,
        "revision": short(hit.revision_id),
        "cite": hit.citation_label or hit.title,
        "kind": hit.kind,
        "marks": marks(hit) or None,
        "scope": hit.scope,
        "lines": f"{hit.lines[0]}-{hit.lines[1]}" if hit.lines else None,
        "valid": holds(hit.valid_from, hit.valid_to),
    }


def _changed(desk: Desk, hit: SearchHit, subject: Subject) -> dict[str, object]:
    symbol, standing = subject.symbol, subject.standing
    return {
        **_members(hit),
        "revision": None,
        "cite": label_of(desk, standing, subject),
        "lines": f"{symbol.lines[0]}-{symbol.lines[1]}" if symbol else None,
        "valid": holds(subject.valid_from, subject.valid_to),
        "state": CHANGED,
    }


def label_of(desk: Desk, standing: Standing, subject: Subject | None = None) -> str:
    """How a page, or a symbol in it, is cited."""
    return desk.framer.wording(standing, subject.symbol if subject else None)[1]


def _lines(desk: Desk, subject: Subject, *, whole: bool) -> str:
    if subject.symbol:
        text = desk.framer.whole(subject).content
        return text if whole else "".join(text.splitlines(keepends=True)[:WINDOW])
    lines = subject.candidate.lines
    cut = subject.standing.text.lines(lines) if lines else None
    return cut.content if cut else ""


def _rest(hit: SearchHit) -> Rest:
    return lambda part: f"read id={hit.frame_id or hit.page_id} for all of it"
