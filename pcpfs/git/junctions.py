"""Where lines of history meet: operations that wait to be concluded, and what merges have done."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import Unavailable
from pcpfs.git.fast_import import blob_of
from pcpfs.git.process import failure
from pcpfs.git.repository import RAW, Repository, tree_changes
from pcpfs.git.values import CommitId, LogEntry, ObjectId, TreeChange

_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}

_DRIVER = "merge.pcpfs.driver"
_KEEP_OURS = (
    "case \" $(tr '\\0' ' ' </proc/$PPID/cmdline 2>/dev/null || ps -o args= -p $PPID) \" in "
    '*" stash "*|*" checkout "*|*" switch "*) exit 1;; '
    '*" merge "*|*" rebase "*|*" cherry-pick "*|*" revert "*|*" am "*) exit 0;; esac; exit 1'
)
"""What joins commits may keep ours, since we look at theirs afterwards; for all other commands
theirs is an edit that is in no commit, and git would throw it away (a stash, even)."""

_NAME = "keep ours, but never instead of an edit: pcpfs lays tree/ anew"
_CONFIG = (
    ("merge.pcpfs.name", _NAME),
    (_DRIVER, _KEEP_OURS),
    ("merge.directoryRenames", "false"),
)


@dataclass(frozen=True, slots=True)
class Junctions(Repository):
    """What the store asks its repository when lines of history meet."""

    def unfinished(self) -> str | None:
        """The operation of a person that waits to be concluded: "merge", "rebase", …"""
        there = (name for name in _UNFINISHED if (self.git_dir / name).exists())
        return next((_UNFINISHED[name] for name in there), None)

    def keep_ours_in_merges(self) -> None:
        """Set the merge driver `pcpfs`, and tell git not to guess at moved folders; at once where
        that is done already."""
        config = self.common_dir / "config"
        if config.is_file() and _NAME.encode() in config.read_bytes():
            return
        for key, value in _CONFIG:
            self._process().run("config", "--local", "--", key, value)

    def merge_heads(self) -> tuple[CommitId, ...]:
        """What a waiting merge is with."""
        return tuple(map(CommitId, self._state("MERGE_HEAD").split()))

    def merge_message(self) -> str:
        """What a waiting merge is to be called; comments are dropped."""
        lines = self._state("MERGE_MSG").splitlines()
        return "\n".join(line for line in lines if not line.startswith("#")).strip()

    def begin_merge(self, disk: Disk, other: CommitId, message: str) -> None:
        """Make git and us wait for a merge with that commit; nothing else changes."""
        disk.write(self.git_dir / "MERGE_MSG", message.encode() + b"\n")
        disk.write(self.git_dir / "MERGE_HEAD", other.encode() + b"\n")

    def forget_merge(self) -> None:
        """No merge waits any more; what `git pull --autostash` had put aside goes to the stash."""
        if (self.git_dir / "MERGE_HEAD").exists():
            self._process().run("merge", "--quit")

    def unmerged(self) -> set[str]:
        """Paths on which a waiting merge could not agree."""
        out = self._process().run("ls-files", "-u", "-z")
        return {os.fsdecode(line.partition(b"\t")[2]) for line in out.split(b"\0")[:-1]}

    def staged(self) -> list[TreeChange]:
        """What the index holds otherwise than HEAD."""
        if self.head() is None:
            return []
        command = ("diff-index", "--cached", *RAW, "--no-renames", "HEAD", "--")
        return tree_changes(self._process().run(*command))

    def merge_base(self, one: CommitId, other: CommitId) -> CommitId | None:
        """The newest commit that both have; None if they share none."""
        code, out, err = self._process().attempt("merge-base", one, other)
        if code > 1:
            raise failure(("merge-base",), err)
        return CommitId(out.decode().strip()) if code == 0 else None

    def is_ancestor(self, old: CommitId, new: CommitId) -> bool:
        """`new` is `old`, or goes on from it; False also where `old` is not at hand."""
        return self._process().attempt("merge-base", "--is-ancestor", old, new)[0] == 0

    def between(self, before: Iterable[CommitId], after: CommitId) -> list[LogEntry]:
        """The commits of `after` that none of `before` has, newest first."""
        return self._logged(after, *(f"^{commit}" for commit in before))

    def merges(self, before: Iterable[CommitId], after: CommitId, most: int) -> list[LogEntry]:
        """The newest merges of `after` that none of `before` has."""
        since = (f"^{commit}" for commit in before)
        return self._logged("--merges", f"--max-count={most}", after, *since)

    def with_trailer(self, name: str, after: CommitId, most: int) -> list[CommitId]:
        """The newest commits of a history that carry a trailer."""
        grep = f"--grep=^{re.escape(name)}: "
        return [entry.commit for entry in self._logged(grep, f"--max-count={most}", after)]

    def rebased(self, until: CommitId | None, most: int) -> list[CommitId]:
        """The commits at which HEAD stood when a rebase began, since it last stood at `until`: the
        newest first."""
        command = ("log", "--walk-reflogs", "-z", "--format=%H %gs", f"--max-count={most}", "HEAD")
        code, out, _ = self._process().attempt(*command, "--")
        entries = [line.partition(" ") for line in out.decode("utf-8", "replace").split("\0")]
        found: list[CommitId] = []
        for (commit, _, action), (earlier, _, _) in pairwise(entries if code == 0 else ()):
            if commit == until:
                break
            if "(start): checkout" in action and earlier:
                found.append(CommitId(earlier))
        return found

    def touching(self, path: str) -> list[LogEntry]:
        """All commits at hand that touch a path, those that no branch has any more included."""
        return self._logged("--all", "--reflog", "HEAD", "--full-history", "--", path)

    def blend(self, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        """What git makes of two texts with a common ancestor, with markers where it cannot."""
        import tempfile  # noqa: PLC0415 (few commands merge texts)

        with tempfile.TemporaryDirectory(prefix="pcpfs-blend-") as folder:
            files = [Path(folder, name) for name in ("ours", "base", "theirs")]
            for file, text in zip(files, (ours, base, theirs), strict=True):
                file.write_bytes(text)
            return self._process().attempt("merge-file", "-p", "-q", *map(str, files))[1]

    def name_of(self, content: bytes, like: CommitId | None = None) -> ObjectId | None:
        """The blob that has this content; `like` a commit at hand, else HEAD, it is named."""
        head = like or self.head()
        return blob_of("sha256" if head and len(head) == 64 else "sha1", content)

    def contents(self, blobs: Sequence[ObjectId | None]) -> Iterator[bytes | None]:
        """The contents of blobs, in order; None for None and for what is not at hand."""
        found = self.show_blobs(str(blob) for blob in blobs if blob is not None)
        return (None if blob is None else next(found) for blob in blobs)

    def get_configs(self, pattern: str) -> list[tuple[str, str]]:
        """The values of the repository's own configuration whose names fit, in its order."""
        _, out, _ = self._process().attempt("config", "--local", "-z", "--get-regexp", pattern)
        lines = (line.partition("\n") for line in os.fsdecode(out).split("\0")[:-1])
        return [(key, value) for key, _, value in lines]

    def move_ref(self, ref: str, commit: CommitId | None) -> None:
        """Let a ref that is no branch name this commit; None removes it."""
        if commit is None:
            self._process().run("update-ref", "-d", ref)
        else:
            self._process().run("update-ref", ref, commit)

    def ref(self, name: str) -> CommitId | None:
        """What a ref names."""
        code, out, _ = self._process().attempt("rev-parse", "--verify", "--quiet", name)
        return CommitId(out.decode().strip()) if code == 0 else None

    def _state(self, name: str) -> str:
        try:
            return (self.git_dir / name).read_text("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise Unavailable(f"{self.git_dir / name} cannot be read: {error.strerror}") from error
