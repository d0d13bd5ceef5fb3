"""What the history ever held at a path, on any branch and in the reflog."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pcpfs.git.process import Process
from pcpfs.git.repository import Repository
from pcpfs.git.values import ObjectId


def blobs_ever(repository: Repository, path: str) -> dict[str, list[ObjectId]]:
    """The files at or below a path that any commit at hand ever put there, each with its blobs,
    newest first."""
    out = Process(repository.git_dir, repository.work_tree).run(
        "log", "--all", "--reflog", "--format=", "--raw", "--no-abbrev", "-z", "-m", "--root",
        "--no-renames", "--no-ext-diff", "--no-textconv", "--full-history", "HEAD", "--", path,
    )  # fmt: skip
    found: dict[str, list[ObjectId]] = {}
    for name, blob in _changes(out):
        known = found.setdefault(name, [])
        if blob not in known:
            known.append(blob)
    return found


def _changes(out: bytes) -> Iterator[tuple[str, ObjectId]]:
    """Path and new blob of each change that has one; files only."""
    words = iter(out.split(b"\0"))
    for about in words:
        if about.lstrip(b"\n").startswith(b":"):
            _, mode, _, blob, _ = about.lstrip(b"\n:").decode().split(" ")
            path = os.fsdecode(next(words, b""))
            if mode.startswith("100") and blob.strip("0"):
                yield path, ObjectId(blob)
