"""What this machine's user has once: the secret that marks our own caches; and what processes of
theirs are doing."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import NamedTuple

import platformdirs

from pcpfs.disk import Disk
from pcpfs.ports import Entropy

_LENGTH = 32
_LOOK_SECONDS = 0.5


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


def end_with(parent: int, deaf_seconds: float = 60.0) -> None:
    """From now on this process ends when the one that started it does, half a second later.

    Who was killed cannot tell its workers to stop; they would hold locks and work for nobody. They
    end as if they had been killed as well. A parser that hangs lets no thread of Python run: where
    that has gone on for `deaf_seconds` of processor, the system ends the process, whoever is there.
    """
    signal.setitimer(signal.ITIMER_PROF, deaf_seconds)  # the thread may never get its first turn
    given = (parent, deaf_seconds)
    threading.Thread(target=_stay_with, args=given, name="end-with-parent", daemon=True).start()


def _stay_with(parent: int, deaf_seconds: float) -> None:
    while os.getppid() == parent:
        signal.setitimer(signal.ITIMER_PROF, deaf_seconds)
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def _is_private(file: Path) -> bool:
    return os.name == "nt" or file.stat().st_uid == os.getuid()
