"""How writes are told to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import short, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import RelationView, Written


def written_lines(did: str, written: Written) -> Iterator[str]:
    """`wrote notes/x.md in project:tides`, the ids, and what the writer should know."""
    place = styled(safe(written.path or "a page without a place in tree/"), "bold")
    did = did if written.created else "nothing to do, already there:"
    yield f"{did} {place} in {safe(written.scope)}"
    yield f"  {written.page_id}  {short(written.revision_id)}"
    yield from (f"  note: {safe(warning)}" for warning in written.warnings)


def relation_line(relation: RelationView) -> str:
    """`refines → Glossary  pg_…` for an outgoing relation, `←` for an incoming one."""
    edge = relation.relation
    arrow = "→" if relation.direction == "out" else "←"
    other = edge.to_page if relation.direction == "out" else relation.from_page_id
    state = "" if relation.status == "valid" else f"  ({safe(relation.status)})"
    return f"{safe(edge.type)} {arrow} {styled(safe(relation.title), 'bold')}  {other}{state}"
