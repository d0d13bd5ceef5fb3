"""The view for doors that stay open: always the newest state, and errors as an operating system
tells them."""

from __future__ import annotations

import errno
from collections.abc import Callable

from pcpfs.errors import (
    Busy,
    NotFound,
    NotPermitted,
    PcpfsError,
    Unavailable,
    UsageError,
)
from pcpfs.model.answers import Pins
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.reading import Reader
from pcpfs.store.session import Session
from pcpfs.view.place import Search
from pcpfs.view.view import View

_NUMBERS = (
    (NotFound, errno.ENOENT),
    (UsageError, errno.EISDIR),
    (NotPermitted, errno.EACCES),
    (Busy, errno.EAGAIN),
    (Unavailable, errno.EIO),
)


class LiveView:
    """Keeps a view as long as nothing changes. `read` makes a reader, else the session does."""

    def __init__(
        self,
        session: Session,
        pins: Pins,
        read: Callable[[Pins], Reader] | None = None,
        search: Search | None = None,
    ) -> None:
        self._session = session
        self._pins = pins
        self._read = read or session.reader
        self._search = search
        self._kept: tuple[Catalog, int, View] | None = None

    def now(self) -> View:
        """The view of everything that was acknowledged before this call, as far as `read` sees."""
        reader = self._read(self._pins)
        generation = self._session.store.catalog.generation
        if self._kept is None or self._kept[:2] != (reader.catalog, generation):
            view = View(self._session, self._pins, reader=reader, search=self._search)
            self._kept = (reader.catalog, generation, view)
        return self._kept[2]

    def forget(self) -> None:
        """Keep nothing."""
        self._kept = None


def system_error(error: PcpfsError, path: str) -> OSError:
    """The error as the calls of an operating system raise it."""
    number = next((n for kind, n in _NUMBERS if isinstance(error, kind)), errno.EIO)
    return OSError(number, error.message, path)
