"""Where the space of a store goes: every file that belongs to it, counted once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

from pcpfs.model.names import SCOPE_FOLDERS, Namespace
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog_file import CATALOG
from pcpfs.store.session import Session
from pcpfs.store.upkeeping.maintain import ThinReport

_BLOCK = 512
_OF_SCOPE = {"scope": "scope changes", "erased": "erasure receipts"}
_DISPOSABLE = {"index": "text indexes", "ledger": "kept threads"}

Kind = tuple[Namespace | None, str]


@dataclass(frozen=True, slots=True)
class Size:
    """So many files of one kind, in a scope or (None) of the whole store: `bytes` is what they
    hold, `disk` what the file system gives them and their folders."""

    kind: str
    scope: Namespace | None
    files: int
    bytes: int
    disk: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """All files of a store by kind, the largest first; and the sums. `thinning` is what thinning
    would let go now, `thinning_later` what it will within a week if no more is saved."""

    parts: tuple[Size, ...]
    files: int
    bytes: int
    disk: int
    thinning: ThinReport | None = None
    thinning_later: ThinReport | None = None


def sizes(session: Session) -> Sizes:
    """Looks at the stat of every file of the store, git's own folder included wherever it lies, and
    opens none. NotPermitted for anybody but the owner. A file with several names counts once."""
    session.authority.require_owner("see where the space of the store goes")
    counts: dict[Kind, Counter[str]] = {}
    seen: set[tuple[int, int]] = set()
    for (scope, kind), stat in _files(session):
        if (stat.st_dev, stat.st_ino) not in seen:
            seen.add((stat.st_dev, stat.st_ino))
            of = counts.setdefault((scope, kind), Counter())
            held = 0 if S_ISDIR(stat.st_mode) else stat.st_size
            of.update(files=not S_ISDIR(stat.st_mode), bytes=held, disk=stat.st_blocks * _BLOCK)
    parts = [
        Size(kind, scope, of["files"], of["bytes"], of["disk"])
        for (scope, kind), of in counts.items()
    ]
    parts.sort(key=lambda part: (-part.disk, part.scope or "", part.kind))
    total = sum(counts.values(), Counter[str]())
    return Sizes(tuple(parts), total["files"], total["bytes"], total["disk"])


def _files(session: Session) -> Iterator[tuple[Kind, os.stat_result]]:
    store, git = session.store, session.store.git
    authored = _authored(session)
    within = {folder.resolve() for folder in (git.common_dir, git.git_dir)}
    yield from _below(store.path, lambda path: _kind(path, authored), within)
    for folder in sorted(within):
        yield from _below(folder, _kind_in_git, within - {folder})


def _below(
    folder: Path, kind: Callable[[str], Kind], without: set[Path]
) -> Iterator[tuple[Kind, os.stat_result]]:
    """The files below a folder, and it and its folders as files without a name; what goes away
    meanwhile is not counted."""
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if Path(at, name).resolve() not in without]
        start = os.path.relpath(at, folder).replace(os.sep, "/") + "/"
        for name in ("", *names):
            with suppress(FileNotFoundError):
                yield kind(start.removeprefix("./") + name), os.lstat(f"{at}/{name}")


def _kind(path: str, authored: frozenset[str]) -> Kind:
    """What a file of the store is, but for git's own."""
    first, *parts = path.split("/")
    if first == layout.SCOPES:
        for place, part in enumerate(parts[:-1]):
            if part in SCOPE_FOLDERS:
                scope = layout.namespace_of("/".join((first, *parts[:place])))
                is_source = part == "payloads" and parts[-1] not in authored
                return scope, "source payloads" if is_source else _OF_SCOPE.get(part, part)
    if first == layout.DISPOSABLE:
        is_catalog = parts[0].startswith(CATALOG)
        return None, "catalog" if is_catalog else _DISPOSABLE.get(parts[0], "other")
    return None, "git, other" if first == ".git" else "other"


def _kind_in_git(path: str) -> Kind:
    first, _, rest = path.partition("/")
    if first == layout.LOCAL:
        return None, "local"
    if first != "objects":
        return None, "git, other"
    return None, "git packs" if rest.startswith("pack/") else "git loose objects"


def _authored(session: Session) -> frozenset[str]:
    """The names of payloads that pages other than those of sources have."""
    rows = session.store.catalog.query(
        "SELECT DISTINCT revision.digest FROM revision JOIN page USING (page_id) "
        "WHERE NOT is_source AND revision.digest IS NOT NULL"
    )
    return frozenset(digest.partition(":")[2] for (digest,) in rows)
