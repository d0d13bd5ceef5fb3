"""What `pcpfs doctor` looks at besides the store: the programs and the machine that it rests on.

A check yields findings, each with what to do about it; one that finds trouble hides no other.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pcpfs.cli.text import size
from pcpfs.errors import PcpfsError
from pcpfs.git.process import require_git, run_anywhere

if TYPE_CHECKING:
    from pcpfs.store.store import Store

Level = Literal["ok", "note", "problem"]

EXTRAS = {"mcp": "mcp", "fsspec": "fsspec", "fuse": "mfusepy", "tokens": "bpe_openai"}
"""Each extra with the module that it brings."""

_LITTLE, _NONE = 1 << 30, 64 << 20
_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
_FEW_WATCHES = 65_536
_SKEW = 2.0
"""Seconds by which the clock of a file system may differ."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was looked at. A `note` costs comfort or speed, a `problem` must be mended;
    `advice` says how."""

    code: str
    level: Level
    message: str
    advice: str | None = None


def environment() -> Iterator[Finding]:
    """Python, git, SQLite, the extras, and how many folders can be watched."""
    yield Finding("python", "ok", f"Python {sys.version.split()[0]}")
    yield _git()
    yield _sqlite()
    for extra, module in EXTRAS.items():
        if importlib.util.find_spec(module):
            yield Finding("extra", "ok", f"extra {extra} is installed")
        else:
            advice = f"if you want it: pip install 'pcpfs[{extra}]'"
            yield Finding("extra", "ok", f"extra {extra} is not installed", advice)
    yield from _watches(_WATCHES)


def _git() -> Finding:
    try:
        require_git()
    except PcpfsError as error:
        return Finding("git", "problem", error.message, "install git, or a newer one")
    said = run_anywhere(["--version"], Path(os.path.sep)).decode("utf-8", "replace")
    return Finding("git", "ok", said.strip())


def _sqlite() -> Finding:
    with closing(sqlite3.connect(":memory:")) as database:
        options = {row[0] for row in database.execute("PRAGMA compile_options")}
    version = f"SQLite {sqlite3.sqlite_version}"
    if "ENABLE_FTS5" in options:
        return Finding("sqlite", "ok", f"{version} with FTS5")
    advice = "keep the index that pcpfs.toml names (whoosh); fts5 needs a Python with FTS5"
    return Finding("sqlite", "note", f"{version} without FTS5", advice)


def _watches(limit: Path) -> Iterator[Finding]:
    """On Linux alone; elsewhere no limit is known."""
    try:
        most = int(limit.read_text())
    except (OSError, ValueError):
        return
    if most >= _FEW_WATCHES:
        yield Finding("watches", "ok", f"{most:,} folders can be watched")
        return
    advice = (
        "with more, 'pcpfs watch' looks every few seconds instead; to allow more: "
        "sudo sysctl fs.inotify.max_user_watches=524288"
    )
    yield Finding("watches", "note", f"only {most:,} folders can be watched", advice)


def place(store: Store) -> Iterator[Finding]:
    """The folder of a store: room, rights, what its file system can do, its clock, git's setup."""
    yield _room(shutil.disk_usage(store.path).free)
    yield from _rights(store)
    yield from _file_system(store)
    yield _merging(store)


def _room(free: int) -> Finding:
    if free >= _LITTLE:
        return Finding("space", "ok", f"{size(free)} are free")
    advice = "make room; 'pcpfs status --size' says where it goes, 'pcpfs maintain' packs"
    return Finding(
        "space", "problem" if free < _NONE else "note", f"only {size(free)} are free", advice
    )


def _rights(store: Store) -> Iterator[Finding]:
    closed = [
        folder.name or str(folder)
        for folder in (store.path, store.path / "scopes", store.path / ".git", store.disposable)
        if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    ]
    if closed:
        advice = f"you can read at most; to write: chmod -R u+rwX '{store.path}'"
        yield Finding("rights", "problem", f"not writable: {', '.join(closed)}", advice)
    elif os.name != "nt" and store.path.stat().st_mode & 0o002:
        advice = f"grants do not bind them; to keep them out: chmod o-w '{store.path}'"
        yield Finding("rights", "note", "everybody on this machine may write here", advice)
    else:
        yield Finding("rights", "ok", "you may read and write")


def _file_system(store: Store) -> Iterator[Finding]:
    """Tried out in a folder of its own inside `.pcpfs/`, which goes again."""
    try:
        store.disposable.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=store.disposable, prefix="doctor-") as folder:
            probe = Path(folder, "Probe")
            probe.write_bytes(b"")
            skew = abs(
                probe.stat().st_mtime - datetime.fromisoformat(str(store.clock.now())).timestamp()
            )
            folds = Path(folder, "pROBE").exists()
    except OSError as error:
        advice = "see that .pcpfs/ is a folder of yours on a disk that is not full"
        yield Finding("files", "problem", f"no file can be made: {error.strerror}", advice)
        return
    if folds:
        yield Finding("files", "ok", "names that differ by case alone are one (pages stay apart)")
    else:
        yield Finding("files", "ok", "names may differ by case alone")
    if skew > _SKEW:
        advice = "set the clock of this machine or of the file server; dates of sources may be off"
        yield Finding("clock", "note", f"files are dated {skew:.0f} s off our clock", advice)
    else:
        yield Finding("clock", "ok", "our clock and that of the files agree")


def _merging(store: Store) -> Finding:
    """What the first command in a clone sets up (docs/CONCURRENCY.md)."""
    told = run_anywhere(
        ["-C", str(store.path), "config", "--local", "--list", "--name-only"], store.path
    ).split()
    if b"merge.pcpfs.driver" in told:
        return Finding("merge", "ok", "plain git merges leave tree/ to us")
    advice = "any command that writes sets it up again, such as: pcpfs sync"
    return Finding("merge", "problem", "git does not know our merge driver", advice)
