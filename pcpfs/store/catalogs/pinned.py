"""Looking back: a catalog as it stood at an earlier record time, and the SQL of valid time."""

from __future__ import annotations

from pathlib import Path

from pcpfs.model.answers import Pins
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.folding.fold import fold_page
from pcpfs.store.folding.projection import page_rows, scope_rows
from pcpfs.store.folding.scope_fold import fold_scope
from pcpfs.store.workshop import Workshop, bodies


def catalog_at(shop: Workshop, moment: Instant) -> Catalog:
    """A catalog in memory that knows only the changes recorded at or before `moment`.

    What changed later is folded anew from the files; all else is copied.
    """
    pinned = Catalog.create(Path(":memory:"))
    shop.catalog.db.backup(pinned.db)
    later = pinned.query(
        "SELECT page_id, scope, min(at) <= ?1 FROM change GROUP BY page_id, scope "
        "HAVING max(at) > ?1",
        (moment.microseconds,),
    )
    with pinned.writing():
        for page, scope, was_known in later:
            namespace = Namespace(scope)
            if page is not None and not was_known:
                pinned.remove_page(page)
            elif page is None:
                _refold_scope(shop, pinned, namespace, moment)
            else:
                _refold_page(shop, pinned, namespace, PageId(page), moment=moment)
    return pinned


def _refold_page(
    shop: Workshop, pinned: Catalog, namespace: Namespace, page: PageId, *, moment: Instant
) -> None:
    changes = shop.objects.page_changes(namespace, page)
    known = {change: body for change, body in changes.items() if body.at <= moment}
    pinned.remove_page(page)
    if known:
        state = fold_page(page, namespace, known)
        pinned.replace_pages([page_rows(state, bodies(shop.objects, namespace, page))])


def _refold_scope(shop: Workshop, pinned: Catalog, namespace: Namespace, moment: Instant) -> None:
    changes = shop.objects.scope_changes(namespace)
    known = {change: body for change, body in changes.items() if body.at <= moment}
    pinned.remove_scope(namespace)
    if known:
        pinned.replace_scope(scope_rows(fold_scope(namespace, known)))


def holds(pins: Pins, table: str) -> tuple[str, tuple[int, ...]]:
    """The condition that a row of `span` or `frame` holds under these pins, half-open.

    Without a pin no clock is involved: what has no end holds.
    """
    if pins.as_of is None:
        return f"{table}.valid_to IS NULL", ()
    moment = pins.as_of.microseconds
    return (
        f"{table}.valid_from <= ? AND ({table}.valid_to IS NULL OR {table}.valid_to > ?)",
        (moment, moment),
    )
