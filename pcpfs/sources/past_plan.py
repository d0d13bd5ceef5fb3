"""What the commits of a source's history mean to the pages of its paths; pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pcpfs.git import CommitId, ObjectId
from pcpfs.git.walk import Moment
from pcpfs.model.ids import Digest, PageId
from pcpfs.model.instants import Instant
from pcpfs.sources.past_rules import State
from pcpfs.sources.plan import Known, plan
from pcpfs.sources.scanned import Candidate, Reason, Scan, Skipped, Stat

_NO_STAT = Stat(0, 0, 0, 0)
_EARLIEST = Instant.read("0001-01-01").microseconds
_LATEST = Instant.read("9999-12-31T23:59:59Z").microseconds


class Held(NamedTuple):
    """The content of a blob that is taken in."""

    digest: Digest
    size: int


Contents = Mapping[ObjectId, Held | Skipped]
"""What reading a blob came to: its content, or why it is not taken in."""


@dataclass(frozen=True, slots=True)
class Step:
    """A commit on the line: since when it holds, by whom, and which paths are something else after
    it. `renames` leads from an old path to its new one, where git says so."""

    commit: CommitId
    author: str
    at: Instant
    states: Mapping[str, tuple[State, State]]
    renames: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Told:
    """What one commit says of one path: these bytes are there, or (`blob` None) none are, for a
    reason. `moved_from` and `moved_to` are paths; `was` is the blob that was there before, if it
    was taken in."""

    step: Step
    blob: ObjectId | None
    reason: str = ""
    moved_from: str | None = None
    moved_to: str | None = None
    was: ObjectId | None = None


def clamped(moments: Iterable[Moment], earliest: Instant | None = None) -> Iterator[Instant]:
    """Since when each commit of a line holds: its committer's time, but never before the commit
    that it follows, nor outside of the calendar."""
    last = _EARLIEST if earliest is None else earliest.microseconds
    for moment in moments:
        last = max(last, min(moment.seconds * 1_000_000, _LATEST))
        yield Instant(last)


def blobs_of(steps: Iterable[Step]) -> dict[ObjectId, str]:
    """The blobs that have to be read to know what the steps mean, each with a path of it."""
    return {
        state: path
        for step in steps
        for path, states in step.states.items()
        for state in states
        if isinstance(state, ObjectId)
    }


def told(steps: Sequence[Step], contents: Contents) -> dict[str, list[Told]]:
    """What the steps say of each path, in their order."""
    by_path: dict[str, list[Told]] = {}
    for step in steps:
        for path, said in _told_by(step, contents):
            by_path.setdefault(path, []).append(said)
    return by_path


def _told_by(step: Step, contents: Contents) -> Iterator[tuple[str, Told]]:
    """As if the paths that the commit touched had been scanned before and after it."""
    known, files, skipped = {}, [], []
    held: dict[str, ObjectId] = {}
    for path, (before, after) in step.states.items():
        old, now = _settled(path, before, contents), _settled(path, after, contents)
        if isinstance(before, ObjectId) and isinstance(old, Held):
            held[path] = before
        known[path] = Known(_NOBODY, old.digest if isinstance(old, Held) else None)
        if isinstance(now, Held):
            files.append(Candidate(path, _NO_STAT, now.digest))
        elif now is not None:
            skipped.append(now)
    found = Scan(tuple(files), tuple(skipped), tuple(step.states))
    todo = plan(known, found, step.renames)
    for close in todo.close:
        was = held.get(close.path)
        yield close.path, Told(step, None, close.reason, moved_to=close.moved_to, was=was)
    for observe in todo.observe:
        blob = step.states[observe.file.path][1]
        assert isinstance(blob, ObjectId), "what is observed has a blob"
        was = held.get(observe.file.path)
        yield observe.file.path, Told(step, blob, moved_from=observe.moved_from, was=was)


def _settled(path: str, state: State, contents: Contents) -> Held | Skipped | None:
    if not isinstance(state, ObjectId):
        return state
    found = contents.get(state)
    if found is None:
        return Skipped(path, Reason.LACKING, "git does not have it")
    return replace(found, path=path) if isinstance(found, Skipped) else found


_NOBODY = PageId("pg_" + "0" * 26)
"""Pages have no part in this: paths tell them apart."""
