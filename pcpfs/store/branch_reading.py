"""Reading a source file as a branch beside the line has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Difference, Pins
from pcpfs.model.ids import PageId, RevisionId
from pcpfs.store.branches import branch_of, short_name
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.references import Reference

if TYPE_CHECKING:
    from pcpfs.store.reading import Reader


def text_on_branch(reader: Reader, given: str, branch: str, pins: Pins) -> bytes:
    """The bytes that a branch has of a file now, or had at the pinned instant. NotFound if it has
    none, or there is no such branch."""
    page, revision = _revision(reader, given, branch, pins)
    return reader.payload(f"{page.page_id}@{revision}")


def against_branch(reader: Reader, given: str, branch: str, pins: Pins) -> Difference:
    """What holds of a file (nothing, perhaps) against what a branch has of it."""
    page, revision = _revision(reader, given, branch, pins)
    here = Reference(PageId(page.page_id))
    new = reader.effective(Reference(PageId(page.page_id), RevisionId(revision)))[1]
    try:
        old = reader.effective(here)[1] if page.is_open or pins.as_of else None
    except NotFound:
        old = None
    return reader.difference(page, old, new)


def _revision(reader: Reader, given: str, branch: str, pins: Pins) -> tuple[PageRow, str]:
    page = reader.page(reader.resolve(given).page)
    if not page.is_source:
        raise UsageError(f"{page.title} is no file of a source, so no branch has it")
    branches, ref = branch_of(reader.catalog, page.root_id, branch)
    held = branches.held(page.page_id, ref, pins.as_of)
    if held is None:
        raise NotFound(f"the branch {short_name(ref)} has no {page.path}")
    return page, held.revision
