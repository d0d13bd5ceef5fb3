"""The store's own repository: commits of many files at once, and an index that agrees."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Self

from pcpfs.disk import Disk
from pcpfs.errors import Busy, Conflict, InvalidName, Unavailable
from pcpfs.git.process import IDENTITY, Process, failure, require_git, run_anywhere
from pcpfs.git.repository import Repository, find_repository
from pcpfs.git.values import CommitId, ObjectId, Person
from pcpfs.model.instants import Instant

Change = tuple[str, bytes | Path | None]
"""A path and its new content: bytes, a file to take them from, or None for removed."""

_CHUNK = 1 << 20
_POLL_SECONDS = 0.05
_LOCK_POLLS = 40
_COMMIT_ATTEMPTS = 20
_IMPORT = ("-c", "pack.compression=1", "fast-import", "--quiet", "--date-format=raw", "--depth=0")
"""Measured: level 1 without deltas takes 60 % of the time, and packs are 8 % larger."""

_SPLIT_FROM = 2 << 20
"""Index bytes (some 12,000 files) from which splitting it pays: 8 instead of 25 ms at 28,000 files.
Smaller ones stay whole, since programs that do not use git itself cannot read a split index."""

_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}

Entry = tuple[bytes, ObjectId | None]


@dataclass(frozen=True, slots=True)
class Git(Repository):
    """The repository that pcpfs commits to. One writer at a time (the store's lock); a person's
    own git commands may run beside it at any moment."""

    @classmethod
    def init(
        cls,
        work_tree: Path,
        branch: str = "main",
        nested: bool = False,
        identity: Person = IDENTITY,
    ) -> Self:
        """Make a repository without templates and hooks in a folder that exists.

        Conflict if there is one already, or if the folder lies in another work tree and `nested`
        does not say that this is meant.
        """
        require_git()
        folder = Path(os.path.abspath(work_tree))
        around = find_repository(folder)
        if around == folder:
            raise Conflict(f"{folder} is a git repository already", path=str(folder))
        if around is not None and not nested:
            raise Conflict(
                f"{folder} lies in the git repository {around}, which would take it for a "
                "submodule; choose another folder, or say --nested",
                path=str(folder),
            )
        run_anywhere(["init", "--quiet", "--template=", f"--initial-branch={branch}"], folder)
        return cls.open(folder, identity)

    def unfinished(self) -> str | None:
        """The operation of a person that waits to be concluded: "merge", "rebase", …"""
        there = (name for name in _UNFINISHED if (self.git_dir / name).exists())
        return next((_UNFINISHED[name] for name in there), None)

    def commit(
        self,
        changes: Iterable[Change],
        message: str,
        at: Instant,
        author: Person | None = None,
        refresh: bool = True,
    ) -> CommitId:
        """Commit these changes, and nothing else, on top of HEAD; then make the index agree.

        The work tree is not looked at and other staged changes stay staged. If the branch moves
        meanwhile the changes go on top of its new tip. Unavailable while a merge or rebase waits.
        Busy with a field `commit` means that the commit is there and only the index is not, since
        another git command holds it: call `refresh_index` later.
        """
        waiting = self.unfinished()
        if waiting is not None:
            raise Unavailable(
                f"a {waiting} in {self.work_tree} is not finished; conclude it with git, or "
                f"`git {waiting} --abort`, and try again"
            )
        wanted = [(_checked(path), content) for path, content in changes]
        heading = _heading(message, at, self.identity, author or self.identity)
        for _ in range(_COMMIT_ATTEMPTS):
            parent, commit, entries = self._commit(wanted, heading)
            if not refresh:
                return commit
            self._write_index(entries, commit)
            dropped = self._dropped(parent, commit, entries)
            if not dropped:
                return commit
            wanted = [change for change in wanted if change[0] in dropped]
        raise Busy(f"other git commands keep committing in {self.work_tree}; try again")

    def refresh_index(self, paths: Iterable[str]) -> None:
        """Make the index agree with HEAD on these paths; Busy if another command holds it.

        A person who commits before this is called commits the old state of these paths.
        """
        commit = self.head()
        if commit is not None:
            names = sorted(set(paths))
            blobs = self.blobs_at(commit, names)
            self._write_index(list(zip(map(_checked, names), blobs, strict=True)), commit)

    def set_config(self, key: str, value: str) -> None:
        """Set a value in the repository's own configuration."""
        self._process().run("config", "--local", "--", key, value)

    def tracked_status(self) -> list[tuple[str, str]]:
        """Tracked files that differ from HEAD or the index: git's two letters, and the path.

        What it learns about unchanged files is kept in the index, so that the next one is fast.
        """
        out = self._process().run(
            "status", "-z", "--porcelain", "--untracked-files=no", "--no-renames"
        )
        return [(line[:2], line[3:]) for line in os.fsdecode(out).split("\0")[:-1]]

    def lay_info(self, disk: Disk, name: str, text: str) -> None:
        """Put a file such as `attributes` or `exclude` into `.git/info`, if it says otherwise."""
        path = self.common_dir / "info" / name
        if not path.is_file() or path.read_bytes() != text.encode():
            disk.write(path, text.encode())

    def _commit(
        self, changes: Sequence[tuple[bytes, bytes | Path | None]], heading: bytes
    ) -> tuple[CommitId | None, CommitId, list[Entry]]:
        for _ in range(_COMMIT_ATTEMPTS):
            before = self._head()
            ref = before.ref or "HEAD"
            importer = _Importer(self._hash_name(before.commit))
            with self._process().start(*_IMPORT) as process:
                importer.feed(process, ref, before.commit, heading, changes)
            # A person may have moved the branch or left it for another one meanwhile.
            after = self._head()
            if importer.commit is not None and (after.ref or "HEAD") == ref:
                return before.commit, importer.commit, importer.entries
            if after == before and not importer.found_lock:
                raise failure(("fast-import",), importer.messages)
            time.sleep(_POLL_SECONDS if importer.found_lock else 0)
        raise Busy(f"other git commands keep moving {ref} in {self.work_tree}; try again")

    def _dropped(
        self, parent: CommitId | None, commit: CommitId, entries: Sequence[Entry]
    ) -> set[bytes]:
        """Paths that a person's commit put back as they were before ours.

        It was made from the index after our commit and before our change of the index.
        """
        head = self.head()
        if head is None or head == commit:
            return set()
        names = [os.fsdecode(path) for path, _ in entries]
        now = self.blobs_at(head, names)
        before = self.blobs_at(parent, names) if parent else [None] * len(names)
        return {
            path
            for (path, ours), old, new in zip(entries, before, now, strict=True)
            if new == old != ours
        }

    def _hash_name(self, commit: CommitId | None) -> str:
        if commit is None:
            return self._process().run("rev-parse", "--show-object-format").decode().strip()
        return "sha1" if len(commit) == 40 else "sha256"

    def _process(self) -> Process:
        return Process(self.git_dir, self.work_tree, self.identity, optional_locks=True)

    def _split(self) -> tuple[str, ...]:
        try:
            size = (self.git_dir / "index").stat().st_size
        except FileNotFoundError:
            size = 0
        return ("-c", "core.splitIndex=true") if size >= _SPLIT_FROM else ()

    def _write_index(self, entries: Sequence[Entry], commit: CommitId) -> None:
        none = "0" * len(commit)
        lines = b"".join(
            b"%s %s\t%s\0" % (b"100644" if blob else b"0", (blob or none).encode(), path)
            for path, blob in entries
        )
        for _ in range(_LOCK_POLLS):
            code, _, messages = self._process().attempt(
                *self._split(), "update-index", "-z", "--index-info", stdin=lines
            )
            if code == 0:
                return
            if b"index.lock': File exists" not in messages:
                raise failure(("update-index",), messages)
            time.sleep(_POLL_SECONDS)
        raise Busy(
            f"everything is committed, but another git command holds {self.git_dir / 'index.lock'}"
            "; if none is running, remove that file",
            commit=commit,
        )


class _Importer:
    """Feeds one commit to `git fast-import` and learns what became of it."""

    def __init__(self, hash_name: str) -> None:
        self._hash_name = hash_name
        self._pending = bytearray()
        self.entries: list[Entry] = []
        self.commit: CommitId | None = None
        self.messages = b""

    @property
    def found_lock(self) -> bool:
        return b".lock': File exists" in self.messages

    def feed(
        self,
        process: Popen[bytes],
        ref: str,
        parent: CommitId | None,
        heading: bytes,
        changes: Sequence[tuple[bytes, bytes | Path | None]],
    ) -> None:
        self._pending += b"feature done\ncommit %s\nmark :1\n%s" % (os.fsencode(ref), heading)
        if parent is not None:
            self._pending += b"from %s\n" % parent.encode()
        try:
            for path, content in changes:
                self._add(path, content.read_bytes() if isinstance(content, Path) else content)
                self._flush(process, _CHUNK)
            self._pending += b"\nget-mark :1\ndone\n"
            self._flush(process, 0)
        except BrokenPipeError:
            pass  # git has given up; its messages say why
        except BaseException:
            process.kill()  # without `done` nothing is committed
            raise
        out, self.messages = process.communicate()
        if process.returncode == 0:
            self.commit = CommitId(out.decode().strip())

    def _add(self, path: bytes, content: bytes | None) -> None:
        if content is None:
            self._pending += b"D %s\n" % _quoted(path)
            self.entries.append((path, None))
            return
        self._pending += b"M 100644 inline %s\ndata %d\n" % (_quoted(path), len(content))
        self._pending += content
        self._pending += b"\n"
        blob = hashlib.new(self._hash_name, b"blob %d\0" % len(content), usedforsecurity=False)
        blob.update(content)
        self.entries.append((path, ObjectId(blob.hexdigest())))

    def _flush(self, process: Popen[bytes], least: int) -> None:
        assert process.stdin is not None
        if len(self._pending) > least:
            process.stdin.write(self._pending)
            process.stdin.flush()
            self._pending.clear()


def _heading(message: str, at: Instant, committer: Person, author: Person) -> bytes:
    text = message.encode("utf-8", "replace").replace(b"\0", b"")
    seconds = max(0, at.microseconds // 1_000_000)
    return b"author %s %d +0000\ncommitter %s %d +0000\ndata %d\n%s\n" % (
        str(author).encode("utf-8", "replace"),
        seconds,
        str(committer).encode("utf-8", "replace"),
        seconds,
        len(text),
        text,
    )


def _quoted(path: bytes) -> bytes:
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"%s"' % escaped


def _checked(path: str) -> bytes:
    """Only what git would also check out; a `.git` inside a path is an attack."""
    raw = os.fsencode(path)
    parts = raw.lower().split(b"/")
    if b"\0" in raw or not {b"", b".", b"..", b".git"}.isdisjoint(parts):
        raise InvalidName(f"{path!r} is no path inside a work tree")
    return raw
