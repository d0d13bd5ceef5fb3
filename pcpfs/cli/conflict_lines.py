"""How conflicts are told to people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import short, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.merges.conflicts import ConflictView

_ADVICE = {
    "erased": "was erased elsewhere while it was revised here; the revision went with it",
    "tombstoned": "withdrawn without knowing of a revision: revise, restore or tombstone it",
    "path": "named otherwise elsewhere, or as another page: move its file in tree/, then sync",
}


def conflict_lines(conflicts: Iterable[ConflictView]) -> Iterator[str]:
    """Each page in conflict, and what is the matter."""
    for one in conflicts:
        place = styled(safe(one.path or one.title), "bold")
        heads = "has the heads " + ", ".join(map(short, one.heads))
        yield f"conflict: {place} {_ADVICE.get(one.kind, heads)}  {short(one.page_id)}"
