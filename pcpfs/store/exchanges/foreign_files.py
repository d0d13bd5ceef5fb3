"""The files of another store: a folder, or a tar that is read without ever being unpacked.

Nothing of it is trusted. Links, devices and names that lead elsewhere are refused; what is no
truth of a store is passed over.
"""

from __future__ import annotations

import os
import re
import stat
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from pcpfs.errors import Corrupt, NotFound, Unavailable
from pcpfs.store import layout

LARGEST = 4 << 30
"""A single file of more bytes is refused."""
_MOST_FILES = 5_000_000
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


class Files(Protocol):
    """Files of a store by their path in it."""

    def paths(self) -> list[str]:
        """All files below `scopes/`, sorted."""
        ...

    def read(self, path: str) -> bytes: ...


class Folder:
    """A store in a folder. Only regular files in real folders are seen; a link is refused."""

    def __init__(self, root: Path) -> None:
        self._root = root
        if not (root / layout.CONFIG).is_file():
            raise NotFound(f"{root} is no pcpfs store: it has no {layout.CONFIG}")

    def paths(self) -> list[str]:
        base = self._root / layout.SCOPES
        return sorted(self._below(base, layout.SCOPES)) if base.is_dir() else []

    def read(self, path: str) -> bytes:
        try:
            return (self._root / path).read_bytes()
        except OSError as error:
            raise Unavailable(f"{path} cannot be read: {error.strerror}", path=path) from error

    def _below(self, folder: Path, path: str) -> Iterator[str]:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                below = f"{path}/{entry.name}"
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    if entry.name != "tree":
                        yield from self._below(Path(entry.path), below)
                elif stat.S_ISREG(mode):
                    yield below
                else:
                    raise Corrupt(f"{below} is a link or a device; a store holds none", path=below)


class Archive:
    """A store in a tar, plain or compressed."""

    def __init__(self, file: Path) -> None:
        try:
            self._tar = tarfile.open(file)  # noqa: SIM115 - read until `close`
        except (tarfile.TarError, EOFError) as error:
            raise Corrupt(f"{file} is no tar: {error}", path=str(file)) from error
        except OSError as error:
            raise Unavailable(f"{file} cannot be read: {error}", path=str(file)) from error
        self._members = self._checked(file)

    def close(self) -> None:
        self._tar.close()

    def paths(self) -> list[str]:
        return sorted(path for path in self._members if path.startswith(f"{layout.SCOPES}/"))

    def read(self, path: str) -> bytes:
        try:
            opened = self._tar.extractfile(self._members[path])
            assert opened is not None, "only regular members are kept"
            return opened.read()
        except (tarfile.TarError, EOFError, OSError) as error:
            raise Corrupt(f"{path} cannot be read from the tar: {error}", path=path) from error

    def _checked(self, file: Path) -> Mapping[str, tarfile.TarInfo]:
        """The regular members by their path below the store; Corrupt for a hostile tar."""
        members: dict[str, tarfile.TarInfo] = {}
        try:
            for number, member in enumerate(self._tar):
                refuse_member(member)
                if number > _MOST_FILES:
                    raise Corrupt(f"{file} holds more than {_MOST_FILES} files")
                if member.isreg():
                    members[member.name.removeprefix("./")] = member
        except (tarfile.TarError, EOFError, OSError) as error:
            raise Corrupt(f"{file} is damaged: {error}", path=str(file)) from error
        tops = sorted(path for path in members if path.rpartition("/")[2] == layout.CONFIG)
        if not tops:
            raise NotFound(f"{file} holds no pcpfs store: there is no {layout.CONFIG} in it")
        top = min(tops, key=len).removesuffix(layout.CONFIG)
        return {p.removeprefix(top): m for p, m in members.items() if p.startswith(top)}


def refuse_member(member: tarfile.TarInfo) -> None:
    """Corrupt for a member that no export of ours holds: a link, a device, or a name that leads out
    of the folder or means something else on another system."""
    name = member.name
    if not (member.isreg() or member.isdir()):
        raise Corrupt(f"{name!r} in the tar is a link or a device; a store holds none", path=name)
    parts = name.removeprefix("./").rstrip("/").split("/")
    is_outside = name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]
    if is_outside or "\0" in name or (name not in (".", "./") and "" in parts):
        raise Corrupt(f"{name!r} in the tar leads out of the folder", path=name)
    if any(_DEVICE.fullmatch(part) for part in parts):
        raise Corrupt(f"{name!r} in the tar is the name of a device", path=name)
    if member.size > LARGEST or member.size < 0:
        raise Corrupt(f"{name!r} in the tar is too large", path=name)


def open_files(path: Path) -> Folder | Archive:
    """The files of the store at a path."""
    if path.is_dir():
        return Folder(path)
    if not path.exists():
        raise NotFound(f"{path}: there is no such file or folder", path=str(path))
    return Archive(path)
