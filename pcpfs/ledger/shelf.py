"""Where what is kept of a thread lies: files that anybody may remove at any time.

Nothing here is believed without the mark that only this user can make, so a folder that came from
elsewhere, or a byte that changed, costs time and never a wrong answer.
"""

from __future__ import annotations

import hmac
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.ledger.chunks import CHUNK, Named, Parts, digest, packed
from pcpfs.model.names import Namespace
from pcpfs.search.analysis import VERSION

KEPT_VERSION = "1"
"""Rises whenever chunks, or the words that are found in texts, change."""

_STATE, _TOLD = "state", "told"


@dataclass(frozen=True, slots=True)
class State:
    """What is kept: of which state of the store (`stamp`), how many entries, in which chunks.

    Between two states of one `epoch` entries were only added. `latest` are the events that none
    follows; `told` and `withdrawn` are digests of which segments were read, and of which pages
    are left out. Before the position `sound` every text could be read; `is_whole` if all were.
    """

    stamp: str
    epoch: str
    count: int = 0
    sound: int = 0
    is_whole: bool = True
    latest: tuple[str, ...] = ()
    told: str = ""
    withdrawn: str = ""
    chunks: tuple[Named, ...] = ()


class Shelf:
    """The files of one thread: `state`, `told`, and chunks of `chunk` entries by their numbers."""

    def __init__(
        self,
        folder: Path,
        namespace: Namespace,
        disk: Disk,
        secret: Callable[[], bytes],
        chunk: int = CHUNK,
    ) -> None:
        self.chunk = chunk
        self._folder = folder / digest(namespace.encode())
        self._about = f"{KEPT_VERSION} {VERSION} {sys.byteorder} {chunk} {namespace}"
        self._disk = disk
        self._secret = secret
        self._memory: dict[str, bytes] | None = None

    def stay_in_memory(self) -> None:
        """From now on nothing is read from the disk, and nothing written to it."""
        self._memory = {}

    def state(self) -> State | None:
        """What is there; None where nothing is that we wrote ourselves."""
        try:
            mark, _, raw = self._read(_STATE).partition(b"\n")
            if not hmac.compare_digest(mark, self._mark(raw)):
                return None
        except PcpfsError:
            return None
        value = json.loads(raw)
        value["chunks"] = tuple(Named(*chunk) for chunk in value["chunks"])
        return State(**{**value, "latest": tuple(value["latest"])})

    def told(self, state: State) -> set[str]:
        """The short names of the segments that were read for a state; Corrupt if damaged."""
        raw = self._read(_TOLD)
        if digest(raw) != state.told:
            raise Corrupt("the cached list of segments is damaged")
        return set(raw.decode().split())

    def parts(self, number: int, named: Named) -> Parts:
        """A chunk; Corrupt if it is not there as it was written."""
        return Parts(named, lambda start, size: self._read(str(number), start, size))

    def put(self, number: int, parts: dict[str, bytes]) -> Named:
        named, raw = packed(parts)
        self._write(str(number), raw)
        return named

    def put_told(self, segments: Iterable[str]) -> str:
        raw = "\n".join(sorted(segments)).encode()
        self._write(_TOLD, raw)
        return digest(raw)

    def put_state(self, state: State) -> None:
        """Last of all: whoever reads it finds the rest. Chunks that it does not name go."""
        raw = json.dumps(asdict(state)).encode()
        self._write(_STATE, self._mark(raw) + b"\n" + raw)
        number = len(state.chunks)
        while self._memory is None and self._disk.remove(self._folder / str(number)):
            number += 1

    def _mark(self, raw: bytes) -> bytes:
        about = f"{self._about}\n".encode()
        return hmac.new(self._secret(), about + raw, "sha256").hexdigest().encode()

    def _read(self, name: str, start: int = 0, size: int = -1) -> bytes:
        if self._memory is not None:
            raw = self._memory.get(name, b"")
            return raw[start : None if size < 0 else start + size]
        try:
            with open(self._folder / name, "rb", buffering=0) as file:
                file.seek(start)
                return file.read(size) if size >= 0 else file.readall()
        except OSError as error:
            raise Corrupt(f"{self._folder} is gone or cannot be read ({error.strerror})") from error

    def _write(self, name: str, raw: bytes) -> None:
        if self._memory is not None:
            self._memory[name] = raw
        else:
            self._disk.write_volatile(self._folder / name, raw)
