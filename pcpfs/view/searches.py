"""`/search/<query>/NN-<title>.<ext>`: what a search finds, best first, as links."""

from __future__ import annotations

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import SearchHit
from pcpfs.view.names import plain_name, safe_name
from pcpfs.view.nodes import Directory, Node, listed, unlisted
from pcpfs.view.pages import payload_name, text_path
from pcpfs.view.place import Vantage, ending
from pcpfs.view.sources import symbol_path

_LONGEST_TITLE = 80


def searches(here: Vantage) -> Directory:
    return unlisted(lambda name: _search(here, name))


def _search(here: Vantage, name: str) -> Directory | None:
    query = plain_name(name)
    try:
        hits = here.found(query) if query and query.strip() else None
    except UsageError:
        return None
    return None if hits is None else listed(lambda: _results(here, hits))


def _results(here: Vantage, hits: tuple[SearchHit, ...]) -> dict[str, Node]:
    targets = ((hit, _target(here, hit)) for hit in hits)
    return {
        f"{number:02d}-{_title(hit).removesuffix(end)}{end}": here.link(path)
        for number, (hit, (path, end)) in enumerate(targets, 1)
        if path
    }


def _title(hit: SearchHit) -> str:
    return safe_name((hit.qualified_name or hit.title)[:_LONGEST_TITLE])


def _target(here: Vantage, hit: SearchHit) -> tuple[str | None, str]:
    """Where a hit stands in the view, and how its name ends."""
    row = here.catalog.page(hit.page_id)
    span = here.effective(hit.page_id)
    if row is None or span is None:
        return None, ""
    path = None
    if hit.frame_id is not None and hit.qualified_name and row.root_id in here.root_names:
        try:
            path = symbol_path(here, here.reader.frame(hit.frame_id), row.root_id)
        except NotFound:
            path = None
    path = path or text_path(here, row, span) or f"/pages/{row.page_id}/{payload_name(row)}"
    return path, ending(row)
