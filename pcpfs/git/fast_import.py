"""One commit through `git fast-import`: flat in time, whatever the size of the repository."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

from pcpfs.git.process import Process
from pcpfs.git.values import CommitId, ObjectId, Person, Stored
from pcpfs.model.instants import Instant

Content = bytes | Path | Stored | None
"""What a path holds: bytes, a file to take them from, a blob at hand, or None for nothing."""


class Entry(NamedTuple):
    """A path and its blob as committed."""

    path: bytes
    blob: ObjectId | None
    mode: str = "100644"


_COMMAND = (
    *("-c", "pack.compression=1", "fast-import"),
    *("--quiet", "--force", "--date-format=raw"),
)
"""Measured: level 1 without deltas takes 60 % of the time, and packs are 8 % larger. But where each
content is much like the one before it, deltas take half of the time and a tenth of the room."""

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class CommitText:
    """What a commit says besides its files."""

    message: str
    at: Instant
    author: Person
    committer: Person

    def encoded(self) -> bytes:
        text = self.message.encode("utf-8", "replace").replace(b"\0", b"")
        seconds = max(0, self.at.microseconds // 1_000_000)
        return b"author %s %d +0000\ncommitter %s %d +0000\ndata %d\n%s\n" % (
            str(self.author).encode("utf-8", "replace"),
            seconds,
            str(self.committer).encode("utf-8", "replace"),
            seconds,
            len(text),
            text,
        )


@dataclass(slots=True)
class CommitImport:
    """Feeds one commit to git. Without `commit` the ref was not moved, and `messages` says why."""

    hash_name: str
    entries: list[Entry] = field(default_factory=list)
    commit: CommitId | None = None
    messages: bytes = b""
    _pending: bytearray = field(default_factory=bytearray)

    def run(
        self,
        process: Process,
        ref: str,
        parent: CommitId | None,
        text: CommitText,
        changes: Sequence[tuple[bytes, Content]],
        *,
        merged: Sequence[CommitId] = (),
        alike: bool = False,
    ) -> None:
        """`merged` are further parents; `alike`: most contents are much like the one before. An
        error while a content is read is raised, and nothing is committed."""
        self._pending += b"feature done\ncommit %s\n" % os.fsencode(ref)
        self._pending += b"mark :1\n" + text.encoded()
        if parent is not None:
            self._pending += b"from %s\n" % parent.encode()
        for further in merged:
            self._pending += b"merge %s\n" % further.encode()
        with process.start(*_COMMAND, f"--depth={50 if alike else 0}") as git:
            try:
                self._feed(git, changes)
            except BrokenPipeError:
                pass  # git has given up; its messages say why
            except BaseException:
                git.kill()  # without `done` nothing is committed
                raise
            out, self.messages = git.communicate()
        if git.returncode == 0:
            self.commit = CommitId(out.decode().strip())

    def _feed(self, git: Popen[bytes], changes: Sequence[tuple[bytes, Content]]) -> None:
        for path, content in changes:
            self._add(path, content.read_bytes() if isinstance(content, Path) else content)
            self._flush(git, _CHUNK)
        self._pending += b"\nget-mark :1\ndone\n"
        self._flush(git, 0)

    def _add(self, path: bytes, content: bytes | Stored | None) -> None:
        if content is None:
            self._pending += b"D %s\n" % _quoted(path)
            self.entries.append(Entry(path, None))
            return
        if isinstance(content, Stored):
            of = (content.mode.encode(), content.blob.encode(), _quoted(path))
            self._pending += b"M %s %s %s\n" % of
            self.entries.append(Entry(path, content.blob, content.mode))
            return
        self._pending += b"M 100644 inline %s\ndata %d\n" % (_quoted(path), len(content))
        self._pending += content
        self._pending += b"\n"
        self.entries.append(Entry(path, blob_of(self.hash_name, content)))

    def _flush(self, process: Popen[bytes], least: int) -> None:
        assert process.stdin is not None
        if len(self._pending) > least:
            process.stdin.write(self._pending)
            process.stdin.flush()
            self._pending.clear()


def blob_of(hash_name: str, content: Content) -> ObjectId | None:
    """The name that git gives a content; None for nothing."""
    if content is None or isinstance(content, Stored):
        return content.blob if content else None
    raw = content.read_bytes() if isinstance(content, Path) else content
    blob = hashlib.new(hash_name, b"blob %d\0" % len(raw), usedforsecurity=False)
    blob.update(raw)
    return ObjectId(blob.hexdigest())


def _quoted(path: bytes) -> bytes:
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"%s"' % escaped
