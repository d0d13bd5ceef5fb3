"""Seals of text indexes: the sha256 of each of their files, so that a changed byte is found.

An engine reads its files by position and may not notice. A seal is written after a flush, when the
files are durable; an index that a crash left without one is built anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError

SEAL = "seal.json"


def seal(folder: Path, disk: Disk) -> None:
    """Make the files of an index durable, and seal them. An engine never writes a file of one name
    twice, so only new ones are read."""
    if not folder.is_dir():
        return  # an engine without files
    known = _read(folder, disk) or {}
    for file in _files(folder):
        if file.name not in known:
            disk.sync(file)
            known[file.name] = _digest(file)
    disk.sync(folder)
    text = json.dumps({file.name: known[file.name] for file in _files(folder)}, sort_keys=True)
    disk.write(folder / SEAL, f"{_digest_of(text)}\n{text}".encode())


def is_sealed(folder: Path, disk: Disk) -> bool:
    """Whether the files of an index are those that were sealed last. They are not while somebody
    writes them, nor after he died at it: the disk may then hold any part of them."""
    known = _read(folder, disk)
    try:
        return known is not None and known.keys() == {file.name for file in _files(folder)}
    except FileNotFoundError:
        return False  # somebody throws it away just now


def broken_seals(indexes: Path, disk: Disk) -> Iterator[str]:
    """Files below the folder of all indexes that are not what was sealed, by relative path."""
    for folder in sorted(path for path in indexes.glob("*") if path.is_dir()):
        if not (folder / SEAL).is_file():
            continue
        known = _read(folder, disk)
        if known is None:
            yield f"{folder.name}/{SEAL}"
            continue
        for name, digest in sorted(known.items()):
            if (folder / name).is_file() and _digest(folder / name) != digest:
                yield f"{folder.name}/{name}"


def _read(folder: Path, disk: Disk) -> dict[str, str] | None:
    try:
        digest, _, text = disk.read(folder / SEAL).decode().partition("\n")
    except (FileNotFoundError, PcpfsError, ValueError):
        return None
    if digest != _digest_of(text):
        return None
    sealed: dict[str, str] = json.loads(text)
    return sealed


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name != SEAL)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
