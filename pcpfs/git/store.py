"""The store's own repository: commits of many files at once, and an index that agrees."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pcpfs.disk import Disk
from pcpfs.errors import Busy, Conflict, InvalidName, Unavailable
from pcpfs.git.fast_import import CommitImport, CommitText, Content, Entry, blob_of
from pcpfs.git.junctions import Junctions
from pcpfs.git.locks import Patience
from pcpfs.git.process import IDENTITY, Process, failure, require_git, run_anywhere
from pcpfs.git.refs import Head
from pcpfs.git.repository import find_repository
from pcpfs.git.values import CommitId, Person, Stored
from pcpfs.model.instants import Instant

Change = tuple[str, Content]
"""A path and its new content: bytes, a file to take them from, or None for removed."""

_ATTEMPTS = 100
"""How often a person's commits may come in between; each takes them longer than ours takes us."""

_SPLIT_FROM = 2 << 20
"""Index bytes (some 12,000 files) from which splitting it pays: 8 instead of 25 ms at 28,000 files.
Smaller ones stay whole, since programs that do not use git itself cannot read a split index."""

_SPLITTING = ("-c", "core.splitIndex=true", "-c", "splitIndex.sharedIndexExpire=1.day.ago")

_PENDING = "refs/pcpfs/pending"


@dataclass(frozen=True, slots=True)
class Git(Junctions):
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

    def commit(
        self,
        changes: Iterable[Change],
        message: str,
        at: Instant,
        author: Person | None = None,
        *,
        refresh: bool = True,
        merged: Sequence[CommitId] = (),
        alike: bool = False,
    ) -> CommitId:
        """Commit these changes, and nothing else, on top of HEAD.

        First git has the objects, then its index agrees on these paths, then the branch moves: so
        a person's own commit at any moment either has these files or makes us go on top of it,
        and never drops them. The work tree is not looked at; other staged changes stay staged.

        Unavailable while a merge or rebase waits. Busy if another git command holds the index or
        the branch for seconds; then nothing is committed, and the same call later does it.
        Without `refresh` the index is left behind (for scratch repositories). `merged` are further
        parents: then a waiting merge is what is concluded (see `forget_merge`). `alike`: most
        contents are much like the one before, as versions of one file are.
        """
        waiting = self.unfinished()
        if waiting is not None and not (merged and waiting == "merge"):
            raise Unavailable(
                f"a {waiting} in {self.work_tree} is not finished; conclude it with git, or "
                f"`git {waiting} --abort`, and try again"
            )
        wanted = [(checked(path), content) for path, content in changes]
        wanted.sort(key=lambda change: change[1] is not None)  # a file may make room for a folder
        text = CommitText(message, at, author or self.identity, self.identity)
        for _ in range(_ATTEMPTS):
            before = self._head()
            commit, entries = self._import(before, text, wanted, merged, alike)
            if refresh:
                self._index_commit(entries, commit)
            moved = self._move_branch(before, commit)
            # A person may have left the branch for another one meanwhile: there as well.
            if moved and self._head().ref == before.ref:
                return commit
        raise Busy(f"other git commands keep committing in {self.work_tree}; try again")

    def refresh_index(self, paths: Iterable[str]) -> None:
        """Make the index agree with HEAD on these paths; Busy if another command holds it."""
        commit = self.head()
        if commit is not None:
            names = sorted(set(paths))
            blobs = self.blobs_at(commit, names)
            self._write_index(list(map(Entry, map(checked, names), blobs)), commit)

    def advance(self, commit: CommitId, changes: Iterable[tuple[str, Stored | None]]) -> bool:
        """Move HEAD's branch forward to a commit that is there already, and the index with it;
        `changes` are all files in which it differs. False if a person moved the branch meanwhile:
        then look again."""
        before = self._head()
        entries = [
            Entry(checked(path), None) if to is None else Entry(checked(path), to.blob, to.mode)
            for path, to in changes
        ]
        self._write_index(entries, commit)
        return self._move_branch(before, commit)

    def not_in_head(self, changes: Mapping[str, Content]) -> dict[str, Content]:
        """Those of the changes that HEAD does not hold yet; for the others the index is made to
        agree with it."""
        before = self._head().commit
        if before is None:
            return dict(changes)
        blobs = self.blobs_at(before, list(changes))
        name = self._hash_name(before)
        held = {
            path
            for (path, content), blob in zip(changes.items(), blobs, strict=True)
            if blob == blob_of(name, content)
        }
        self.refresh_index(held)
        return {path: content for path, content in changes.items() if path not in held}

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

    def _import(
        self,
        before: Head,
        text: CommitText,
        changes: Sequence[tuple[bytes, Content]],
        merged: Sequence[CommitId],
        alike: bool,
    ) -> tuple[CommitId, list[Entry]]:
        """Make the commit, under a name of ours that nobody looks at."""
        patience = Patience(self.work_tree)
        hash_name = self._hash_name(before.commit)
        while True:
            attempt = CommitImport(hash_name)
            attempt.run(
                self._process(), _PENDING, before.commit, text, changes, merged=merged, alike=alike
            )
            if attempt.commit is not None:
                return attempt.commit, attempt.entries
            if not patience.waited(attempt.messages):
                raise failure(("fast-import",), attempt.messages)

    def _move_branch(self, before: Head, commit: CommitId) -> bool:
        """Move HEAD's branch to the commit and drop our name for it; False if a person moved it."""
        patience = Patience(self.work_tree)
        old = before.commit or "0" * len(commit)
        orders = f"update {before.ref or 'HEAD'}\0{commit}\0{old}\0delete {_PENDING}\0\0"
        if before.ref is None:
            orders = "option no-deref\0" + orders
        while True:
            code, _, messages = self._process().attempt(
                "update-ref", "-m", "pcpfs: commit", "-z", "--stdin", stdin=os.fsencode(orders)
            )
            if code == 0:
                return True
            if self._head() != before:
                return False
            if not patience.waited(messages):
                raise failure(("update-ref",), messages)

    def _hash_name(self, commit: CommitId | None) -> str:
        if commit is None:
            return self._process().run("rev-parse", "--show-object-format").decode().strip()
        return "sha1" if len(commit) == 40 else "sha256"

    def _process(self) -> Process:
        return Process(self.git_dir, self.work_tree, self.identity, optional_locks=True)

    def _update_index(self) -> tuple[str, ...]:
        """The command that also splits a large index. What a split one holds besides its shared
        part is written anew each time: once that is much (`git status` puts every file there that
        it looked at), it joins the shared part."""
        try:
            size = (self.git_dir / "index").stat().st_size
        except FileNotFoundError:
            size = 0
        if size < _SPLIT_FROM:
            return ("update-index",)
        return (*_SPLITTING, "update-index", "--split-index")

    def _index_commit(self, entries: Sequence[Entry], commit: CommitId) -> None:
        """The index agrees with a commit before the branch moves to it."""
        self._write_index(entries, commit)

    def _write_index(self, entries: Sequence[Entry], commit: CommitId) -> None:
        none = "0" * len(commit)
        lines = b"".join(
            b"%s %s\t%s\0" % (mode.encode() if blob else b"0", (blob or none).encode(), path)
            for path, blob, mode in entries
        )
        patience = Patience(self.work_tree)
        while True:
            code, _, messages = self._process().attempt(
                *self._update_index(), "-z", "--index-info", stdin=lines
            )
            if code == 0:
                return
            if not patience.waited(messages):
                raise failure(("update-index",), messages)


def checked(path: str) -> bytes:
    """A path for git: only what git would also check out; a `.git` inside a path is an attack."""
    raw = os.fsencode(path)
    parts = raw.lower().split(b"/")
    if b"\0" in raw or not {b"", b".", b"..", b".git"}.isdisjoint(parts):
        raise InvalidName(f"{path!r} is no path inside a work tree")
    return raw
