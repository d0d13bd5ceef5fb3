"""Which part of a source's history is to be walked now, given how far it is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from pcpfs.git import CommitId, Repository
from pcpfs.git.walk import Line, line_to
from pcpfs.model.instants import Instant
from pcpfs.model.roots import Walked
from pcpfs.sources.past_plan import clamped


@dataclass(frozen=True, slots=True)
class Route:
    """A walk: from `base` (all of its files, where `is_whole`) to `tip`.

    `at` tells since when each commit of it holds. `left` leads from `base` along commits that are
    recorded and no longer on the line, to `left_tip`; of a whole walk everything recorded that is
    not in `on_line` is such, unless it lies `before_line`. `start` is where the known history
    begins, and `cut` why.
    """

    base: CommitId
    tip: CommitId
    at: dict[CommitId, Instant]
    is_whole: bool
    start: CommitId
    start_at: Instant
    cut: str
    on_line: frozenset[str]
    before_line: Instant | None
    left: frozenset[str] = frozenset()
    left_tip: CommitId | None = None


def followed(repository: Repository, known: Walked | None, *, anew: bool) -> str | None:
    """The ref whose line is walked; None: HEAD is detached. That of the branch that is checked out
    (or being rebased), as long as none is followed, or to begin anew; later that one."""
    if known is not None and not anew and known.branch and repository.commit_of(known.branch):
        return known.branch
    current = repository.head_ref() or repository.rebased_branch()
    if current is None and known is not None and known.branch:
        return known.branch if repository.commit_of(known.branch) else None
    return current


def route(
    repository: Repository, known: Walked | None, tip: CommitId, since: Instant | None
) -> Route:
    """The walk that brings what is recorded up to `tip`."""
    line = line_to(repository, tip)
    start, cut = _start(line, known, since)
    places = {moment.commit: place for place, moment in enumerate(line.moments)}
    base, left, left_tip = _base(repository, known, places, start)
    place = start if base is None else places[base]
    earliest = known.tip_at if known and base is not None and base == known.tip else None
    times = list(clamped(line.moments))
    later = list(clamped(line.moments[place:], earliest or times[place]))
    moments = line.moments[place:]
    begins = known if known and base is not None else None
    return Route(
        base=line.moments[place].commit,
        tip=tip,
        at={moment.commit: at for moment, at in zip(moments, later, strict=True)},
        is_whole=base is None,
        start=CommitId(begins.start) if begins and begins.start else line.moments[start].commit,
        start_at=begins.start_at if begins and begins.start_at else times[start],
        cut=begins.cut if begins else cut,
        on_line=frozenset(places),
        before_line=times[0] if line.is_cut else None,
        left=left,
        left_tip=left_tip,
    )


def _start(line: Line, known: Walked | None, since: Instant | None) -> tuple[int, str]:
    """Where the walk of a whole line begins, and why there: what holds at `since` is told by the
    last commit before it. What is recorded once stays so."""
    times = list(clamped(line.moments))
    first = 0
    if since is not None:
        first = max((n for n, at in enumerate(times) if at <= since), default=0)
    if known is not None and known.start is not None:
        here = [n for n, moment in enumerate(line.moments) if moment.commit == known.start]
        first = min([first, *here]) if known.cut == "since" or since is not None else 0
    return first, "since" if first else "shallow" if line.is_cut else ""


def _base(
    repository: Repository, known: Walked | None, places: dict[CommitId, int], start: int
) -> tuple[CommitId | None, frozenset[str], CommitId | None]:
    """The last recorded commit that is still on the line, the recorded ones after it that are not,
    and the last of those; None for the first where all has to be walked."""
    if known is None or known.tip is None or known.start is None:
        return None, frozenset(), None
    if known.start in places and places[CommitId(known.start)] > start:
        return None, frozenset(), None
    tip = CommitId(known.tip)
    if tip in places:
        return tip, frozenset(), None
    if repository.commit_of(tip) is None:
        return None, frozenset(), None
    before = [moment.commit for moment in line_to(repository, tip).moments]
    common = [n for n, commit in enumerate(before) if places.get(commit, -1) >= start]
    if not common:
        return None, frozenset(), None
    fork = common[-1]
    return before[fork], frozenset(before[fork + 1 :]), tip
