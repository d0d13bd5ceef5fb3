"""What killed processes leave behind: never where people or git look, and never in the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pcpfs.disk import LITTER
from pcpfs.store.store import Store

_CRASHED = "fast_import_crash_"
_GITS_OWN = ("tmp_", ".tmp-", "incoming-")
_LONG_MICROSECONDS = 3_600_000_000


def litter(store: Store) -> tuple[Path, ...]:
    """Files and folders that nobody will ever finish, by path; only under the writer's lock.

    What may be in the making without that lock (a catalog, an object of a person's git) counts
    when nobody has touched it for an hour.
    """
    git = store.git.common_dir
    ours = [*_named(git, _CRASHED), *_named(store.local_folder, LITTER)]
    others = [*_named(store.disposable, LITTER), *_gits_own(git / "objects")]
    since = store.clock.now().microseconds - _LONG_MICROSECONDS
    return tuple(sorted([*ours, *(path for path in others if _is_older(path, since))]))


def _gits_own(objects: Path) -> Iterator[Path]:
    """Unfinished objects and packs, and folders of objects that came in together."""
    yield from _named(objects, *_GITS_OWN)
    for folder in sorted(path for path in objects.iterdir() if path.is_dir()):
        if not folder.name.startswith(_GITS_OWN):
            yield from _named(folder, *_GITS_OWN)


def _named(folder: Path, *signs: str) -> list[Path]:
    names = os.listdir(folder) if folder.is_dir() else []
    return [folder / name for name in names if name.startswith(signs)]


def _is_older(path: Path, since: int) -> bool:
    try:
        return path.lstat().st_mtime_ns // 1000 < since
    except FileNotFoundError:
        return False  # it was finished just now
