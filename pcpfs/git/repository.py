"""A repository that is only read: the store's history, and the repositories of sources."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import Popen
from typing import Self

from pcpfs.errors import InvalidName, NotFound
from pcpfs.git.process import IDENTITY, Process, failure, require_trust
from pcpfs.git.refs import Head, locate, read_head
from pcpfs.git.values import CommitId, LogEntry, ObjectId, Person, TreeChange, TreeEntry
from pcpfs.model.instants import Instant

_LOG = "%H%x00%P%x00%ct%x00%an%x00%s%x00%(trailers:only=true,unfold=true)"
_LOG_FIELDS = 6


def find_repository(path: Path) -> Path | None:
    """The work tree that holds a path, looking upwards; bare repositories do not count."""
    start = Path(os.path.abspath(path))
    return next((folder for folder in (start, *start.parents) if locate(folder)), None)


@dataclass(frozen=True, slots=True)
class Repository:
    """One work tree with its repository. No method of this class writes anything there."""

    work_tree: Path
    git_dir: Path
    common_dir: Path
    identity: Person = IDENTITY

    @classmethod
    def open(cls, work_tree: Path, identity: Person = IDENTITY) -> Self:
        """NotFound if there is no repository just here; Unavailable if it is another user's."""
        folder = Path(os.path.abspath(work_tree))
        found = locate(folder)
        if found is None:
            raise NotFound(f"{folder} is no git work tree", path=str(folder))
        require_trust(folder, found[0])
        return cls(folder, *found, identity)

    def head(self) -> CommitId | None:
        """The commit of HEAD; None before the first one."""
        return self._head().commit

    def branch(self) -> str | None:
        """The short name of the current branch; None if HEAD is detached."""
        ref = self._head().ref
        return ref.removeprefix("refs/heads/") if ref else None

    def is_shallow(self) -> bool:
        """History is cut off somewhere."""
        return (self.common_dir / "shallow").exists()

    def is_partial(self) -> bool:
        """Objects were left out when this was cloned (`--filter`); its origin has them."""
        wanted = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        return self._process().attempt("config", "--local", "--get-regexp", wanted)[0] == 0

    def shallow_commits(self) -> frozenset[str]:
        """The commits at which history is cut off: their parents are not at hand."""
        try:
            return frozenset((self.common_dir / "shallow").read_text("ascii").split())
        except FileNotFoundError:
            return frozenset()

    def rebased_branch(self) -> str | None:
        """The ref of the branch that a rebase under way will move when it is done."""
        for folder in ("rebase-merge", "rebase-apply"):
            try:
                name = (self.git_dir / folder / "head-name").read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                continue
            ref = os.fsdecode(name.strip())
            return ref if ref.startswith("refs/heads/") else None
        return None

    def head_ref(self) -> str | None:
        """The ref of the current branch; None if HEAD is detached."""
        return self._head().ref

    def commit_of(self, ref: str) -> CommitId | None:
        """The commit that a ref names; None if there is no such ref."""
        code, out, _ = self._process().attempt(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
        )
        return CommitId(out.decode().strip()) if code == 0 and out.strip() else None

    def first_commit(self) -> CommitId | None:
        """The oldest commit on the first-parent line of HEAD: the fingerprint of a project, equal
        in all of its clones. None if there is none, or the history is cut off."""
        if self.head() is None or self.is_shallow():
            return None
        out = self._process().run("rev-list", "--first-parent", "--max-parents=0", "HEAD", "--")
        return CommitId(out.decode().split()[0])

    def log(self, paths: Sequence[str] = (), limit: int | None = None) -> list[LogEntry]:
        """The commits of HEAD that touch the paths (files or folders; none: all), newest first."""
        if self.head() is None:
            return []
        count = [] if limit is None else [f"--max-count={limit}"]
        return self._logged(*count, "HEAD", "--", *paths)

    def _logged(self, *arguments: str) -> list[LogEntry]:
        marked = arguments if "--" in arguments else (*arguments, "--")
        out = self._process().run("log", "-z", f"--format={_LOG}", "--no-show-signature", *marked)
        fields = out.decode("utf-8", "replace").split("\0")[:-1]
        rows = (fields[i : i + _LOG_FIELDS] for i in range(0, len(fields), _LOG_FIELDS))
        return [_log_entry(row) for row in rows]

    def diff_tree(self, before: CommitId | None, after: CommitId) -> list[TreeChange]:
        """The files that differ between two commits, by path; None is the empty tree."""
        if before is None:
            return [TreeChange(e.path, "A", None, e.blob, e.mode) for e in self.ls_tree(after)]
        out = self._process().run("diff-tree", *RAW, "--no-renames", before, after, "--")
        return tree_changes(out)

    def renames(self, before: CommitId, after: CommitId) -> list[tuple[str, str]]:
        """Old and new path of each file that git holds for renamed (`diff -M`), by new path."""
        out = self._process().run(
            "diff-tree", *RAW, "-M", "-l1000", "--diff-filter=R", before, after, "--"
        )
        words = list(map(os.fsdecode, out.split(b"\0")))
        return [(words[i + 1], words[i + 2]) for i in range(0, len(words) - 1, 3)]

    def ls_tree(self, commit: CommitId, path: str = "") -> list[TreeEntry]:
        """The files of a commit, below a folder or all, by path; links and gitlinks too."""
        below = [path] if path else []
        out = self._process().run("ls-tree", "-r", "-z", "--full-tree", commit, "--", *below)
        return [_tree_entry(line) for line in out.split(b"\0")[:-1]]

    def files_of(self, commit: CommitId) -> Iterator[tuple[str, ObjectId]]:
        """The same one by one, as path and blob: a whole tree does not go through memory."""
        with self._process().start("ls-tree", "-r", "-z", "--full-tree", commit) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            rest = b""
            while chunk := process.stdout.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\0")
                for line in lines:
                    about, _, path = line.partition(b"\t")
                    yield os.fsdecode(path), ObjectId(about.rpartition(b" ")[2].decode())
            messages = process.stderr.read()
        if process.returncode != 0:
            raise failure(("ls-tree",), messages)

    def blobs_at(self, commit: CommitId, paths: Sequence[str]) -> list[ObjectId | None]:
        """The blob of each path in a commit, in their order; None where there is none."""
        plain = [path for path in paths if "\n" not in path]
        with tempfile.TemporaryFile() as names:
            names.writelines(_blob_name(f"{commit}:{path}") for path in plain)
            names.seek(0)
            form = "--batch-check=%(objecttype) %(objectname)"
            out = self._process().run("cat-file", form, "--buffer", stdin=names)
        found = dict(zip(plain, map(_blob_id, out.split(b"\n")), strict=False))
        return [found[p] if p in found else self._blob_at(commit, p) for p in paths]

    def show_blobs(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """The contents of blobs, in order, one at a time; None for what is no blob here.

        A name is an object id or `COMMIT:path`. One process serves them all.
        """
        with tempfile.TemporaryFile() as wanted:
            wanted.writelines(map(_blob_name, names))
            wanted.seek(0)
            command = ("cat-file", "--batch", "--buffer")
            with self._process().start(*command, stdin=wanted) as process:
                try:
                    yield from _blobs(process)
                finally:
                    process.kill()

    def holding(self, contents: Mapping[str, bytes]) -> set[str]:
        """The names of those contents that the repository has as blobs."""
        kind = self.get_config("extensions.objectformat") or "sha1"
        blobs = {
            name: hashlib.new(
                kind, b"blob %d\0" % len(raw) + raw, usedforsecurity=False
            ).hexdigest()
            for name, raw in contents.items()
        }
        here = self.sizes(blobs.values())
        return {name for name, blob in blobs.items() if blob in here}

    def sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        """The sizes of these blobs, by their ids; those that are not at hand are left out."""
        wanted = dict.fromkeys(blobs)
        form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        command = ["cat-file", form, "--buffer"]
        if self.is_partial():  # to be asked for what it lacks is to fail, or to fetch it
            command += ["--batch-all-objects", "--unordered"]
        with tempfile.TemporaryFile() as names:
            names.writelines(blob.encode() + b"\n" for blob in wanted)
            names.seek(0)
            out = self._process().run(*command, stdin=names)
        rows = (line.split(" ") for line in out.decode().splitlines())
        return {
            row[0]: int(row[2])
            for row in rows
            if len(row) == 3 and row[1] == "blob" and row[0] in wanted
        }

    def get_config(self, key: str) -> str | None:
        """A value of the repository's own configuration; its last one, None if unset."""
        code, out, err = self._process().attempt("config", "--local", "-z", "--get", key)
        if code > 1:
            raise failure(("config",), err)
        return os.fsdecode(out[:-1]) if code == 0 else None

    def _blob_at(self, commit: CommitId, path: str) -> ObjectId | None:
        out = self._process().run("ls-tree", "-z", "--full-tree", commit, "--", path)
        return _tree_entry(out[:-1]).blob if b" blob " in out.partition(b"\t")[0] else None

    def _process(self) -> Process:
        return Process(self.git_dir, self.work_tree, self.identity)

    def _head(self) -> Head:
        return read_head(self.git_dir, self.common_dir) or self._asked_head()

    def _asked_head(self) -> Head:
        process = self._process()
        _, ref, _ = process.attempt("symbolic-ref", "--quiet", "HEAD")
        _, commit, _ = process.attempt("rev-parse", "--verify", "--quiet", "HEAD")
        name = os.fsdecode(ref.strip())
        return Head(name or None, CommitId(commit.decode().strip()) if commit.strip() else None)


_CHUNK = 1 << 20

RAW = ("-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv")


def _log_entry(row: Sequence[str]) -> LogEntry:
    commit, parents, at, author, subject, trailers = row
    pairs = (line.partition(": ") for line in trailers.splitlines())
    return LogEntry(
        CommitId(commit.strip()),
        tuple(map(CommitId, parents.split())),
        Instant(int(at) * 1_000_000),
        author,
        subject,
        {key: value for key, _, value in pairs},
    )


def tree_changes(raw: bytes) -> list[TreeChange]:
    """What `--raw -z` without renames prints."""
    words = raw.split(b"\0")
    return [_tree_change(words[i], words[i + 1]) for i in range(0, len(words) - 1, 2)]


def _tree_change(raw: bytes, path: bytes) -> TreeChange:
    _, mode, before, after, status = raw.decode().split(" ")
    change = TreeChange(os.fsdecode(path), status[0], _object(before), _object(after))
    return replace(change, mode=mode) if change.after else change


def _object(text: str) -> ObjectId | None:
    return ObjectId(text) if text.strip("0") else None


def _tree_entry(line: bytes) -> TreeEntry:
    about, _, path = line.partition(b"\t")
    mode, _, blob = about.decode().split(" ")
    return TreeEntry(os.fsdecode(path), mode, ObjectId(blob))


def _blob_name(name: str) -> bytes:
    if "\n" in name:
        raise InvalidName(f"{name!r} holds a line feed; name the blob by its id")
    return os.fsencode(name) + b"\n"


def _blob_id(line: bytes) -> ObjectId | None:
    kind, _, name = line.partition(b" ")
    return ObjectId(name.decode()) if kind == b"blob" and b" " not in name else None


def _blobs(process: Popen[bytes]) -> Iterator[bytes | None]:
    assert process.stdout is not None
    assert process.stderr is not None
    while header := process.stdout.readline():
        words = header.split()
        if len(words) != 3 or not words[2].isdigit():
            yield None
            continue
        content = process.stdout.read(int(words[2]) + 1)
        if len(content) != int(words[2]) + 1:
            raise failure(("cat-file",), process.stderr.read())
        yield content[:-1] if words[1] == b"blob" else None
    if process.wait() != 0:
        raise failure(("cat-file",), process.stderr.read())
