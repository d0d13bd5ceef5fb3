"""What operations on a store work with, and how its catalog follows its files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError
from pcpfs.git import Git
from pcpfs.model.ids import CloneId, PageId
from pcpfs.model.names import Namespace
from pcpfs.model.receipts import Receipt
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Catalog, Damage
from pcpfs.store.catalogs.rows import ErasedRow, PageRows
from pcpfs.store.catalogs.seen_frames import Bodies
from pcpfs.store.folding.fold import fold_page
from pcpfs.store.folding.projection import page_rows, scope_rows
from pcpfs.store.folding.scope_fold import fold_scope
from pcpfs.store.objects import Objects
from pcpfs.store.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a transaction works with; all of it belongs to one open store."""

    root: Path
    local_folder: Path
    disk: Disk
    git: Git
    objects: Objects
    catalog: Catalog
    tree: Tree
    clone: CloneId


def refold(
    shop: Workshop,
    pages: Iterable[tuple[PageId, Namespace]],
    scopes: Iterable[Namespace] = (),
) -> list[tuple[str, str]]:
    """Bring the rows of these pages and scopes up to date with their files, within a writing.

    A page that cannot be read is left out and recorded as damaged: it never takes others down.
    Returns the claims in `tree/` that are concerned.
    """
    rows: list[PageRows] = []
    erased: dict[Namespace, frozenset[PageId]] = {}
    for page, namespace in pages:
        if namespace not in erased:
            erased[namespace] = shop.objects.erased(namespace)
        if page in erased[namespace]:
            _hide(shop, namespace, page)
            continue
        try:
            found = _rows_of(shop, namespace, page)
        except (PcpfsError, ValueError, RecursionError) as error:
            folder = layout.page_folder(namespace, page)
            shop.catalog.set_damage(Damage(page, namespace, folder, str(error)))
            continue
        if found is None:
            shop.catalog.remove_page(page)
        else:
            rows.append(found)
    claims = claims_of(shop.catalog, rows)
    shop.catalog.replace_pages(rows)
    for namespace in sorted(set(scopes)):
        refold_scope(shop, namespace)
    return claims


def _hide(shop: Workshop, namespace: Namespace, page: PageId) -> None:
    folder, path = layout.page_folder(namespace, page), layout.receipt_file(namespace, page)
    try:
        excluded = Receipt.decode(shop.objects.read(path), path).excluded
    except PcpfsError:
        excluded = ()  # it hides its page all the same
    is_there = (shop.root / folder).is_dir()
    row = ErasedRow(page, namespace, json.dumps(excluded))
    shop.catalog.hide_page(row, folder, is_there=is_there)


def _rows_of(shop: Workshop, namespace: Namespace, page: PageId) -> PageRows | None:
    """The rows of a page from its files; None if it has no changes."""
    changes = shop.objects.page_changes(namespace, page)
    if not changes:
        return None
    state = fold_page(page, namespace, changes)
    return page_rows(state, bodies(shop.objects, namespace, page))


def refold_scope(shop: Workshop, namespace: Namespace) -> None:
    """Bring the rows of a scope itself up to date with its files; a change that cannot be read is
    left out and recorded as damage."""
    changes, damage = shop.objects.readable_scope_changes(namespace)
    if changes or damage:
        state = fold_scope(namespace, changes, is_whole=not damage)
        shop.catalog.replace_scope(scope_rows(state))
    else:
        shop.catalog.remove_scope(namespace)
    for path, message in damage:
        shop.catalog.set_damage(Damage(path, namespace, path, message))


def bodies(objects: Objects, namespace: Namespace, page: PageId) -> Bodies:
    """What the files of a store hold for one page."""
    return Bodies(
        revision=lambda revision: objects.revision(namespace, page, revision),
        extraction=lambda one: objects.sightings.seen(namespace, page, one).extraction,
        payload=lambda digest: objects.payload(namespace, digest),
    )


def claims_of(catalog: Catalog, rows: Sequence[PageRows]) -> list[tuple[str, str]]:
    """The claims that these pages gave up or take: others may have to move."""
    before = [row for rows_ in rows if (row := catalog.page(rows_.page.page_id))]
    both = before + [rows_.page for rows_ in rows]
    return sorted({(row.scope, row.claim) for row in both if row.claim})
