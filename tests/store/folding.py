"""Sets of changes, made by hand: small names for the ids that tests talk about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pcpfs.model.changes import Change, Closed, Event, Observed
from pcpfs.model.ids import ChangeId, CloneId, Digest, FrameId, PageId, RevisionId, base32
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Payload, Principal, Revision
from pcpfs.store.folding.fold import PageState, fold_page
from pcpfs.store.folding.timeline import Observation

SCOPE = Namespace("project:a")
PAGE = PageId("pg_" + "0" * 26)
CLONE = CloneId("cl_" + "0" * 26)
ANNA = Principal("user:anna")
_START = Instant.read("2026-01-01").microseconds


def at(seconds: float) -> Instant:
    """So many seconds after the start of 2026."""
    return Instant(_START + int(seconds * 1_000_000))


def seconds(moment: Instant | None) -> float | None:
    """The inverse of `at`."""
    return None if moment is None else (moment.microseconds - _START) / 1_000_000


def rev(name: str) -> RevisionId:
    return RevisionId.of(name.encode())


def frame(name: str) -> FrameId:
    return FrameId("fr_" + base32(Digest.of(name.encode()).encode()[7:23]))


class History:
    """Changes in the order in which tests write them; each may come after any earlier ones."""

    def __init__(self) -> None:
        self.changes: dict[ChangeId, Change] = {}

    def add(self, when: float, *events: Event, after: Sequence[ChangeId] | None = None) -> ChangeId:
        """A change; by default after the one before it."""
        known = list(self.changes)
        after = known[-1:] if after is None else after
        body = Change(SCOPE, PAGE, at(when), CLONE, ANNA, "test", tuple(sorted(after)), events)
        change = ChangeId.of(body.encode())
        self.changes[change] = body
        return change

    def fold(self) -> PageState:
        return fold_page(PAGE, SCOPE, self.changes)


def fold(changes: Mapping[ChangeId, Change]) -> PageState:
    return fold_page(PAGE, SCOPE, changes)


def saw(text: str, since: float) -> Observed:
    return Observed(rev(text), at(since), "mtime", "python-1")


def closed(text: str, when: float, *frames: str, reason: str = "gone") -> Closed:
    part = tuple(map(frame, frames)) if frames else None
    return Closed(rev(text), at(when), reason, part)


def intervals(timeline: Sequence[Observation]) -> list[tuple[RevisionId, float, float | None]]:
    return [(o.revision, seconds(o.valid_from) or 0.0, seconds(o.valid_to)) for o in timeline]


def envelope(text: str, **given: Instant | None) -> Revision:
    """An authored envelope whose payload is that text."""
    payload = Payload("text/plain", Digest.of(text.encode()), len(text))
    return Revision(PAGE, SCOPE, payload, salt="00", **given)  # type: ignore[arg-type]
