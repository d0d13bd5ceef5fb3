"""Files that are named on the command line."""

from __future__ import annotations

import stat
from pathlib import Path

from pcpfs.errors import NotFound, Unavailable, UsageError


def read_file(given: str) -> bytes:
    """The bytes of a regular file that a person named."""
    path = Path(given)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(f"{given}: it is a folder; name files", path=given)
        if not stat.S_ISREG(mode):
            raise UsageError(f"{given}: it is no regular file", path=given)
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"{given}: there is no such file", path=given) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Unavailable(f"{given}: it cannot be read: {reason}", path=given) from error
