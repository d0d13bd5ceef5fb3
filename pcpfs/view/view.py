"""The virtual view: one pure function from (store, path, instants) to a node; doors render it.

Each branch below the root is one module-level function; a new branch is one more of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from pcpfs.errors import InvalidInstant, NotFound, UsageError
from pcpfs.model.answers import FrameView, LogEntry, Pins, plain
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, TreePath, extension_of, unescaped, with_mark
from pcpfs.store.pinned import holds
from pcpfs.store.reading import Reader
from pcpfs.store.references import Reference
from pcpfs.store.rows import PageRow
from pcpfs.store.session import Session
from pcpfs.store.tree import wanted_files
from pcpfs.view.nodes import Directory, File, Link, Node, folded, plain_name, safe_name

SYMBOLS = ".symbols"


class View:
    """What a session sees as files, now or under pins. Reads only; sees one state of the store."""

    def __init__(self, session: Session, pins: Pins) -> None:
        self._session = session
        self.pins = pins
        self.reader: Reader = session.reader(pins)

    def node(self, path: str) -> Node:
        """What stands at a path (with `/`, relative or absolute); NotFound for nothing."""
        found: Node | None = self.root()
        for name in [part for part in path.split("/") if part not in ("", ".")]:
            if name == "..":
                raise UsageError("a path in the view goes downwards only: no '..'")
            found = found.child(name) if isinstance(found, Directory) else None
            if found is None:
                raise NotFound(f"there is no {path!r} in the view; see pcpfs ls /")
        assert found is not None, "the root is always there"
        return found

    def file(self, path: str) -> File:
        """The file at a path, links followed; UsageError for a directory."""
        found = self.node(path)
        while isinstance(found, Link):
            found = self.node(found.target)
        if isinstance(found, Directory):
            raise UsageError(f"{path} is a directory; see pcpfs ls {path}")
        return found

    def root(self) -> Directory:
        branches: dict[str, Node] = {
            "frames": Directory(lambda: {}, lambda name: _frame(self, name)),
            "pages": Directory(lambda: _pages(self), lambda name: _page(self, name)),
            "scopes": Directory(lambda: _scopes(self)),
            "sources": Directory(lambda: _sources(self)),
        }
        if self.pins.as_of is None:
            branches["as-of"] = Directory(lambda: {}, self._at)
        return Directory(lambda: dict(sorted(branches.items())))

    def at(self, moment: Instant) -> View:
        """The same view as of an instant."""
        return View(self._session, replace(self.pins, as_of=moment))

    def _at(self, name: str) -> Node | None:
        try:
            return self.at(Instant.read(name)).root()
        except InvalidInstant:
            return None


def _scopes(view: View) -> dict[str, Node]:
    """Readable heads: `/scopes/<kind>/<name>/…`, a scope below another beside its files.

    Where a file of one scope and another scope, or a file of it, would meet, the file of the outer
    scope gets the mark `~page`: nothing hides anything.
    """
    scopes = [Namespace(row.scope) for row in view.reader.catalog.scopes()]
    bases = {scope: scope.folder.removeprefix("scopes/") for scope in scopes}
    inner = {"/".join(b.split("/")[:n]) for b in bases.values() for n in range(1, b.count("/") + 2)}
    files: dict[str, Node] = {}
    for scope in scopes:
        for path, node in _heads(view, scope):
            files[_unhidden(f"{bases[scope]}/{path}", bases[scope], inner)] = node
    tree = folded(files)
    for base in sorted(bases.values()):
        _ensure(tree, base.split("/"))
    return tree


def _unhidden(path: str, base: str, inner: set[str]) -> str:
    """The path, or with a mark at its first part below `base` if that leads into another scope."""
    first, slash, rest = path.removeprefix(base + "/").partition("/")
    if f"{base}/{first}" not in inner:
        return path
    return f"{base}/{with_mark(first, 'page')}{slash}{rest}"


def _ensure(tree: dict[str, Node], parts: list[str]) -> None:
    """Show scopes without pages too."""
    first, *rest = parts
    known = tree.get(first)
    inner = dict(known.entries()) if isinstance(known, Directory) else {}
    if rest:
        _ensure(inner, rest)
    tree[first] = Directory(lambda: inner)


def _heads(view: View, namespace: Namespace) -> Iterable[tuple[str, Node]]:
    catalog = view.reader.catalog
    rows = catalog.pages(
        "scope = ? AND is_source = 0 AND path IS NOT NULL AND lifecycle <> 'tombstoned'",
        (namespace,),
    )
    if view.pins.as_of is None:
        prefix = f"{namespace.folder}/tree/"
        by_id = {row.page_id: row for row in rows}
        for path, (page, digest) in wanted_files(catalog, rows).items():
            ((revision,), *_) = catalog.query(
                "SELECT revision_id FROM revision WHERE page_id = ? AND digest = ?", (page, digest)
            )
            yield path.removeprefix(prefix), _payload(view, by_id[page], revision)
        return
    taken: set[str] = set()
    for row in rows:
        revision = _effective(view, row)
        if revision is not None:
            path = TreePath(row.path or "")
            name = with_mark(path, row.page_id[-6:]) if path.claim in taken else str(path)
            taken.add(path.claim)
            yield name, _payload(view, row, revision)


def _sources(view: View) -> dict[str, Node]:
    """Source bytes: `/sources/<root>/<path>`, with `<path>.symbols/` beside each file."""
    return {
        safe_name(row.name): Directory(lambda root_id=row.root_id: _root(view, root_id))  # type: ignore[misc]
        for row in view.reader.catalog.roots()
    }


def _root(view: View, root_id: str) -> dict[str, Node]:
    condition, parameters = holds(view.pins, "span")
    held = view.reader.catalog.query(
        "SELECT page.*, span.revision_id FROM page JOIN span USING (page_id) "
        f"WHERE page.root_id = ? AND page.lifecycle <> 'tombstoned' AND {condition} "
        "ORDER BY page.path, span.ordinal",
        (root_id, *parameters),
    )
    with_symbols = _pages_with_symbols(view)
    files: dict[str, Node] = {}
    symbols: dict[str, Node] = {}
    for *columns, revision in held:
        row = PageRow(*columns)
        path = "/".join(map(safe_name, unescaped(row.path or "").split("/")))
        files[path] = _payload(view, row, revision)
        if row.page_id in with_symbols:
            symbols[path + SYMBOLS] = Directory(lambda row=row: _symbols(view, row))  # type: ignore[misc]
    real = {"/".join(p.split("/")[:n]) for p in files for n in range(1, p.count("/") + 2)}
    return folded(files | {path: node for path, node in symbols.items() if path not in real})


def _pages_with_symbols(view: View) -> set[str]:
    condition, parameters = holds(view.pins, "frame")
    rows = view.reader.catalog.query(
        f"SELECT DISTINCT page_id FROM frame WHERE kind <> ? AND {condition}",
        (FILE_KIND, *parameters),
    )
    return {page for (page,) in rows}


def _symbols(view: View, row: PageRow) -> dict[str, Node]:
    """Each symbol of a file as a file of exactly its bytes; equals are marked with their frame."""
    stem, dot, extension = unescaped(row.path or "").rpartition("/")[2].rpartition(".")
    suffix = f".{safe_name(extension)}" if stem and dot else ""
    entries: dict[str, Node] = {}
    for frame in view.reader.frames_of(row.page_id):
        if frame.kind == FILE_KIND:
            continue
        name = safe_name(frame.qualified_name)
        if name + suffix in entries:
            name += f"~{frame.frame_id[-6:]}"
        entries[name + suffix] = _symbol(view, frame)
    return dict(sorted(entries.items()))


def _symbol(view: View, frame: FrameView) -> File:
    return File(
        frame.bytes[1] - frame.bytes[0],
        frame.valid_from,
        lambda: view.reader.frame_source(frame.frame_id),
    )


def _pages(view: View) -> dict[str, Node]:
    """All pages that hold something: `/pages/<page_id>/`."""
    rows = view.reader.catalog.pages("lifecycle <> 'tombstoned'")
    return {
        row.page_id: Directory(lambda row=row: _page_files(view, row))  # type: ignore[misc]
        for row in rows
        if _effective(view, row) is not None
    }


def _page(view: View, name: str) -> Node | None:
    row = view.reader.catalog.page(name)
    if row is None or _effective(view, row) is None:
        return None
    return Directory(lambda: _page_files(view, row))


def _page_files(view: View, row: PageRow) -> dict[str, Node]:
    """`payload.<ext>`, `manifest.json`, `facets.json`, `relations.json`, `history/`."""
    page_id, revision = row.page_id, _effective(view, row) or row.revision_id
    reader = view.reader
    modified = Instant(row.updated_at)
    return {
        "facets.json": _json(modified, lambda: reader.facets(page_id)),
        "history": Directory(lambda: _history(view, row)),
        "manifest.json": _json(modified, lambda: reader.manifest(page_id)),
        f"payload.{_extension(row)}": _payload(view, row, revision),
        "relations.json": _json(modified, lambda: list(reader.relations(page_id))),
    }


def _history(view: View, row: PageRow) -> dict[str, Node]:
    """Every version, oldest first: `0001-<rev8>.<ext>`."""
    entries: list[LogEntry] = list(reversed(view.reader.log(row.page_id)))
    return {
        f"{number:04d}-{entry.revision_id[4:12]}.{_extension(row)}": _payload(
            view, row, entry.revision_id
        )
        for number, entry in enumerate(entries, 1)
    }


def _frame(view: View, name: str) -> Node | None:
    """`/frames/<frame_id>.json`; not listed, there are too many."""
    try:
        frame = view.reader.frame(plain_name(name.removesuffix(".json")))
    except (NotFound, UsageError):
        return None
    return _json(frame.valid_from, lambda: frame) if name.endswith(".json") else None


def _payload(view: View, row: PageRow, revision: str) -> Node:
    ((size, since),) = view.reader.catalog.query(
        "SELECT size, min(valid_from) FROM revision JOIN span USING (revision_id) "
        "WHERE revision.revision_id = ?",
        (revision,),
    )
    return File(size, Instant(since), lambda: view.reader.payload(f"{row.page_id}@{revision}"))


def _effective(view: View, row: PageRow) -> str | None:
    try:
        return view.reader.effective(Reference(PageId(row.page_id)))[1].revision_id
    except NotFound:
        return None


def _extension(row: PageRow) -> str:
    stem, dot, extension = unescaped(row.path or "").rpartition("/")[2].rpartition(".")
    if row.is_source and stem and dot:
        return safe_name(extension)
    return extension_of(row.media_type or "")


def _json(modified: Instant, value: Callable[[], object]) -> File:
    text = json.dumps(plain(value()), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    raw = text.encode("utf-8", "surrogateescape")
    return File(len(raw), modified, lambda: raw)
