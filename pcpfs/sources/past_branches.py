"""Which commits of a source's branches are to be walked beside its line; pure, no I/O."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from pcpfs.git import CommitId
from pcpfs.git.walk import FirstParent, Moment
from pcpfs.model.branches import Aside, Branches, Fork
from pcpfs.model.instants import Instant
from pcpfs.model.names import escaped
from pcpfs.sources.past_plan import clamped
from pcpfs.store.branches import by_name


@dataclass(frozen=True, slots=True)
class Piece:
    """Commits that follow each other by first parents, oldest first; `base` is the first parent of
    the first of them, None where it has none."""

    base: CommitId | None
    commits: tuple[CommitId, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What git says of the commits that lead to the branches and to the tip of the line, and what
    it cannot say: nothing is known of the parents of those in `shallow`, and nothing is asked of
    what a branch was before `since`."""

    tips: Mapping[str, CommitId]
    line_tip: CommitId
    parents: Mapping[CommitId, FirstParent]
    shallow: Container[str] = ()
    since: Instant | None = None


def branches_of(known: Known) -> tuple[Branches, list[Piece]]:
    """What is beside the line, and the way through it: each commit once, after its parent.

    Each branch is followed by first parents from its tip until it meets the line, a commit that is
    walked already, or what nothing is known of.
    """
    line = _line(known)
    places = {moment.commit: place for place, moment in enumerate(line)}
    times = list(clamped(line))
    commits: dict[str, Aside] = {}
    forks: dict[str, Fork] = {}
    pieces: list[Piece] = []
    for ref in sorted(known.tips, key=by_name):
        run: list[CommitId] = []
        at: CommitId | None = known.tips[ref]
        if at not in known.parents:
            continue  # git does not have it
        while at is not None and at not in places and at not in commits and _is_told(known, at):
            run.append(at)
            at = known.parents[at].parent
        run.reverse()
        if at is not None and at in places:
            forks[at] = _fork(line, times, places[at])
        if run:
            pieces.append(Piece(at, tuple(run)))
        earliest = _time_of(known, at, commits, forks)
        moments = (Moment(commit, known.parents[commit].seconds) for commit in run)
        for commit, since in zip(run, clamped(moments, earliest), strict=True):
            commits[commit] = Aside(at, since)
            at = commit
    return Branches({escaped(r): t for r, t in known.tips.items()}, commits, forks), pieces


def without(pieces: list[Piece], recorded: Container[str]) -> list[Piece]:
    """The pieces that lead through what is not recorded yet."""
    found = []
    for piece in pieces:
        base, run = piece.base, list[CommitId]()
        for commit in piece.commits:
            if commit in recorded:
                found += [Piece(base, tuple(run))] if run else []
                base, run = commit, []
            else:
                run.append(commit)
        found += [Piece(base, tuple(run))] if run else []
    return found


def _line(known: Known) -> list[Moment]:
    line, at = [], known.line_tip
    while True:
        parent, seconds = known.parents[at]
        line.append(Moment(at, seconds))
        if parent is None:
            return line[::-1]
        at = parent


def _is_told(known: Known, commit: CommitId) -> bool:
    """Whether it is known what a commit did, and asked for."""
    if commit in known.shallow:
        return False
    return known.since is None or known.since.microseconds < _microseconds(known, commit)


def _microseconds(known: Known, commit: CommitId) -> int:
    (at,) = clamped([Moment(commit, known.parents[commit].seconds)])
    return at.microseconds


def _time_of(
    known: Known,
    commit: CommitId | None,
    commits: Mapping[str, Aside],
    forks: Mapping[str, Fork],
) -> Instant | None:
    """Since when holds what a run of commits follows; they never hold before it."""
    if commit is None:
        return None
    if commit in commits:
        return commits[commit].at
    return forks[commit].at if commit in forks else Instant(_microseconds(known, commit))


def _fork(line: list[Moment], times: list[Instant], place: int) -> Fork:
    first = place
    while first and times[first - 1] == times[place]:
        first -= 1
    return Fork(times[place], tuple(moment.commit for moment in line[first : place + 1]))
