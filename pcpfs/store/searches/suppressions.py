"""What is not recalled within one task: local to this clone, for 30 days, never committed.

Durable state is untouched, and no other task notices (PCP SuppressPages, PCP-T3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcpfs.errors import UsageError
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import refuse_unprintable
from pcpfs.store.local import LocalState
from pcpfs.store.scopes.secrets import refuse_secrets_in

KEPT_DAYS = 30
_KEPT = KEPT_DAYS * 86_400 * 1_000_000


@dataclass(frozen=True, slots=True)
class Suppression:
    """A page that a task does not want to see, until when, and why."""

    task: str
    page_id: PageId
    until: Instant
    why: str


class Suppressions:
    """The suppressions of one clone."""

    def __init__(self, local: LocalState, now: Instant) -> None:
        self._local = local
        self._now = now

    def add(self, task: str, pages: Sequence[PageId], why: str) -> tuple[Suppression, ...]:
        """From now on; a second time begins the 30 days anew."""
        refuse_unprintable(why, "reason (--why)")
        refuse_secrets_in("reason", why)
        refuse_secrets_in("task", task)
        until = Instant(self._now.microseconds + _KEPT)
        rows = [(_named(task), page, until.microseconds, why.strip()) for page in pages]
        self._local.suppress(rows, self._now.microseconds)
        return self.of(task, pages)

    def lift(self, task: str, pages: Sequence[PageId]) -> int:
        """Recall them again; how many were suppressed."""
        return self._local.lift(_named(task), pages)

    def pages(self, task: str) -> tuple[PageId, ...]:
        """The pages that a task does not want to see."""
        return tuple(suppression.page_id for suppression in self.of(task))

    def of(self, task: str, only: Sequence[PageId] | None = None) -> tuple[Suppression, ...]:
        """Those of a task that still last, by page."""
        found = self._local.suppressed(_named(task), self._now.microseconds)
        return tuple(
            Suppression(task, PageId(page), Instant(until), why)
            for page, until, why in found
            if only is None or page in only
        )


def _named(task: str) -> str:
    if not 1 <= len(task) <= 200:
        raise UsageError("a task has a name of 1 to 200 characters")
    refuse_unprintable(task, "task")
    return task
