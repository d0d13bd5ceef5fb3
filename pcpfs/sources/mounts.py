"""Whether what was mounted in a source tree is mounted now: what is not tells nothing of its files.

A file system that is not there leaves an empty folder, which is on the device of the one above it.
One of the same device as the tree (`mount --bind` within a file system) cannot be told from a
folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pcpfs.sources.scanned import Prefixes
from pcpfs.sources.statcache import StatCache


def is_unmounted_root(empty: bool, device: int, cache: StatCache) -> bool:
    """Whether nothing can be said of a whole tree: it held something, on another device."""
    return empty and len(cache) > 0 and device != cache.device


def is_unmounted(directory: str, empty: bool, is_mount: bool, cache: StatCache) -> bool:
    """Whether nothing can be said of a directory of a tree: another device was mounted there."""
    return empty and not is_mount and directory in cache.mounts


def not_mounted(root: Path, cache: StatCache) -> Prefixes:
    """The paths of a tree of which nothing can be said, for that reason."""
    return Prefixes(_not_mounted(root, cache))


def _not_mounted(root: Path, cache: StatCache) -> Iterator[str]:
    with suppress(OSError):
        device, empty = os.stat(root).st_dev, not os.listdir(root)
        if is_unmounted_root(empty, device, cache):
            yield ""
    for mount in cache.mounts:
        place = root / mount
        with suppress(OSError):
            is_mount = os.lstat(place).st_dev != os.stat(place.parent).st_dev
            if is_unmounted(mount, not os.listdir(place), is_mount, cache):
                yield mount
