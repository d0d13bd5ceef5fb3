"""How the rules of a scope are told to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import columns, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.scopes.governing import ScopeRules


def rules_lines(rules: ScopeRules) -> Iterator[str]:
    """`project:tides (private)`, then a line for each principal."""
    yield f"{styled(safe(rules.scope), 'bold')} ({rules.visibility})  {safe(rules.title)}"
    if rules.description:
        yield f"  {safe(rules.description)}"
    rows = [(f"  {safe(rules.owner)}", "everything: owns this store")]
    rows += [(f"  {safe(each.principal)}", " ".join(each.permissions)) for each in rules.grants]
    yield from columns(rows, (None, "dim"))
    if rules.links:
        yield f"  links to {safe(', '.join(rules.links))}"
