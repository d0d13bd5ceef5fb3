"""What errors of the system mean, in our words: the one place where a number becomes advice."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pcpfs.errors import InvalidName, PcpfsError, ReadOnly, StorageFull, Unavailable

AnyPath = str | os.PathLike[str]


def shown(path: AnyPath) -> str:
    """A path as it can be printed, whatever its bytes."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode("utf-8")


@contextmanager
def translated(path: AnyPath, *passing: type[OSError]) -> Iterator[None]:
    """Errors of the system about a path as errors of pcpfs, but for those named."""
    try:
        yield
    except passing:
        raise
    except OSError as error:
        raise translation(error, path) from error


_MEANINGS: Mapping[int, tuple[type[PcpfsError], str]] = {
    errno.ENOSPC: (StorageFull, "free some space and try again"),
    errno.EDQUOT: (StorageFull, "your quota is used up: free some space and try again"),
    errno.EFBIG: (StorageFull, "a limit on the size of files is in the way: raise it (ulimit -f)"),
    errno.EROFS: (ReadOnly, "the disk is mounted read-only"),
    errno.EACCES: (ReadOnly, "check the permissions of its folder"),
    errno.EPERM: (ReadOnly, "check the permissions of its folder"),
    errno.ENOTDIR: (Unavailable, "a file is where a folder should be; choose another place"),
    errno.EEXIST: (Unavailable, "a file or a broken link is in the way; choose another place"),
    errno.ELOOP: (Unavailable, "a link leads back to itself; choose another place"),
    errno.EINVAL: (Unavailable, "choose another place"),
    errno.ENAMETOOLONG: (InvalidName, "choose a shorter name"),
    errno.EXDEV: (Unavailable, "a store must lie on one file system"),
}


def translation(error: OSError, path: AnyPath) -> PcpfsError:
    """The error that says what writing a path came to, and what to do."""
    kind, advice = _MEANINGS.get(error.errno or 0, (Unavailable, "check the disk and try again"))
    where = shown(path)
    return kind(f"cannot write {where}: {error.strerror}; nothing is lost: {advice}", path=where)
