"""What has to change so that the store says what the source holds; pure, no I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pcpfs.model.ids import Digest, PageId
from pcpfs.sources.scanned import Candidate, Prefixes, Reason, Scan

_EMPTY = Digest.of(b"")


@dataclass(frozen=True, slots=True)
class Known:
    """A source page: the digest of the bytes in force, or None while it is closed."""

    page: PageId
    digest: Digest | None


class Novelty(StrEnum):
    """What an observation means to the page of its path."""

    NEW = "new"
    CHANGED = "changed"
    RESTORED = "restored"


GONE = "gone"
MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Observe:
    """These bytes are at the path now. `moved_from` is the path that they were at before."""

    file: Candidate
    novelty: Novelty
    moved_from: str | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """What the page said holds no longer. `reason` is `gone`, `moved` or a scan's Reason."""

    path: str
    page: PageId
    reason: str
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """All sorted by path. `unseen` are known paths of which nothing could be learned."""

    observe: tuple[Observe, ...]
    close: tuple[Close, ...]
    unchanged: tuple[str, ...]
    unseen: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.observe or self.close)


def plan(
    known: Mapping[str, Known], scan: Scan, git_renames: Mapping[str, str] | None = None
) -> Plan:
    """Compare what is known with a settled scan.

    Only paths that the scan covers are judged, and none below what was unreadable. `git_renames`
    (old path → new path) decides where equal bytes do not.
    """
    found = {file.path: file for file in scan.files}
    differing = [file for file in scan.files if _differs(file, known.get(file.path))]
    missing, unseen = _missing(known, scan, found)
    skipped = Prefixes(skip.path for skip in scan.skipped)
    vanished = {path: digest for path, digest in missing.items() if path not in skipped}
    arrived = {file.path: file for file in differing if not _is_open(known.get(file.path))}
    moves = _moves(vanished, arrived, git_renames or {})
    origins = {new: old for old, new in moves.items()}
    return Plan(
        observe=tuple(_observation(f, known.get(f.path), origins.get(f.path)) for f in differing),
        close=_closings(known, missing, scan, moves),
        unchanged=tuple(sorted(found.keys() - {file.path for file in differing})),
        unseen=unseen,
    )


def _differs(file: Candidate, known: Known | None) -> bool:
    if file.digest is None:
        raise ValueError(f"{file.path!r} has to be read before a plan can be made")
    return known is None or known.digest != file.digest


def _is_open(known: Known | None) -> bool:
    return known is not None and known.digest is not None


def _observation(file: Candidate, known: Known | None, origin: str | None) -> Observe:
    if known is None:
        return Observe(file, Novelty.NEW, origin)
    return Observe(file, Novelty.CHANGED if _is_open(known) else Novelty.RESTORED, origin)


def _missing(
    known: Mapping[str, Known], scan: Scan, found: Mapping[str, Candidate]
) -> tuple[dict[str, Digest], tuple[str, ...]]:
    """Open pages whose path holds no file to take in, and the paths that nobody could look at."""
    covered, unreadable = Prefixes(scan.covered), Prefixes(s.path for s in scan.unreadable)
    missing: dict[str, Digest] = {}
    unseen = []
    for path in sorted(path for path in known if path not in found and path in covered):
        digest = known[path].digest
        if path in unreadable:
            unseen.append(path)
        elif digest is not None:
            missing[path] = digest
    return missing, tuple(unseen)


def _closings(
    known: Mapping[str, Known],
    missing: Iterable[str],
    scan: Scan,
    moves: Mapping[str, str],
) -> tuple[Close, ...]:
    reasons: dict[str, Reason] = {skip.path: skip.reason for skip in scan.skipped}
    holders = Prefixes(reasons)
    closings = []
    for path in missing:
        target, holder = moves.get(path), holders.holder(path)
        reason = MOVED if target else GONE if holder is None else reasons[holder].value
        closings.append(Close(path, known[path].page, reason, target))
    return tuple(closings)


def _moves(
    vanished: Mapping[str, Digest],
    arrived: Mapping[str, Candidate],
    git_renames: Mapping[str, str],
) -> dict[str, str]:
    """Old path → new path: equal bytes without another candidate, else what git says."""
    moves: dict[str, str] = {}
    sources, targets = _by_digest(vanished), _by_digest({p: f.digest for p, f in arrived.items()})
    for digest, olds in sources.items():
        moves |= _pairs(olds, targets.get(digest, []), by_name_only=digest == _EMPTY)
    taken = set(moves.values())
    for old, new in sorted(git_renames.items()):
        if old in vanished and new in arrived and old not in moves and new not in taken:
            moves[old] = new
            taken.add(new)
    return moves


def _by_digest(paths: Mapping[str, Digest | None]) -> dict[Digest, list[str]]:
    groups: dict[Digest, list[str]] = defaultdict(list)
    for path, digest in paths.items():
        if digest is not None:
            groups[digest].append(path)
    return groups


def _pairs(olds: Sequence[str], news: Sequence[str], by_name_only: bool) -> dict[str, str]:
    """Pair equal files: those that share most of the end of their path first, then the name, then
    (not for empty files, which are all alike) whatever is the only one left on both sides."""
    pairs: dict[str, str] = {}
    left, right = set(olds), set(news)
    depths = {path.count("/") + 1 for path in news} if olds and news else set()
    for depth in range(max(depths, default=0), -1 if not by_name_only else 0, -1):
        if not (left and right):
            break
        ours, theirs = _by_ending(left, depth), _by_ending(right, depth)
        for ending, paths in ours.items():
            others = theirs.get(ending, [])
            if len(paths) == 1 and len(others) == 1:
                pairs[paths[0]] = others[0]
                left.discard(paths[0])
                right.discard(others[0])
    return pairs


def _by_ending(paths: Iterable[str], depth: int) -> dict[tuple[str, ...], list[str]]:
    """Group paths by their last `depth` parts; those that have fewer are left out."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in paths:
        parts = path.split("/")
        if len(parts) >= depth:
            groups[tuple(parts[len(parts) - depth :])].append(path)
    return groups
