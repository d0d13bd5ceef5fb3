"""What this machine's user has once: the secret that marks our own caches."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from pcpfs.disk import Disk
from pcpfs.ports import Entropy

_LENGTH = 32


def user_secret(disk: Disk, entropy: Entropy, folder: Path | None = None) -> bytes:
    """Random bytes that only this user of this machine knows; made at the first call.

    An index is trusted only with a mark made from them: it cannot come from elsewhere. Where they
    cannot be kept they differ each time, and caches are built anew.
    """
    file = (folder or platformdirs.user_state_path("pcpfs")) / "secret"
    try:
        secret = disk.read(file)
        if len(secret) == _LENGTH and _is_private(file):
            return secret
    except FileNotFoundError:
        pass
    secret = entropy.random(_LENGTH)
    disk.write(file, secret)
    os.chmod(file, 0o600)
    return secret


def _is_private(file: Path) -> bool:
    return os.name == "nt" or file.stat().st_uid == os.getuid()
