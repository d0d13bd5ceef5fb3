"""A folder on disk as a tree of sources; nothing in it is ignored."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The files below `root`, for what resolves imports."""

    root: Path

    def has(self, path: str) -> bool:
        return (self.root / path).is_file()

    def names(self, folder: str) -> tuple[str, ...]:
        try:
            return tuple(sorted(os.listdir(self.root / folder)))
        except (OSError, ValueError):
            return ()

    def read(self, path: str) -> bytes | None:
        """None also where it cannot be read."""
        try:
            return (self.root / path).read_bytes()
        except (OSError, ValueError):
            return None


def root_of(path: Path) -> Path:
    """The nearest folder above a file that has a `.git`, else the one that it is in."""
    above = path.resolve().parents
    return next((folder for folder in above if (folder / ".git").exists()), above[0])
