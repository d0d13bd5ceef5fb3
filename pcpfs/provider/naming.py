"""Names on the wire: ids of frames, and uris of files, pages and frames.

A frame's id is a page or a symbol, then perhaps `@` and the beginning of the revision whose bytes
are meant for good, then perhaps `#` and the part that is served:

    fr_4h6j…             a symbol, as it is now
    fr_4h6j…#compact     its signature
    pg_01k0…#L10-24      some lines of a page, as they are now
    pg_01k0…@3fa9…       a page as it was in one revision
    pg_01k0…#graph       what is around a page
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote_to_bytes

COMPACT, GRAPH = "compact", "graph"

_NAME = re.compile(
    r"(?P<base>(?:pg|fr)_[0-9a-z]{26})(?:@(?P<revision>[0-9a-f]{16}))?"
    r"(?:#(?:(?P<part>compact|graph)|L(?P<first>[1-9][0-9]{0,8})-(?P<last>[1-9][0-9]{0,8})))?",
    re.ASCII,
)
_SCHEME = "pcpfs://"


@dataclass(frozen=True, slots=True)
class FrameName:
    """What the id of a frame says. `revision` is 16 hex digits; `part` is COMPACT or GRAPH."""

    base: str
    revision: str | None = None
    part: str | None = None
    lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        pinned = f"@{self.revision}" if self.revision else ""
        part = f"L{self.lines[0]}-{self.lines[1]}" if self.lines else self.part
        return f"{self.base}{pinned}" + (f"#{part}" if part else "")

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None for an id that we never gave."""
        match = _NAME.fullmatch(text)
        if match is None:
            return None
        lines = (int(match["first"]), int(match["last"])) if match["first"] else None
        return cls(match["base"], match["revision"], match["part"], lines)


def file_uri(path: Path) -> str:
    """`file:///a/b%20c`: every byte of the path, percent-encoded where it has to be."""
    return "file://" + quote(os.fsencode(path))


def file_path(uri: str) -> Path | None:
    """The path of a `file` uri of this machine, its fragment aside; None for any other."""
    bare = uri.partition("#")[0]
    for start in ("file:///", "file://localhost/"):
        if bare.startswith(start):
            return Path(os.fsdecode(b"/" + unquote_to_bytes(bare.removeprefix(start))))
    return None


def page_uri(store: str, page: str, revision: str) -> str:
    """One revision of a page."""
    return f"{_SCHEME}{store}/{page}@{revision}"


def item_uri(store: str, item: str) -> str:
    """A page or a symbol, whatever its revision."""
    return f"{_SCHEME}{store}/{item}"


def item_of(uri: str, store: str) -> str | None:
    """The `PAGE`, `PAGE@REV` or frame id in a uri of this store; None for any other."""
    base = f"{_SCHEME}{store}/"
    return uri.removeprefix(base).partition("#")[0] if uri.startswith(base) else None


def range_of(lines: tuple[int, int]) -> str:
    """`L5` or `L5-9` (F5)."""
    first, last = lines
    return f"L{first}" if first == last else f"L{first}-{last}"
