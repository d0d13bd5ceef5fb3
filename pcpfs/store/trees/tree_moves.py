"""Which new file in `tree/` is one that vanished, and when so many vanish that it may be a mishap.
Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace
from pcpfs.store.local import Base
from pcpfs.store.trees.tree_state import Knowledge, are_similar, lines_of, parted

_MOST_COMPARED = 10_000
"""More pairs of vanished and new files than this are matched by equal bytes only."""

_MANY = 10
_SHARE = 10


def moves(
    gone: Mapping[str, Base], new: Mapping[str, Digest], store: Knowledge
) -> list[tuple[str, str]]:
    """Old and new path of each file that was moved: equal bytes, else the only new file with at
    least 60 % equal lines, which is like no other that vanished."""
    exact = _equal(gone, new)
    taken = {path for _, path in exact}
    left = {path: base for path, base in gone.items() if path not in dict(exact)}
    rest = {path: digest for path, digest in new.items() if path not in taken}
    return sorted([*exact, *_similar(left, rest, store)])


def _equal(gone: Mapping[str, Base], new: Mapping[str, Digest]) -> list[tuple[str, str]]:
    """Pairs with equal bytes: in the same scope first, then those whose paths end alike."""
    by_digest: dict[Digest, list[str]] = {}
    for path, digest in new.items():
        by_digest.setdefault(digest, []).append(path)
    pairs = [
        (parted(was)[0] != parted(path)[0], -_common_end(was, path), was, path)
        for was, base in gone.items()
        for path in by_digest.get(base.digest, ())
    ]
    found: dict[str, str] = {}
    for _, _, was, path in sorted(pairs):
        if was not in found and path not in found.values():
            found[was] = path
    return list(found.items())


def _common_end(one: str, other: str) -> int:
    """How many parts of two paths are equal, from the end."""
    parts = list(zip(reversed(one.split("/")), reversed(other.split("/")), strict=False))
    return next((n for n, (a, b) in enumerate(parts) if a != b), len(parts))


def _similar(
    gone: Mapping[str, Base], new: Mapping[str, Digest], store: Knowledge
) -> list[tuple[str, str]]:
    if not gone or len(gone) * len(new) > _MOST_COMPARED:
        return []
    old = {p: lines_of(store.payload(parted(p)[0], base.digest)) for p, base in gone.items()}
    now = {path: lines_of(store.text(path)) for path in new}
    pairs = [
        (was, path)
        for was in old
        for path in now
        if parted(was)[0] == parted(path)[0] and are_similar(old[was], now[path])
    ]
    return _unambiguous(pairs)


def _unambiguous(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    olds, news = Counter(was for was, _ in pairs), Counter(path for _, path in pairs)
    return [(was, path) for was, path in pairs if olds[was] == 1 and news[path] == 1]


def removed_at_once(gone: Iterable[str], laid: Iterable[str]) -> list[str]:
    """The vanished files of scopes that lost more than 10 files and more than 10 % of all."""
    lost: dict[Namespace, list[str]] = {}
    for path in gone:
        lost.setdefault(parted(path)[0], []).append(path)
    laid_in = Counter(parted(path)[0] for path in laid) if lost else Counter[Namespace]()
    return [
        path
        for scope, paths in lost.items()
        if len(paths) > _MANY and len(paths) * _SHARE > laid_in[scope]
        for path in paths
    ]
