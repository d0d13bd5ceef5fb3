"""Damage in git's own files: found with `git fsck`, and mended from what the work tree still has.

What is damaged is moved aside, never deleted. Every blob of the truth lies in the work tree as
well, and the index names the blobs of HEAD's trees: so blobs and trees come back. A commit does
not; it has to come from another clone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.git.process import Process, failure
from pcpfs.git.store import Git

_FILE = re.compile(r"(?P<file>(?:\S*/)?objects/(?:pack/pack-[0-9a-f]+|[0-9a-f]{2}/[0-9a-f]+))")
_OBJECT = re.compile(r"\b(?P<object>[0-9a-f]{40}(?:[0-9a-f]{24})?)\b")
_INDEX = ("index file", "bad signature", "sharedindex", "shared index")
_NOTHING_NEW = ("notice:", "dangling ", "unreachable ", "Checking ")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that git found wrong: the file it lies in (from the work tree on, as far as git
    says), and git's words."""

    path: str
    message: str


def faults(git: Git) -> tuple[Fault, ...]:
    """Everything that `git fsck` finds in objects, packs, the commit graph, refs and the index."""
    code, out, err = _process(git).attempt(
        "fsck", "--full", "--no-dangling", "--no-progress", "--no-reflogs"
    )
    lines = [*err.decode("utf-8", "replace").splitlines(), *out.decode().splitlines()]
    found = {_fault(git, line) for line in lines if line and not line.startswith(_NOTHING_NEW)}
    if code and not found:
        raise failure(("fsck",), err)
    return tuple(sorted(found, key=lambda fault: (fault.path, fault.message))) if code else ()


def mend(git: Git, found: Sequence[Fault], disk: Disk, aside: Path) -> tuple[Fault, ...]:
    """Mend what can be mended; the faults that were dealt with. Only under the writer's lock."""
    dealt = [fault for fault in found if _is_of_index(fault)]
    point_again(git)
    if dealt:
        _rebuild_index(git, disk, aside)
    damaged = sorted({f.path for f in found if _is_object(f.path)})
    for path in damaged:
        _set_aside(git, git.work_tree / path, disk, aside)
    if len(dealt) < len(found):
        _put_blobs_back(git)
        _process(git).attempt("write-tree")  # puts missing trees back; what else fails fsck names
        _drop_graph(git, disk)
    left = {fault.message for fault in faults(git)}
    return tuple(fault for fault in found if fault.message not in left)


def _fault(git: Git, line: str) -> Fault:
    said = line.removeprefix("error: ").removeprefix("fatal: ")
    named = _FILE.search(said)
    if named is not None:
        file = git.work_tree / named["file"]
        if file.name.startswith("pack-"):
            file = file.with_suffix(".pack")
        return Fault(_relative(git, file), said)
    if any(sign in said for sign in _INDEX):
        return Fault(_relative(git, git.git_dir / "index"), said)
    known = _OBJECT.search(said)
    if known is not None:
        name = known["object"]
        return Fault(_relative(git, git.common_dir / "objects" / name[:2] / name[2:]), said)
    return Fault(_relative(git, git.git_dir), said)


def _relative(git: Git, path: Path) -> str:
    return os.path.relpath(path, git.work_tree).replace(os.sep, "/")


def _is_of_index(fault: Fault) -> bool:
    return fault.path.endswith("/index")


def _is_object(path: str) -> bool:
    return "/objects/" in path


def _rebuild_index(git: Git, disk: Disk, aside: Path) -> None:
    """From HEAD; what a person had staged is only in the index that is moved aside."""
    disk.move(git.git_dir / "index", aside / "index")
    process = _process(git)
    if git.head() is not None:
        process.run("read-tree", "HEAD")
        process.attempt("update-index", "-q", "--refresh")


def _set_aside(git: Git, file: Path, disk: Disk, aside: Path) -> None:
    """Move a damaged object or pack away; what can still be read of a pack is taken out of it."""
    if not file.is_file():
        return
    disk.move(file, aside / file.name)
    if file.suffix != ".pack":
        return
    for other in sorted(file.parent.glob(file.stem + ".*")):
        disk.move(other, aside / other.name)
    for index in file.parent.glob("multi-pack-index*"):
        disk.remove(index)
    with (aside / file.name).open("rb") as content:
        _process(git).attempt("unpack-objects", "-r", "-q", stdin=content)


def _put_blobs_back(git: Git) -> None:
    """Every tracked file, as it lies in the work tree, becomes an object again if it is none."""
    listed = _process(git).run("ls-files", "-z").split(b"\0")[:-1]
    there = [path for path in listed if b"\n" not in path and _is_file(git, path)]
    names = b"".join(path + b"\n" for path in there)
    _process(git).run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names)


def _is_file(git: Git, path: bytes) -> bool:
    file = git.work_tree / os.fsdecode(path)
    return file.is_file() and not file.is_symlink()


def _drop_graph(git: Git, disk: Disk) -> None:
    """The commit graph is derived, and names objects that may be gone."""
    for name in ("commit-graph", "commit-graphs"):
        disk.remove_tree(git.common_dir / "objects" / "info" / name)


def point_again(git: Git) -> None:
    """Where HEAD's branch names no commit: the last one that its log names, if that is there."""
    branch = git.branch()
    if branch is None or _is_commit(git, "HEAD"):
        return
    ref = f"refs/heads/{branch}"
    log = git.common_dir / "logs" / ref
    entries = log.read_bytes().splitlines() if log.is_file() else []
    last = entries[-1].split(b" ")[1].decode("ascii", "replace") if entries else ""
    if _OBJECT.fullmatch(last) and _is_commit(git, last):
        _process(git).run("update-ref", "--no-deref", ref, last)


def _is_commit(git: Git, name: str) -> bool:
    return _process(git).attempt("cat-file", "-e", name + "^{commit}")[0] == 0


def _process(git: Git) -> Process:
    return Process(git.git_dir, git.work_tree, git.identity, optional_locks=True)
