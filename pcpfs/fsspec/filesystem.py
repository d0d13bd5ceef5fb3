"""`fsspec.filesystem("pcpfs", store=DIR)`: the virtual view for whatever reads through fsspec."""

from __future__ import annotations

import errno
import io
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from fsspec.spec import AbstractFileSystem

from pcpfs.errors import PcpfsError, UsageError
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.view.live import LiveView, system_error
from pcpfs.view.nodes import Directory, File, Link, Node
from pcpfs.view.view import View


class ReadOnlyView(OSError):
    """Somebody tried to change the view."""

    def __init__(self, path: str = "/") -> None:
        why = "the view is read-only; write with pcpfs write, or into tree/ of the store"
        super().__init__(errno.EROFS, why, path)


class ViewFile(io.BytesIO):
    """A file of the view, read whole when it was opened."""

    def __init__(self, path: str, raw: bytes) -> None:
        super().__init__(raw)
        self.path = path
        self.size = len(raw)

    def writable(self) -> bool:
        return False


class PcpfsFileSystem(AbstractFileSystem):  # type: ignore[misc]  # fsspec is untyped
    """Reads the virtual view of the store in the folder `store`, now or under pins.

    `principal` (such as `model:local`) is whose view it is, else the owner's. `as_of` and
    `recorded_as_of` are instants or dates as text. Links have the type of what they lead to, and
    say so (`islink`, `destination`). Each call sees the newest state; each thread has a session of
    its own.
    """

    protocol = "pcpfs"
    root_marker = "/"

    def __init__(
        self,
        store: str | Path | None = None,
        principal: str | None = None,
        as_of: str | None = None,
        recorded_as_of: str | None = None,
        **others: Any,
    ) -> None:
        super().__init__(**others)
        if store is None:
            raise UsageError("name the folder of the store: fsspec.filesystem('pcpfs', store=DIR)")
        self.store = str(store)
        self.principal = principal
        self.pins = Pins(
            None if as_of is None else Instant.read(as_of),
            None if recorded_as_of is None else Instant.read(recorded_as_of),
        )
        self._local = threading.local()
        self._view().root()  # a wrong folder is told at once

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        stripped = super()._strip_protocol(path)
        return "/" + stripped.strip("/")

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """What a folder holds; a file is a list of itself."""
        path = self._strip_protocol(path)
        with _translated(path):
            node = self._view().followed(path)
            if not isinstance(node, Directory):
                return [self.info(path)] if detail else [path]
            base = path.rstrip("/")
            entries = ((f"{base}/{name}", found) for _, name, found in node.entries())
            return [self._entry(p, found) if detail else p for p, found in entries]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        with _translated(path):
            return self._entry(path, self._view().node(path))

    def _entry(self, path: str, node: Node) -> dict[str, Any]:
        link: dict[str, Any] = {}
        if isinstance(node, Link):
            link = {"islink": True, "destination": node.target}
            node = self._view().followed(node.target)
        if isinstance(node, File):
            told = {"size": node.size, "type": "file", "mtime": _seconds(node.modified)}
        else:
            told = {"size": 0, "type": "directory", "mtime": _seconds(self._view().modified)}
        return {"name": path, **told, **link}

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """The bytes of a file, or of a part of it; negative places count from its end."""
        return self._read(self._strip_protocol(path))[start:end]

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self.info(path)["mtime"], UTC)

    def _open(self, path: str, mode: str = "rb", **_: Any) -> ViewFile:
        if mode != "rb":
            raise ReadOnlyView(path)
        return ViewFile(path, self._read(path))

    def _read(self, path: str) -> bytes:
        with _translated(path):
            return self._view().file(path).read()

    def _view(self) -> View:
        """The newest view, of this thread's session."""
        if not hasattr(self._local, "live"):
            store = self._local.store = Store.open(Path(self.store))
            acting = Principal(self.principal) if self.principal else store.owner
            session = self._local.session = Session(store, acting)
            self._local.live = LiveView(session, self.pins)
        live: LiveView = self._local.live
        return live.now()

    def close(self) -> None:
        """Let go of the store in this thread; the next call opens it again."""
        if hasattr(self._local, "live"):
            with closing(self._local.store), closing(self._local.session):
                self._local.__dict__.clear()

    def _refused(self, path: Any, *_: Any, **__: Any) -> NoReturn:
        raise ReadOnlyView(str(path))

    mkdir: Any = _refused
    makedirs: Any = _refused
    rmdir: Any = _refused
    rm: Any = _refused
    rm_file: Any = _refused
    cp_file: Any = _refused
    mv: Any = _refused
    put_file: Any = _refused
    pipe_file: Any = _refused
    touch: Any = _refused


@contextmanager
def _translated(path: str) -> Iterator[None]:
    try:
        yield
    except PcpfsError as error:
        raise system_error(error, path) from error


def _seconds(moment: Instant) -> float:
    return moment.microseconds / 1_000_000
