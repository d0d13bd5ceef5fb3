"""Making the folder of a new store. Interrupted at any moment, the next attempt begins anew.

`pcpfs.toml` makes a folder a store, and it comes last. Until then a mark in `.pcpfs` tells that
whatever is there was made by us.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pcpfs.disk import LITTER, Disk
from pcpfs.errors import Conflict, PcpfsError
from pcpfs.git import Git, find_repository
from pcpfs.store import layout
from pcpfs.store.config import generated_files
from pcpfs.store.nested import hide, refuse_inside_a_store
from pcpfs.system_errors import translated

_MARK = f"{layout.DISPOSABLE}/unfinished"


def begin(path: Path, disk: Disk, *, nested: bool) -> None:
    """Make the folder and its repository; Conflict if the folder holds anything of others."""
    with translated(path):
        refuse_inside_a_store(path)
        if path.exists():
            _clear(path, disk)
        disk.write(path / _MARK, b"")
        around = find_repository(path)
    try:
        Git.init(path, nested=nested)
    except PcpfsError:
        withdraw(path, disk)
        raise
    if around is not None:
        hide(around, path, disk)


def end(path: Path, disk: Disk) -> None:
    """The store is complete. A mark that stays means nothing beside `pcpfs.toml`."""
    with suppress(PcpfsError):
        disk.remove(path / _MARK)


def withdraw(path: Path, disk: Disk) -> None:
    """Take away what an attempt left, but for the folder itself."""
    with suppress(PcpfsError):
        _clear(path, disk)
        disk.remove_tree(path / layout.DISPOSABLE)


def _clear(path: Path, disk: Disk) -> None:
    """Remove what an interrupted attempt left; Conflict if there is anything else."""
    names = set(os.listdir(path)) if path.is_dir() else {path.name}
    if not names:
        return
    if layout.CONFIG in names:
        raise Conflict(f"{path} is a store already", path=str(path))
    ours = {".git", layout.DISPOSABLE, *generated_files()}
    others = {name for name in names - ours if not name.startswith(LITTER)}
    if others or not _is_marked(path):
        raise Conflict(f"{path} is not an empty folder; choose another one", path=str(path))
    disk.remove_tree(path / ".git")
    for name in sorted(names & set(generated_files())):
        disk.remove(path / name)
    disk.sweep(path)


def _is_marked(path: Path) -> bool:
    """An attempt was begun here, or was about to be."""
    disposable = path / layout.DISPOSABLE
    names = os.listdir(disposable) if disposable.is_dir() else []
    only_litter = all(name.startswith(LITTER) for name in names)
    nothing_else = os.listdir(path) == [layout.DISPOSABLE]
    return os.path.basename(_MARK) in names or (only_litter and nothing_else)
