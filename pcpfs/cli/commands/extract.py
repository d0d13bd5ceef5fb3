"""`pcpfs extract`: the symbols of files, without a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.failure import Failure
from pcpfs.cli.files import read_file
from pcpfs.cli.text import columns, plural, styled
from pcpfs.errors import PcpfsError
from pcpfs.model.frames import Extraction, Symbol
from pcpfs.model.shown import safe
from pcpfs.ports import HEAD_BYTES, Adapter, AdapterRegistry, Importing


@dataclass(frozen=True, slots=True)
class Imported:
    """An import as it is spelled, and the files below the root that it means."""

    target: str
    line: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExtractedFile:
    """What was seen in one file; `skipped` says why nothing was."""

    path: str
    language: str | None = None
    error_count: int = 0
    skipped: str | None = None
    notes: tuple[str, ...] = ()
    frames: tuple[Symbol, ...] = ()
    imports: tuple[Imported, ...] | None = None
    generated: bool | None = None


@click.command(
    cls=Command,
    section="Sources",
    examples=["pcpfs extract tidebook/almanac.py", "pcpfs extract --imports --json gauged/*.go"],
)
@click.option(
    "--imports",
    is_flag=True,
    help="Also what is imported, and which files that means below the nearest folder with a .git "
    "(else the file's own).",
)
@click.argument("paths", metavar="FILE...", nargs=-1, required=True)
def command(call: Call, paths: tuple[str, ...], *, imports: bool) -> int:
    """Print the symbols of source files.

    Needs no store. A file that cannot be read is named, the others are printed all the same.
    """
    from pcpfs.store.registry import installed_registry  # noqa: PLC0415 (help needs none)

    adapters = installed_registry()
    files: list[ExtractedFile] = []
    failure: Failure | None = None
    for path in paths:
        try:
            files.append(extract(adapters, path, imports=imports))
        except PcpfsError as error:
            files.append(ExtractedFile(path, skipped=error.message.removeprefix(f"{path}: ")))
            failure = failure or Failure.of(error)
    call.answer({"files": files, "error": failure}, _lines(files))
    return failure.exit_code if failure else 0


def extract(adapters: AdapterRegistry, path: str, *, imports: bool = False) -> ExtractedFile:
    """Look at one file through the adapter for its name and content."""
    source = read_file(path)
    adapter = adapters.for_source(path, source[:HEAD_BYTES])
    seen = adapter.extract(source)
    limited = "; ".join(seen.notes) if seen.notes and not seen.symbols else None
    found = tuple(_imported(adapter, path, seen)) if imports else None
    shown = (seen.language, seen.error_count, limited, seen.notes, seen.symbols)
    return ExtractedFile(path, *shown, imports=found, generated=seen.generated or None)


def _imported(adapter: Adapter, path: str, seen: Extraction) -> Iterator[Imported]:
    from pcpfs.sources.folder_tree import FolderTree, root_of  # noqa: PLC0415

    if isinstance(adapter, Importing):
        root = root_of(Path(path))
        tree, place = FolderTree(root), Path(path).resolve().relative_to(root).as_posix()
        for target, line in seen.imports:
            yield Imported(target, line, adapter.resolved(place, target, tree))


def _lines(files: Sequence[ExtractedFile]) -> Iterator[str]:
    for file in files:
        count = plural(len(file.frames), "symbol")
        broken = f", {plural(file.error_count, 'place')} did not parse" if file.error_count else ""
        notes = [*(["generated"] if file.generated else []), *file.notes]
        told = file.skipped or "; ".join([f"{file.language}, {count}{broken}", *notes])
        yield f"{styled(safe(file.path), 'bold')}  {safe(told)}"
        rows = [
            (f"  {s.lines[0]}-{s.lines[1]}", s.kind, safe(s.qualified_name), safe(s.signature))
            for s in file.frames
        ]
        yield from columns(rows, ("dim", "cyan", "bold")) if rows else ()
        for imported in file.imports or ():
            places = ", ".join(map(safe, imported.paths)) or "elsewhere"
            yield f"  {imported.line}  imports {safe(imported.target)}  {styled(places, 'dim')}"
