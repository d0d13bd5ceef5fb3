"""After history was rewritten: everything that names an old commit names the new one.

Refs, reflogs (the stash is one), other work trees, the shallow boundary; and what git keeps beside
them that nobody needs is taken away. All of it can be done again, and then changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import Unavailable
from pcpfs.git.locks import Patience, is_abandoned
from pcpfs.git.process import Process, failure
from pcpfs.git.raw import process_of
from pcpfs.git.refs import read_head
from pcpfs.git.store import Git

_EPHEMERAL = (
    *("ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG"),
    *("TAG_EDITMSG", "NOTES_EDITMSG", "MERGE_RR", "gitk.cache", "EDIT_DESCRIPTION"),
)
_UNFINISHED = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_LOG"),
    *("rebase-merge", "rebase-apply", "sequencer"),
)
_MESSAGE = b"pcpfs: erase"
_HELD_BACK = ("rr-cache", "lost-found")


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A work tree of the repository: its own git folder, and where its files lie; None where that
    is not there now."""

    git_dir: Path
    folder: Path | None


def work_trees(git: Git) -> tuple[WorkTree, ...]:
    """All of them, the one in whose name we are here first."""
    found = [WorkTree(git.git_dir, git.work_tree)]
    if git.git_dir != git.common_dir:
        main = git.common_dir.parent if git.common_dir.name == ".git" else None
        found.append(WorkTree(git.common_dir, main))
    linked = git.common_dir / "worktrees"
    for folder in sorted(linked.iterdir() if linked.is_dir() else ()):
        if folder != git.git_dir and (folder / "gitdir").is_file():
            place = Path((folder / "gitdir").read_text().strip()).parent
            found.append(WorkTree(folder, place if place.is_dir() else None))
    return tuple(found)


def unfinished_in(git: Git) -> str | None:
    """An operation of git that waits in some work tree, and where; None if none does."""
    for tree in work_trees(git):
        for name in _UNFINISHED:
            if (tree.git_dir / name).exists():
                return f"{name} in {tree.folder or tree.git_dir}"
    return None


def is_collecting(git: Git) -> bool:
    """Whether `git gc` is at work here: what it packs now would have removed objects again."""
    try:
        said = (git.common_dir / "gc.pid").read_text().split()
    except FileNotFoundError:
        return False
    return bool(said) and Path("/proc", said[0]).exists()


def require_plain_refs(git: Git) -> None:
    """Unavailable where refs are stored in a way that we cannot rewrite."""
    if (git.common_dir / "reftable").exists():
        raise Unavailable(
            "this repository stores its refs as reftable, whose logs pcpfs cannot rewrite; run "
            "`git refs migrate --ref-format=files`, and try again"
        )


def move_refs(git: Git, mapped: Mapping[str, str], gone: frozenset[str]) -> bool:
    """Let all refs name the new objects, in one transaction; refs that name a blob that is `gone`
    go. False if somebody moved one meanwhile: then look again."""
    orders = [b"option no-deref\0" + line for line in _orders(git, mapped, gone)]
    if orders and not _applied(process_of(git), b"".join(orders)):
        return False
    for tree in work_trees(git):
        head = read_head(tree.git_dir, git.common_dir)
        old = head.commit if head is not None and head.ref is None else None
        if old is not None and old in mapped:
            process = Process(tree.git_dir, tree.folder or git.work_tree, git.identity)
            new = mapped[old]
            order = f"option no-deref\0update HEAD\0{new}\0{old}\0".encode()
            if not _applied(process, order):
                return False
    return True


def _orders(git: Git, mapped: Mapping[str, str], gone: frozenset[str]) -> Iterator[bytes]:
    form = "--format=%(objectname) %(refname) %(symref)"
    for line in process_of(git).run("for-each-ref", form).splitlines():
        name, ref, symbolic = line.split(b" ", 2)
        old = name.decode()
        if symbolic:
            continue
        replaced = os.fsdecode(ref).removeprefix("refs/replace/")
        new = mapped.get(old, old)
        if old in gone or replaced in gone or (replaced in mapped and replaced != ref.decode()):
            yield b"delete %s\0%s\0" % (ref, name)
        elif new != old:
            yield b"update %s\0%s\0%s\0" % (ref, new.encode(), name)


def _applied(process: Process, orders: bytes) -> bool:
    patience = Patience(process.work_tree)
    while True:
        code, _, said = process.attempt("update-ref", "-m", _MESSAGE.decode(), "-z", "--stdin",
                                        stdin=orders)  # fmt: skip
        if code == 0:
            return True
        if b"but expected" in said or b"unable to resolve reference" in said:
            return False
        if not patience.waited(said):
            raise failure(("update-ref",), said)


def pack_refs(git: Git) -> None:
    """No file keeps what a ref named before."""
    if (git.common_dir / "packed-refs").exists():
        process_of(git).run("pack-refs", "--all")


def rewrite_logs(
    git: Git, disk: Disk, mapped: Mapping[str, str], scrub: Callable[[bytes], bytes]
) -> None:
    """Let the reflogs name the new commits, and nothing that is gone."""
    for log in _logs(git):
        before = log.read_bytes()
        lines = before.splitlines(keepends=True)
        kept = (line for line in lines if not line.endswith(b"\t" + _MESSAGE + b"\n"))
        after = b"".join(_log_line(line, mapped, scrub) for line in kept)
        if after != before:
            disk.write(log, after)


def _logs(git: Git) -> Iterator[Path]:
    for folder in dict.fromkeys([git.common_dir, *(tree.git_dir for tree in work_trees(git))]):
        yield from sorted(p for p in (folder / "logs").rglob("*") if p.is_file())


def _log_line(line: bytes, mapped: Mapping[str, str], scrub: Callable[[bytes], bytes]) -> bytes:
    about, tab, message = line.partition(b"\t")
    words = about.split(b" ", 2)
    names = [mapped.get(word.decode(), word.decode()).encode() for word in words[:2]]
    return b" ".join([*names, *words[2:]]) + tab + scrub(message)


def map_shallow(git: Git, disk: Disk, mapped: Mapping[str, str]) -> None:
    """History is cut off at the same commits as before, under their new names."""
    file = git.common_dir / "shallow"
    if file.is_file():
        before = file.read_text().split()
        after = sorted({mapped.get(name, name) for name in before})
        if set(after) != set(before):
            disk.write(file, "".join(f"{name}\n" for name in after).encode())


def clean_indexes(git: Git, disk: Disk, is_gone: Callable[[str, str], bool]) -> list[str]:
    """Take paths out of the index of every work tree, whose file is then whole and written anew;
    the paths that were in one. `is_gone` is asked for a path and its blob."""
    found: list[str] = []
    for tree in work_trees(git):
        if not (tree.git_dir / "index").is_file():
            continue
        process = Process(tree.git_dir, tree.folder or git.work_tree, git.identity)
        listed = process.run("ls-files", "-s", "-z").split(b"\0")[:-1]
        gone: dict[bytes, bytes] = {}
        for line in listed:
            about, _, path = line.partition(b"\t")
            blob = about.split(b" ")[1]
            if is_gone(os.fsdecode(path), blob.decode()):
                gone[path] = b"0" * len(blob)
        _write_index(process, gone)
        found += map(os.fsdecode, gone)
    for folder in dict.fromkeys([git.common_dir, *(tree.git_dir for tree in work_trees(git))]):
        for shared in folder.glob("sharedindex.*"):
            disk.remove(shared)
    return found


def _write_index(process: Process, gone: Mapping[bytes, bytes]) -> None:
    """Written anew also where nothing goes: a split index or an old extension may name it."""
    lines = b"".join(b"0 %s\t%s\0" % (none, path) for path, none in gone.items())
    patience = Patience(process.work_tree)
    command = ("update-index", "--no-split-index", "--clear-resolve-undo", "--force-write-index")
    while True:
        code, _, said = process.attempt(*command, "-z", "--index-info", stdin=lines)
        if code == 0:
            return
        if not patience.waited(said):
            raise failure(("update-index",), said)


def clear_ephemeral(git: Git, disk: Disk, names_it: Callable[[bytes], bool]) -> tuple[str, ...]:
    """Take away what git left behind for nobody's need: messages of finished commits, what was
    fetched last, crash reports, unfinished objects; of what it recorded of conflicts and found in
    searches, what names it. The files removed, from the git folder on."""
    found = list(_ephemeral(git, names_it))
    for path in found:
        disk.remove(path)
    for name in ("commit-graph", "commit-graphs"):
        disk.remove_tree(git.common_dir / "objects" / "info" / name)
    return tuple(os.path.relpath(path, git.common_dir) for path in found)


def _ephemeral(git: Git, names_it: Callable[[bytes], bool]) -> Iterator[Path]:
    folders = dict.fromkeys([git.common_dir, *(tree.git_dir for tree in work_trees(git))])
    for folder in folders:
        yield from (folder / name for name in _EPHEMERAL if (folder / name).is_file())
        for held in _HELD_BACK:
            files = sorted(p for p in (folder / held).rglob("*") if p.is_file())
            yield from (path for path in files if names_it(path.read_bytes()))
    yield from sorted(git.common_dir.glob("fast_import_crash_*"))
    for path in sorted((git.common_dir / "objects").rglob("*tmp[_-]*")):
        if path.is_file() and is_abandoned(path, git.work_tree):
            yield path


def refresh_dumb_info(git: Git) -> None:
    """Lists of refs and packs that plain file servers read, where there are any."""
    if (git.common_dir / "info" / "refs").exists():
        process_of(git).run("update-server-info")


def write_graph_again(git: Git, had: bool) -> None:
    if had and git.head() is not None and not git.is_shallow():
        process_of(git).run("commit-graph", "write", "--reachable", "--changed-paths",
                            "--split", "--no-progress")  # fmt: skip


def borrowed_from(git: Git) -> Sequence[str]:
    """Other repositories whose objects this one uses: what they hold is not ours to remove."""
    file = git.common_dir / "objects" / "info" / "alternates"
    return file.read_text().splitlines() if file.is_file() else ()
