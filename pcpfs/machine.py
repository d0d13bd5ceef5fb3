"""What this machine's user has once: the secret that marks our own caches; and what a process of
theirs is doing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

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


class Processor(NamedTuple):
    """Seconds of processor that a process had, and whether it wants more or waits for the disk."""

    seconds: float
    is_at_work: bool


def processor_of(process: int) -> Processor | None:
    """None where the system does not tell."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="latin-1")
        state, *numbers = told.rpartition(")")[2].split()
        ticks = int(numbers[10]) + int(numbers[11])
    except (OSError, ValueError, IndexError):
        return None
    return Processor(ticks / os.sysconf("SC_CLK_TCK"), state in ("R", "D"))


def _is_private(file: Path) -> bool:
    return os.name == "nt" or file.stat().st_uid == os.getuid()
