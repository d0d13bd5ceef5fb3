"""The importers that are installed, found by entry point; the core imports none of them."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from pcpfs.errors import NotFound, UsageError

if TYPE_CHECKING:
    from pcpfs.ports import Importer

STORE = "store"


def chosen(path: Path, form: str | None) -> Importer | None:
    """The importer for a path, by name or by what it looks like; None for a store."""
    if not path.exists():
        raise NotFound(f"{path}: there is no such file or folder", path=str(path))
    points = {point.name: point for point in entry_points(group="pcpfs.importers")}
    if form == STORE or (form is None and _is_store(path)):
        return None
    if form is not None:
        if form not in points:
            known = ", ".join(sorted([STORE, *points]))
            raise UsageError(f"{form} is no format; there are {known}")
        named: Importer = points[form].load()()
        return named
    for name in sorted(points):
        importer: Importer = points[name].load()()
        if importer.recognises(path):
            return importer
    raise UsageError(f"{path} looks like nothing that can be imported; name its --format")


def _is_store(path: Path) -> bool:
    if path.is_dir():
        return (path / "pcpfs.toml").is_file()
    return path.name.lower().endswith((".tar", ".tar.gz", ".tgz"))
