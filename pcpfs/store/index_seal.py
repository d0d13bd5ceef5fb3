"""Seals of text indexes: the sha256 of each of their files, so that a changed byte is found.

An engine reads its files by position and may not notice. A seal is written after a flush; what a
crash left out of it is not vouched for, and what went since is no fault.
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
    """Seal the files of an index. An engine never writes a file of one name twice, so only new
    ones are read."""
    if not folder.is_dir():
        return  # an engine without files
    known = _read(folder, disk) or {}
    sealed = {file.name: known.get(file.name) or _digest(file) for file in _files(folder)}
    text = json.dumps(sealed, sort_keys=True)
    disk.write_volatile(folder / SEAL, f"{_digest_of(text)}\n{text}".encode())


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
