"""Verdicts: whether what a host holds is still what stands there, told from the actual bytes."""

from __future__ import annotations

from pcpfs.errors import PcpfsError
from pcpfs.model.cgp import Identity, Status, Verdict
from pcpfs.model.cgp_rules import content_digest
from pcpfs.provider import naming
from pcpfs.provider.answering import Desk
from pcpfs.provider.candidate import Candidate, Subject
from pcpfs.provider.framing import signature_text
from pcpfs.provider.naming import FrameName


def judge(desk: Desk, identity: Identity) -> Verdict:
    """One verdict; without a digest nothing can be said (D4), and silence is not validity (V3)."""
    name = FrameName.parse(identity.frame_id)
    if name is None or identity.content_digest is None:
        return Verdict(frame=identity, status=str(Status.UNKNOWN))
    try:
        known = _is_known(desk, name)
        content = _content(desk, name) if known else None
    except PcpfsError:
        return Verdict(frame=identity, status=str(Status.UNKNOWN))
    if content is None:
        return Verdict(frame=identity, status=str(Status.GONE if known else Status.UNKNOWN))
    now = content_digest(content)
    if now == identity.content_digest:
        return Verdict(frame=identity, status=str(Status.VALID))
    return Verdict(frame=identity, status=str(Status.STALE), replacement_digest=now)


def _is_known(desk: Desk, name: FrameName) -> bool:
    """Whether there ever was such a page or symbol that this principal may read."""
    page = desk.reader.catalog.page(_page_of(desk, name.base) or "")
    return page is not None and page.scope in desk.readable


def _page_of(desk: Desk, base: str) -> str | None:
    if base.startswith("pg_"):
        return base
    rows = desk.reader.catalog.frames("frame_id = ?", (base,))
    return rows[-1].page_id if rows else None


def _content(desk: Desk, name: FrameName) -> str | None:
    """What a frame of that id holds now; None if it is gone."""
    page = _page_of(desk, name.base) or ""
    frame = name.base if name.base.startswith("fr_") else None
    candidate = Candidate(page, 0.0, frame)
    if name.revision is None:
        subject = desk.subject(candidate)
    else:
        subject = desk.pinned(candidate, name.revision)
    return None if subject is None else _part(desk, name, subject)


def _part(desk: Desk, name: FrameName, subject: Subject) -> str | None:
    if name.part == naming.GRAPH:
        return desk.around.text(subject.standing, desk.framer)
    if name.part == naming.COMPACT:
        return signature_text(subject.symbol) if subject.symbol else None
    if name.lines is None:
        return desk.framer.whole(subject).content
    cut = subject.standing.text.lines(name.lines)
    return None if cut is None else cut.content
