"""What `fsck` looks at besides the truth: settings, generated files, caches, git, and this clone's
own state. Each check yields problems and changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.git import Git
from pcpfs.git.health import faults
from pcpfs.model.answers import Problem
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog_file import CATALOG
from pcpfs.store.config import Config, generated_files
from pcpfs.store.searches.index_seal import broken_seals
from pcpfs.store.store import Store

GIT = "git"
INDEX = "index"
CATALOG_DAMAGED = "catalog"
SETTINGS = "settings"
GENERATED = "generated"
LOCAL = "local"


def other_checks(store: Store) -> Iterator[Problem]:
    """Everything besides the files of the truth."""
    yield from settings(store)
    yield from generated(store)
    yield from catalog_file(store)
    yield from index_files(store)
    yield from local_state(store)
    yield from repository(store)


def settings(store: Store) -> Iterator[Problem]:
    """`pcpfs.toml` is what was committed. A person may edit it, and then commits that."""
    now, before = read(store, layout.CONFIG), committed(store.git, layout.CONFIG)
    if now == before or before is None:
        return
    why = settings_trouble(now, before)
    if why is None:
        why = "differs from what was committed; commit it (git commit pcpfs.toml) or git restore it"
    yield Problem(SETTINGS, layout.CONFIG, f"{layout.CONFIG} {why}")


def settings_trouble(now: bytes | None, before: bytes) -> str | None:
    """Why `pcpfs.toml` is damaged; None for what may be somebody's edit."""
    if now is None:
        return "is missing"
    try:
        held, had = Config.decode(now, layout.CONFIG), Config.decode(before, layout.CONFIG)
    except PcpfsError as error:
        return f"cannot be used: {error.message}"
    if held.store_id != had.store_id:
        return "has another store_id than was committed"
    return None


def generated(store: Store) -> Iterator[Problem]:
    """The files that explain and protect a store are ours, or were committed so."""
    for path, ours in generated_files().items():
        now = read(store, path)
        if now not in (ours, committed(store.git, path)) or now is None:
            there = "is missing" if now is None else "is not what pcpfs wrote"
            yield Problem(GENERATED, path, f"{path} {there}; pcpfs fsck --repair lays it anew")


def catalog_file(store: Store) -> Iterator[Problem]:
    """The catalog is a sound SQLite file."""
    path = f"{layout.DISPOSABLE}/{CATALOG}"
    try:
        said = [row[0] for row in store.catalog.query("PRAGMA integrity_check(5)")]
    except PcpfsError as error:
        said = [error.message]
    for text in said if said != ["ok"] else []:
        yield Problem(CATALOG_DAMAGED, path, f"{path} is damaged ({text}); run pcpfs reindex")


def index_files(store: Store) -> Iterator[Problem]:
    """The files of the text indexes hold what was written to them."""
    for name in broken_seals(store.disposable / "index", store.disk):
        path = f"{layout.DISPOSABLE}/index/{name}"
        yield Problem(INDEX, path, f"{path} is not what was written; run pcpfs reindex")


def local_state(store: Store) -> Iterator[Problem]:
    """What belongs to this clone alone is a sound SQLite file."""
    try:
        store.local.check()
    except (sqlite3.DatabaseError, Corrupt) as error:
        path = ".git/pcpfs/local.sqlite"
        message = f"{path} is damaged ({error}); --repair begins a new one: add your sources again"
        yield Problem(LOCAL, path, message)


def repository(store: Store) -> Iterator[Problem]:
    """What git says of its own files."""
    for fault in faults(store.git):
        yield Problem(GIT, fault.path, f"git: {fault.message}")


def read(store: Store, path: str) -> bytes | None:
    """The bytes of a file outside of `scopes/`; None if there is none."""
    try:
        return store.disk.read(store.path / path)
    except FileNotFoundError:
        return None


def committed(git: Git, path: str) -> bytes | None:
    """The bytes of a file in HEAD; None if it has none, or they cannot be read."""
    head = git.head()
    try:
        return next(git.show_blobs([f"{head}:{path}"]), None) if head else None
    except PcpfsError:
        return None
