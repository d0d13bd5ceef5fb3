"""How accepted secrets are told to people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pcpfs.cli.text import columns
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.scopes.accepted import AcceptedView


def accepted_lines(views: Sequence[AcceptedView]) -> Iterator[str]:
    """`4f2a90c17b3d  github-token  project:tides  when  who  with which pages`."""
    rows = [
        (
            view.accepted_id[:12],
            view.kind,
            safe(view.scope),
            str(view.at),
            safe(view.actor),
            " ".join(view.pages),
        )
        for view in views
    ]
    yield from columns(rows, ("yellow", "bold", None, "dim")) if rows else ()
