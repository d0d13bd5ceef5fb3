"""Where HEAD stands, read from the files of a repository: some 50 µs instead of a process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pcpfs.errors import InvalidName
from pcpfs.git.values import CommitId

_DEPTH = 5
"""How far git itself follows symbolic refs."""


@dataclass(frozen=True, slots=True)
class Head:
    """`ref` is the branch that HEAD names, None if detached; `commit` is None before the first."""

    ref: str | None
    commit: CommitId | None


def locate(work_tree: Path) -> tuple[Path, Path] | None:
    """The git folder of a work tree and the one that it shares with other work trees."""
    git_dir = work_tree / ".git"
    pointer = _text(git_dir)
    if pointer is not None:
        if not pointer.startswith("gitdir:"):
            return None
        git_dir = (work_tree / pointer[len("gitdir:") :].strip()).resolve()
    if not os.path.lexists(git_dir / "HEAD"):
        return None
    shared = _text(git_dir / "commondir")
    return git_dir, git_dir if shared is None else (git_dir / shared).resolve()


def read_head(git_dir: Path, common_dir: Path) -> Head | None:
    """None if these files cannot tell (another ref storage): ask git."""
    if (common_dir / "reftable").exists():
        return None
    text, ref = _text(git_dir / "HEAD"), None
    for _ in range(_DEPTH):
        if text is None or not text.startswith("ref:"):
            break
        ref = text[len("ref:") :].strip()
        text = _text(common_dir / ref) or _packed(common_dir, ref)
    try:
        return Head(ref, CommitId(text) if text else None)
    except InvalidName:
        return None


def head_at(work_tree: Path) -> Head | None:
    """HEAD of a work tree; None if there is none just here, or its files cannot tell."""
    found = locate(work_tree)
    return read_head(*found) if found else None


def stash(common_dir: Path) -> str | None:
    """What `git stash` put aside last; None if nothing is."""
    name = "refs/stash"
    return _text(common_dir / name) or _packed(common_dir, name)


def _packed(common_dir: Path, ref: str) -> str | None:
    for line in (_text(common_dir / "packed-refs") or "").splitlines():
        name, _, found = line.partition(" ")
        if found == ref:
            return name
    return None


def _text(path: Path) -> str | None:
    """None also for a pipe, at which reading would wait for ever."""
    if not path.is_file():
        return None
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape").strip()
    except FileNotFoundError:
        return None
