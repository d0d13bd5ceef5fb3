"""Payloads that went by policy: what is still known of them, and what a reader hears."""

from __future__ import annotations

from pcpfs.errors import NotFound, Unavailable
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Payload
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.objects import Objects


def payload_of(objects: Objects, catalog: Catalog, page: PageRow, payload: Payload) -> bytes:
    """The bytes of a payload of a page; Unavailable if they were thinned out."""
    try:
        return objects.payload(Namespace(page.scope), payload.ref)
    except NotFound as error:
        if not is_thinned(catalog, page.scope, payload.ref):
            raise
        raise Unavailable(
            f"the bytes of this version of {page.title} were thinned out; its digest and its "
            "symbols are still known",
            page=page.page_id,
        ) from error


def is_thinned(catalog: Catalog, scope: str, digest: str) -> bool:
    """Whether a payload that is not there went by policy: no revision of its scope needs it."""
    found = catalog.query(
        "SELECT thinned FROM revision JOIN page USING (page_id) "
        "WHERE revision.digest = ? AND page.scope = ?",
        (digest, scope),
    )
    return bool(found) and all(thinned for (thinned,) in found)
