"""Mounting the view, until somebody ends it.

Two threads help the one that answers the kernel: one catches up with what happens to the store, one
searches. Each has a store of its own; they meet in the catalog's file alone.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pcpfs.errors import Conflict, NotFound, Unavailable, UsageError
from pcpfs.fuse.clerk import Clerk
from pcpfs.fuse.searching import PatientSearch
from pcpfs.model.answers import Pins
from pcpfs.store.session import Session
from pcpfs.view.live import LiveView

CATCH_UP_EVERY = 0.25
"""Seconds between two looks at what others did to the store."""

_UNKNOWN = ".pcpfs-look"
_SIGNALLED = 8
"""What libfuse answers when a signal has ended it."""


def mount(
    session: Session,
    folder: Path,
    pins: Pins,
    ready: Callable[[], None],
    *,
    non_empty: bool = False,
) -> None:
    """Show what this session sees in a folder, until it is unmounted or a signal (SIGINT,
    SIGTERM, SIGHUP) comes; then it is unmounted.

    UsageError for a folder that cannot be mounted on, Conflict for one that holds something,
    Unavailable where the system has no FUSE.
    """
    fuse, operations = _library()
    folder = Path(os.path.abspath(folder))
    check(folder, session.store.path, non_empty=non_empty)
    search = PatientSearch(session.store.path, session.principal)
    live = LiveView(session, pins, partial(session.reader, glance=True), search)
    keeper: Clerk[None] = Clerk(
        session.store.path, session.principal, _Keeping(folder), CATCH_UP_EVERY
    )

    def begin() -> None:
        keeper.start()
        ready()

    try:
        fuse(operations(live, begin), os.fspath(folder), **options())
    except RuntimeError as error:
        if error.args != (_SIGNALLED,):
            raise Unavailable(
                f"{folder} could not be mounted; is /dev/fuse there, and may you use it?"
            ) from error


def options() -> dict[str, object]:
    """How it is mounted: read-only, for its user alone, in the foreground. Names are believed for
    half a second, sizes and times never, and a file is read as long as it is, not as it was. Where
    a program of the system can, it unmounts what was killed."""
    return {
        "foreground": True,
        "nothreads": True,
        "ro": True,
        "fsname": "pcpfs",
        "default_permissions": True,
        "direct_io": True,
        "entry_timeout": 0.5,
        "attr_timeout": 0,
        "negative_timeout": 0,
        "auto_unmount": any(map(shutil.which, ("fusermount3", "fusermount"))),
    }


def check(folder: Path, store: Path, *, non_empty: bool) -> None:
    """Whether a view may be mounted on a folder."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no folder {folder} to mount on; make it with mkdir") from error
    except OSError as error:
        if error.errno == errno.ENOTCONN:
            raise Conflict(
                f"on {folder} there is still a mount whose program was killed; remove it with: "
                f"fusermount3 -u {folder}"
            ) from error
        raise Unavailable(f"{folder} cannot be looked into: {error.strerror}") from error
    real = folder.resolve()
    if (
        real == store.resolve()
        or store.resolve() in real.parents
        or real in store.resolve().parents
    ):
        raise UsageError(f"{folder} and the store {store} lie in one another; mount elsewhere")
    if names and not non_empty:
        raise Conflict(f"{folder} is not empty; what is in it would be hidden: see --non-empty")


class _Keeping:
    """Catches up; and lets the mount know when the catalog was replaced, so that it lets go of
    what was erased also when nobody asks it anything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: object = None

    def __call__(self, session: Session) -> None:
        session.store.refresh()
        catalog = session.store.catalog
        if self._seen is not None and self._seen is not catalog:
            os.path.lexists(self._folder / _UNKNOWN)
        self._seen = catalog


def _library() -> tuple[Callable[..., object], Callable[..., object]]:
    try:
        from mfusepy import FUSE  # noqa: PLC0415 (an extra)

        from pcpfs.fuse.operations import ViewOperations  # noqa: PLC0415 (needs it)
    except ImportError as error:
        raise Unavailable("mounting needs an extra: pip install 'pcpfs[fuse]'") from error
    except OSError as error:
        raise Unavailable(
            f"mounting needs libfuse, which the system lacks (Debian: apt install fuse3): {error}"
        ) from error
    return FUSE, ViewOperations
