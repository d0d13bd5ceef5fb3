"""What a scan and a store say of the same files: the two sides that a plan compares."""

from __future__ import annotations

from pcpfs.model.ids import Digest, PageId
from pcpfs.model.names import unescaped
from pcpfs.sources.plan import Known
from pcpfs.sources.reading import read_stable
from pcpfs.sources.roots import Root, at_or_below
from pcpfs.sources.scanned import Candidate, Content, Gone, Scan, Skipped
from pcpfs.sources.withholding import without_secrets
from pcpfs.store.scopes.secrets import AllowList
from pcpfs.store.store import Store


def settled(
    store: Store, root: Root, found: Scan, most_bytes: int
) -> tuple[Scan, dict[str, bytes]]:
    """Read what has to be read; the scan with what came of it, and by path the bytes of as many
    files as `most_bytes` has room for."""
    outcomes: dict[str, Candidate | Skipped | Gone] = {}
    allowed = AllowList.of(store.catalog, root.namespace)
    contents: dict[str, bytes] = {}
    kept = 0
    for path in found.to_read:
        outcome = read_stable(root.path, path, root.options.max_size)
        outcome = without_secrets(outcome, allowed)
        if isinstance(outcome, Content):
            outcomes[path] = outcome.candidate
            if kept + len(outcome.data) <= most_bytes:
                contents[path] = outcome.data
                kept += len(outcome.data)
        else:
            outcomes[path] = outcome
    return found.settled(outcomes), contents


def known_pages(store: Store, root: Root, found: Scan) -> dict[str, Known]:
    """The pages of a root below what was looked at, by path."""
    rows = []
    for path in found.covered:
        for condition, parameters in at_or_below(path):
            rows += store.catalog.query(
                "SELECT path, page_id, digest, is_open FROM page "
                f"WHERE root_id = ? AND {condition}",
                (root.root_id, *parameters),
            )
    return {
        unescaped(path): Known(PageId(page), Digest(digest) if is_open else None)
        for path, page, digest, is_open in rows
    }
