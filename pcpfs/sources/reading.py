"""Reads one file of a source tree: whole, unchanged meanwhile, and never outside the root."""

from __future__ import annotations

import errno
import os
import stat as mode
import time
from pathlib import Path

from pcpfs.model.ids import Digest
from pcpfs.sources.scanned import Candidate, Content, Gone, Outcome, Reason, Skipped, Stat

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.02
_HEAD = 8192
_LEAST_UNMARKED = 8
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_GONE = {errno.ENOENT, errno.ENOTDIR}


def read_stable(root: Path, path: str, max_size: int) -> Outcome:
    """The bytes of a regular file that did not change while they were read.

    Tried three times, since a file is often saved in several writes. Links are never followed, in
    no part of the path, so what was swapped for a link after the scan is not read either.
    """
    try:
        descriptor = _open_beneath(root, path)
    except OSError as error:
        return _refusal(path, error)
    try:
        return _read_open(descriptor, path, max_size)
    except OSError as error:
        return Skipped(path, Reason.UNREADABLE, _why(error))
    finally:
        os.close(descriptor)


def _open_beneath(root: Path, path: str) -> int:
    """Open part by part, each relative to its own directory: no part may be a link."""
    *directories, name = path.split("/")
    parent = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for directory in directories:
            child = os.open(directory, _FLAGS | os.O_DIRECTORY, dir_fd=parent)
            os.close(parent)
            parent = child
        return os.open(name, _FLAGS, dir_fd=parent)
    finally:
        os.close(parent)


def _refusal(path: str, error: OSError) -> Skipped | Gone:
    if error.errno in _GONE:
        return Gone(path)
    if error.errno == errno.ELOOP:
        return Skipped(path, Reason.LINK)
    if error.errno in (errno.ENXIO, errno.ENODEV):
        return Skipped(path, Reason.SPECIAL)
    return Skipped(path, Reason.UNREADABLE, _why(error))


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _read_open(descriptor: int, path: str, max_size: int) -> Outcome:
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        before = os.fstat(descriptor)
        if not mode.S_ISREG(before.st_mode):
            return Skipped(path, Reason.SPECIAL)
        if before.st_size > max_size:
            return too_large(path, before.st_size, max_size)
        data = _read_to_end(descriptor, max_size)
        found = stat_of(os.fstat(descriptor))
        if found == stat_of(before) and len(data) == found.size:
            return _content(path, data, found)
    return Skipped(path, Reason.CHANGING, "it was written to each time it was read")


def _read_to_end(descriptor: int, max_size: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts = []
    wanted = max_size + 1
    while wanted > 0 and (part := os.read(descriptor, wanted)):
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)


def _content(path: str, data: bytes, found: Stat) -> Content | Skipped:
    if is_binary(data):
        return Skipped(path, Reason.BINARY, stat=found)
    return Content(Candidate(path, found, Digest.of(data)), data)


def stat_of(found: os.stat_result) -> Stat:
    return Stat(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def too_large(path: str, size: int, max_size: int) -> Skipped:
    return Skipped(path, Reason.TOO_LARGE, f"{size:,} bytes; the limit is {max_size:,}")


def is_binary(data: bytes) -> bool:
    """Whether a file is no text: its first 8 KiB hold a NUL, and are not UTF-16.

    (git's rule, which ripgrep shares.) UTF-16 counts as text with a byte order mark, and without
    one if it reads as nothing but printable characters, most of them ASCII. UTF-32 is binary, as
    it is for git.
    """
    head = data[:_HEAD]
    if b"\0" not in head:
        return False
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = _decoded(head[: len(head) // 2 * 2], "utf-16")
        return text is None or "\0" in text
    if len(head) % 2 or len(head) < _LEAST_UNMARKED:
        return True
    return not any(_reads_well(_decoded(head, codec)) for codec in ("utf-16-le", "utf-16-be"))


def _decoded(head: bytes, codec: str) -> str | None:
    """The text, allowing for a surrogate pair that the end of the head cuts in two."""
    for end in (len(head), len(head) - 2):
        try:
            return head[:end].decode(codec)
        except UnicodeDecodeError:
            continue
    return None


def _reads_well(text: str | None) -> bool:
    if not text:
        return False
    plain = sum(character < "\x80" for character in text)
    return plain * 2 > len(text) and all(c.isprintable() or c in "\t\n\r\f" for c in text)
