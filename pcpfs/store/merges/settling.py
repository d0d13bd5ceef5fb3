"""What every command does first where git has moved or something of git's waits."""

from __future__ import annotations

from pcpfs.model.instants import Instant
from pcpfs.store.merges.merging import Settling
from pcpfs.store.merges.rebasing import Rebasing
from pcpfs.store.workshop import Workshop


def needs_settling(shop: Workshop) -> bool:
    """Whether a merge or rebase waits, or HEAD is not where `tree/` was last settled: a few small
    looks."""
    return shop.git.unfinished() is not None or shop.git.head() != shop.tree.local.settled()


def settle(shop: Workshop, at: Instant) -> tuple[str, ...]:
    """Conclude a waiting merge or rebase, and bring `tree/` up to date with HEAD; the edits that
    were left. Only under the writer lock. `merging.Waits` for what a person has to conclude."""
    settling = Settling(shop, at)
    waiting = shop.git.unfinished()
    if waiting == "merge":
        settling.conclude()
    elif waiting == "rebase":
        settling = Rebasing(shop, at)
        settling.end()
    head = shop.git.head()
    if shop.git.unfinished() is None and head not in (None, shop.tree.local.settled()):
        settling.follow(head)
    return tuple(settling.edits)
