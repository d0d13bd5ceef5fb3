"""By what lists are ordered when they are given in parts: members that the answer shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pcpfs.model.answers import LogEntry, ScopeView, SuspectPage
    from pcpfs.store.merges.conflicts import ConflictView

Key = tuple[str, ...]


def key_of_scope(view: ScopeView) -> Key:
    return (view.scope,)


def key_of_suspect(page: SuspectPage) -> Key:
    return page.scope, page.title, page.page_id


def key_of_conflict(view: ConflictView) -> Key:
    return view.page_id, view.kind


def key_of_entry(entry: LogEntry) -> str:
    return f"{entry.change_id} {entry.revision_id} {entry.valid_from} {entry.commit}"
