"""From what a person types to a page, a revision or a frame."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Pins
from pcpfs.model.ids import FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, escaped, unescaped
from pcpfs.store.catalogs.catalog import Catalog, decode_list
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.trees.tree import wanted_files

_SHORTEST = 8
_TABLES = {
    "pg_": ("page", "page_id"),
    "rev_": ("revision", "revision_id"),
    "fr_": ("frame", "frame_id"),
}


@dataclass(frozen=True, slots=True)
class Reference:
    """A page; with `revision` that version of it, with `frame` a symbol in it."""

    page: PageId
    revision: RevisionId | None = None
    frame: FrameId | None = None


def resolve(catalog: Catalog, given: str, as_of: Instant | None = None) -> Reference:
    """An id, a unique prefix of one (8 characters or more), `PAGE@REV`, or the path of a page in
    `tree/` or of a source. Of several pages with one path that which held at `as_of`, and which is
    not tombstoned, is meant. NotFound if nothing is called so, UsageError if several are."""
    text, at, revision = given.partition("@")
    if at and text.startswith("pg_"):
        page = resolve(catalog, text, as_of).page
        chosen = _revision_of(catalog, page, revision)
        return Reference(page, chosen)
    spelt = dict.fromkeys((escaped(given), escaped(unescaped(given))))
    found = _by_id(catalog, given)
    for beside in (False, True):  # a file that only other branches have gives way
        paths = (_by_path(catalog, path, as_of, beside=beside) for path in spelt)
        found = found or next(filter(None, paths), None)
    if found is None:
        raise NotFound(f"nothing here is called {_quoted(given)}; see pcpfs search or pcpfs ls")
    return found


def revision(catalog: Catalog, given: str) -> tuple[PageId, RevisionId]:
    """A revision named by itself, or a page named and its head meant."""
    found = resolve(catalog, given)
    if found.revision is not None:
        return found.page, found.revision
    row = catalog.page(found.page)
    if row is None:
        raise NotFound(f"nothing here is called {_quoted(given)}")
    return found.page, RevisionId(row.revision_id)


def _by_id(catalog: Catalog, given: str) -> Reference | None:
    if re.fullmatch("[0-9a-f]{8,64}", given):
        given = "rev_" + given
    kind = next((kind for kind in _TABLES if given.startswith(kind)), None)
    if kind is None or not re.fullmatch("[a-z0-9_]+", given):
        return None
    if len(given) < _SHORTEST:
        raise UsageError(f"{given!r} is too short to name anything; give 8 characters or more")
    table, column = _TABLES[kind]
    ids = _starting_with(catalog, table, column, given)
    if len(ids) > 1:
        raise UsageError(
            f"{given!r} is the beginning of {len(ids)} ids; give more characters",
            candidates=ids[:10],
        )
    return _reference(catalog, kind, ids[0]) if ids else None


def _starting_with(catalog: Catalog, table: str, column: str, given: str) -> list[str]:
    rows = catalog.query(
        f"SELECT DISTINCT {column} FROM {table} WHERE {column} >= ? AND {column} < ? LIMIT 11",
        (given, given + "\x7f"),
    )
    ids = [row[0] for row in rows]
    return [given] if given in ids else ids


def _reference(catalog: Catalog, kind: str, found: str) -> Reference:
    if kind == "pg_":
        return Reference(PageId(found))
    table, column = _TABLES[kind]
    page = catalog.query(f"SELECT page_id FROM {table} WHERE {column} = ?", (found,))[0][0]
    if kind == "rev_":
        return Reference(PageId(page), revision=RevisionId(found))
    return Reference(PageId(page), frame=FrameId(found))


def _revision_of(catalog: Catalog, page: PageId, given: str) -> RevisionId:
    wanted = given if given.startswith("rev_") else "rev_" + given
    rows = catalog.query(
        "SELECT revision_id FROM revision WHERE page_id = ? AND substr(revision_id, 1, ?) = ?",
        (page, len(wanted), wanted),
    )
    if len(rows) != 1 or len(given) < _SHORTEST:
        raise NotFound(f"page {page} has no single revision that starts with {_quoted(given)}")
    return RevisionId(rows[0][0])


def _by_path(
    catalog: Catalog, given: str, as_of: Instant | None, *, beside: bool
) -> Reference | None:
    """`notes/x.md`, `scopes/…/tree/notes/x.md`, a source's path, or `root/path`; odd bytes as
    answers show them."""
    pages = catalog.pages("path = ? AND is_beside = ?", (given, int(beside)))
    if not pages and "/" in given:
        ends_so = "path IS NOT NULL AND substr(?, -length(path)) = path"
        roots = {row.root_id: row.name for row in catalog.roots()}
        candidates = catalog.pages(f"{ends_so} AND is_beside = ?", (given, int(beside)))
        pages = [page for page in candidates if given.strip("/") in _spellings(page, roots)]
    if len(pages) > 1 and as_of is not None:
        pages = [page for page in pages if _held(catalog, page, as_of)] or pages
    if len(pages) > 1:
        pages = [page for page in pages if page.lifecycle != "tombstoned"] or pages
    if len(pages) != 1:
        laid = _laid_at(catalog, given)
        pages = [page for page in pages if page.is_source or page in laid] or laid or pages
    if len(pages) > 1:
        raise UsageError(
            f"{_quoted(given)} is the path of {len(pages)} pages; give an id",
            candidates=[page.page_id for page in pages[:10]],
        )
    return Reference(PageId(pages[0].page_id)) if pages else None


def _held(catalog: Catalog, page: PageRow, as_of: Instant) -> bool:
    condition, parameters = holds(Pins(as_of=as_of), "span")
    found = catalog.query(
        f"SELECT 1 FROM span WHERE page_id = ? AND {condition}", (page.page_id, *parameters)
    )
    return bool(found)


def _laid_at(catalog: Catalog, given: str) -> list[PageRow]:
    """The pages of which a file in `tree/` is exactly this one, marks of rivals and heads included;
    of any scope, where none is given."""
    file = given.strip("/") if "/tree/" in given else given
    folder, is_whole, path = file.rpartition("/tree/")
    unmarked = re.sub(r"(~[0-9a-z]{6})?(~[0-9a-f]{8})?(\.[^./]*)?$", r"\3", path)
    rows = catalog.pages("path = ? AND NOT is_source", (unmarked,))
    return [
        row
        for row in rows
        if (not is_whole or row.scope == _scope_of_folder(folder))
        and any(laid.endswith(f"/tree/{path}") for laid in wanted_files(catalog, [row]))
    ]


def _scope_of_folder(folder: str) -> str:
    return folder.removeprefix("scopes/").replace("/", ":")


def _spellings(page: PageRow, roots: Mapping[str, str]) -> tuple[str, ...]:
    """The longer ways in which people write the path of a page."""
    if page.root_id is not None:
        root = roots.get(page.root_id, page.root_id)
        return (f"{root}/{page.path}", f"sources/{root}/{page.path}")
    folder = Namespace(page.scope).folder
    return (f"{folder}/tree/{page.path}", f"{folder}/{page.path}")


def absence(catalog: Catalog, page: str) -> str:
    """What a relation says of a page that is not here (PCP-L1)."""
    return "erased" if catalog.is_erased(page) else "missing"


def _quoted(given: str) -> str:
    return repr(given if len(given) <= 80 else given[:80] + "…")


def heads_of(catalog: Catalog, page: PageId) -> tuple[RevisionId, ...]:
    """The current heads, the one that speaks first; NotFound for an unknown page."""
    row = catalog.page(page)
    if row is None:
        raise NotFound(f"there is no page {page}")
    return tuple(map(RevisionId, decode_list(row.heads)))
