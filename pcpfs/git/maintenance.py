"""Packing what many small commits leave behind, bit by bit, beside any other git command.

git itself keeps what others may still need: only objects that are in a new pack go from their old
place, and who has lost one looks again. Unreachable objects are packed like all others and never
dropped here: a person may want them back (`git reflog`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple, Self

from pcpfs.git.process import Process
from pcpfs.git.store import Git

_SAMPLED = range(0x10, 0x100, 0x20)
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Stored:
    """How the objects of a repository lie: loose ones, packs, and their kilobytes together."""

    loose: int
    packs: int
    kilobytes: int


def stored(git: Git) -> Stored:
    """As they lie now."""
    out = _process(git).run("count-objects", "-v").decode()
    said = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)
    kilobytes = int(said["size"]) + int(said["size-pack"])
    return Stored(int(said["count"]), int(said["packs"]), kilobytes)


def pack(git: Git) -> None:
    """Pack loose objects, and small packs into larger ones: a pack is written again only when as
    much has come that it doubles, so each object is copied a few times in all (`--geometric`)."""
    code, _, _ = _process(git).attempt("repack", "-d", "--geometric=2", "--quiet")
    if code != 0:  # a partial clone cannot; then only what is loose is packed
        _process(git).run("repack", "-d", "--quiet")


@dataclass(frozen=True, slots=True)
class Packing:
    """Packing beside what this process does."""

    process: Popen[bytes]

    @classmethod
    def start(cls, git: Git) -> Self:
        process = _process(git).start("repack", "-d", "--geometric=2", "--quiet")
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        return cls(process)

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> None:
        """Stop it: what it had not finished it leaves as it was."""
        self.process.terminate()
        self.process.wait()


class Loose(NamedTuple):
    """About how many loose objects there are, and the bytes of the disk that they take."""

    objects: int
    bytes: int


def loose_about(git: Git) -> Loose:
    """From a few of their 256 folders, as git estimates it."""
    folders = [git.common_dir / "objects" / f"{number:02x}" for number in _SAMPLED]
    found = [size for folder in folders for size in _sizes(folder)]
    return Loose(len(found) * 256 // len(folders), sum(found) * 256 // len(folders))


def _sizes(folder: Path) -> Iterator[int]:
    """What the files of a folder take; those that go meanwhile take nothing."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                yield entry.stat(follow_symlinks=False).st_blocks * _BLOCK


def write_commit_graph(git: Git) -> None:
    """Let `git log -- PATH` pass over commits that do not touch the path."""
    if git.head() is not None and not git.is_shallow():
        _process(git).run(
            "commit-graph", "write", "--reachable", "--changed-paths", "--split", "--no-progress"
        )


def drop_pending(git: Git) -> None:
    """Forget the commit that a killed writer made and told nobody of; under the writer's lock."""
    _process(git).run("update-ref", "-d", "refs/pcpfs/pending")


def _process(git: Git) -> Process:
    return Process(git.git_dir, git.work_tree, git.identity, optional_locks=True)
