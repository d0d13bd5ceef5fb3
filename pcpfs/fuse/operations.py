"""What the kernel asks of a mounted view.

All of it is answered from the catalog and the immutable files of the store, without any lock, so a
reader waits for no writer. Somebody else keeps the catalog up to date (`mounting`).
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from posixpath import basename, dirname, join, relpath

from mfusepy import Operations

from pcpfs.errors import PcpfsError
from pcpfs.fuse.listing import Listing
from pcpfs.view.live import LiveView, system_error
from pcpfs.view.nodes import Directory, File, Link, Node
from pcpfs.view.view import View

_log = logging.getLogger(__name__)

LOOK_EVERY = 0.1
"""Seconds for which a look at the catalog is new enough."""

LONGEST_WAIT = 2.0
"""Seconds that a question waits for the file of the catalog, which hardly ever happens."""

_KEPT_NODES = 8192
_MOST_TOLD = 1000
_MODES = {
    Directory: stat.S_IFDIR | 0o555,
    File: stat.S_IFREG | 0o444,
    Link: stat.S_IFLNK | 0o777,
}
_WRITES = os.O_WRONLY | os.O_RDWR


class ViewOperations(Operations):  # type: ignore[misc]  # mfusepy is untyped
    """Read-only operations on a live view, for one thread. `ready` is called once it is mounted.

    A file is read whole when it is opened: who has it open reads on in what it was then, until
    something is erased. Errors are those of `system_error`, and are logged, each once.
    """

    use_ns = True

    def __init__(self, live: LiveView, ready: Callable[[], None]) -> None:
        self._live = live
        self._ready = ready
        self._view: View | None = None
        self._looked = float("-inf")
        self._numbers = count(1)
        self._files: dict[int, tuple[File, bytes]] = {}
        self._folders: dict[int, Listing] = {}
        self._nodes: dict[str, Node] = {}
        self._told: set[str] = set()

    def init(self, path: str) -> None:
        self._ready()

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:
        with self._answering(path):
            if fh in self._files and fh is not None:
                file, raw = self._files[fh]
                return self._attributes(file, len(raw))
            node = self._node(path)
            return self._attributes(node, node.size if isinstance(node, File) else 0)

    def readlink(self, path: str) -> str:
        with self._answering(path):
            node = self._node(path)
            if not isinstance(node, Link):
                raise OSError(errno.EINVAL, "it is no link", path)
            return relpath(node.target, dirname(path))

    def opendir(self, path: str) -> int:
        with self._answering(path):
            number = next(self._numbers)
            self._folders[number] = Listing(lambda: self._folder(path))
            return number

    def readdir_with_offset(
        self, path: str, offset: int, fh: int
    ) -> Iterator[tuple[str, int, int]]:
        with self._answering(path):
            for number, name, node in self._folders[fh].starting(offset):
                if number > 1:  # not for `.` and `..`
                    self._keep(join(path, name), node)
                yield name, _MODES[type(node)], number + 1

    def releasedir(self, path: str, fh: int) -> int:
        self._folders.pop(fh, None)
        return 0

    def open(self, path: str, flags: int) -> int:
        if flags & _WRITES:
            raise OSError(errno.EROFS, "the view is read-only", path)
        with self._answering(path):
            node = self._node(path)
            if not isinstance(node, File):
                raise OSError(errno.EISDIR, "it is a folder", path)
            number = next(self._numbers)
            self._files[number] = node, node.read()
            return number

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        with self._answering(path):
            self._now()
            if fh not in self._files:
                raise OSError(errno.ESTALE, "something was erased since it was opened", path)
            return self._files[fh][1][offset : offset + size]

    def release(self, path: str, fh: int) -> int:
        self._files.pop(fh, None)
        return 0

    def _folder(self, path: str) -> Directory:
        node = self._node(path)
        if not isinstance(node, Directory):
            raise OSError(errno.ENOTDIR, "it is no folder", path)
        return node

    def _node(self, path: str) -> Node:
        """What stands at a path; what was listed or looked at lately is not looked for again."""
        view = self._now()
        if path == "/":
            return view.root()
        if path not in self._nodes:
            folder, name = self._node(dirname(path)), basename(path)
            found = folder.find(name) if isinstance(folder, Directory) else None
            if found is None:
                raise OSError(errno.ENOENT, "there is nothing", path)
            self._keep(path, found)
        return self._nodes[path]

    def _keep(self, path: str, node: Node) -> None:
        while len(self._nodes) >= _KEPT_NODES:
            del self._nodes[next(iter(self._nodes))]
        self._nodes[path] = node

    def _now(self) -> View:
        """The view, looked for anew if the last look is a while ago."""
        if self._view is None or time.monotonic() - self._looked > LOOK_EVERY:
            view = self._live.now()
            if view is not self._view:
                self._move_to(view)
            self._looked = time.monotonic()
        assert self._view is not None
        return self._view

    def _move_to(self, view: View) -> None:
        catalog = view.reader.catalog
        if self._view is None or self._view.reader.catalog is not catalog:
            catalog.wait_at_most(LONGEST_WAIT)
            self._files.clear()  # an erasure replaces the catalog: what is open may be of it
        self._view = view
        self._nodes.clear()

    def _attributes(self, node: Node, size: int) -> dict[str, int]:
        modified = node.modified if isinstance(node, File) else self._now().modified
        at = modified.microseconds * 1000
        return {
            "st_mode": _MODES[type(node)],
            "st_nlink": 2 if isinstance(node, Directory) else 1,
            "st_size": len(node.target) if isinstance(node, Link) else size,
            "st_mtime": at,
            "st_ctime": at,
            "st_atime": at,
            "st_uid": os.getuid(),
            "st_gid": os.getgid(),
        }

    @contextmanager
    def _answering(self, path: str) -> Iterator[None]:
        try:
            yield
        except PcpfsError as error:
            found = system_error(error, path)
            if found.errno not in (errno.ENOENT, errno.EISDIR):
                self._tell(f"{path}: {error.message}")
            raise found from error

    def _tell(self, message: str) -> None:
        if message not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(message)
            _log.warning("%s", message)
