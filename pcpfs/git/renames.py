"""Which new file is an old one under another name: what git's rename detection says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from pcpfs.git.store import Git
from pcpfs.git.values import Person
from pcpfs.model.instants import Instant


def renames(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Pairs of old and new path, by new path: `git diff -M` between these two sets of files.

    A scratch repository does it, so a source's own repository and configuration are left alone,
    files that git does not track count, and roots without git have renames too. An old path names
    at most one new one.
    """
    if not gone or not new:
        return []
    with tempfile.TemporaryDirectory(prefix="pcpfs-renames-") as folder:
        git = Git.init(Path(folder), nested=True)
        return _compared(git, gone, new)


def _compared(
    git: Git, gone: Mapping[str, bytes], new: Mapping[str, bytes]
) -> list[tuple[str, str]]:
    who, when = Person("pcpfs"), Instant(0)
    before = git.commit(gone.items(), "gone", when, who, refresh=False)
    removed = [(path, None) for path in gone]
    after = git.commit([*removed, *new.items()], "new", when, who, refresh=False)
    return git.renames(before, after)
