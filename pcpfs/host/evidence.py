"""Looking for ourselves: whether the bytes that a frame cites are on the disk (F5).

Only files below folders that the host trusts are read. What a provider names elsewhere is neither
opened nor believed: such a frame is used as unverified.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from pcpfs.model.cgp import ContextFrame, Provenance
from pcpfs.model.cgp_rules import Breach, line_range, lines_at
from pcpfs.model.ids import Digest
from pcpfs.sources.reading import read_stable
from pcpfs.sources.scanned import Content, Gone, Outcome, Reason, Skipped

_LARGEST_FILE = 16 << 20
_MOST_BYTES = 64 << 20


class Standing(StrEnum):
    """`exact`: the content is the cited bytes. `cited`: the cited bytes are there, the content is
    made from them. `unverified`: nothing that it cites could be looked at."""

    EXACT = "exact"
    CITED = "cited"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class TrustedRoots:
    """Folders whose files are read to check what providers say."""

    folders: tuple[Path, ...] = ()

    def look(self) -> Look:
        """A look for one answer: each file is read once."""
        return Look(self._places())

    def _places(self) -> tuple[tuple[str, Path], ...]:
        """As people and as the system write each folder, longest first."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            real = Path(os.path.realpath(folder))
            found |= {os.path.abspath(folder): real, os.fspath(real): real}
        return tuple(sorted(found.items(), key=lambda place: -len(place[0])))


class Look:
    """What was seen while one answer was judged. A file is read once; each time that it is cited
    its size counts, and after 64 MiB nothing more is looked at."""

    def __init__(self, places: Iterable[tuple[str, Path]]) -> None:
        self._places = tuple(places)
        self._seen: dict[str, Outcome] = {}
        self._left = _MOST_BYTES

    def judge(self, frame: ContextFrame) -> Standing | Breach:
        """How a frame stands; the breach where a file is not what it says."""
        standing = Standing.UNVERIFIED
        for origin in frame.provenance:
            if origin.type != "file":
                continue
            seen = self._cited(origin)
            if isinstance(seen, Breach):
                return seen
            if seen is not None:
                is_exact = seen == (frame.content or "").encode("utf-8", "surrogatepass")
                known = standing is Standing.EXACT
                standing = Standing.EXACT if is_exact or known else Standing.CITED
        return standing

    def _cited(self, origin: Provenance) -> bytes | Breach | None:
        """The bytes that a file origin names, if they have its digest; None if we cannot look."""
        path = file_path(origin.uri)
        outcome = None if path is None or not self._left else self._read(path)
        if isinstance(outcome, Gone):
            return Breach("F5", f"{origin.uri} is not there")
        if not isinstance(outcome, Content) or len(outcome.data) > self._left:
            return None
        self._left -= len(outcome.data)
        lines = None if origin.range is None else line_range(origin.range)
        cited = lines_at(outcome.data, lines)
        if cited is None:
            return Breach("F5", f"{origin.uri} has no lines {origin.range}")
        if Digest.of(cited) != origin.digest:
            return Breach("F5", f"{origin.uri} {origin.range or ''} has another digest")
        return cited

    def _read(self, path: str) -> Outcome | None:
        """The file, if it lies below a folder that is trusted; no link is followed below it."""
        for place, folder in self._places:
            if path.startswith(place.rstrip("/") + "/"):
                return self._seen.get(path) or self._read_now(path, folder, place)
        return None

    def _read_now(self, path: str, folder: Path, place: str) -> Outcome:
        relative = path[len(place.rstrip("/")) + 1 :]
        try:
            outcome = read_stable(folder, relative, _LARGEST_FILE)
        except OSError as error:
            outcome = Skipped(path, Reason.UNREADABLE, str(error.strerror))
        self._seen[path] = outcome
        return outcome


def file_path(uri: str | None) -> str | None:
    """The absolute path of a `file` uri of this machine; None for any other, and for one that goes
    up or around."""
    try:
        parts = urlsplit(uri or "")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or parts.query:
        return None
    raw = unquote_to_bytes(parts.path)
    steps = raw.split(b"/")
    if b"\0" in raw or steps[0] or not all(_is_plain(steps[1:])):
        return None
    return os.fsdecode(raw)


def _is_plain(steps: Iterable[bytes]) -> Iterator[bool]:
    return (step not in (b"", b".", b"..") for step in steps)
