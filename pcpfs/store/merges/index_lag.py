"""Bringing git's index up to date where a process that commits often let it lag behind."""

from __future__ import annotations

from pcpfs.git.late_index import LateGit, catch_up, lags
from pcpfs.model.instants import Instant
from pcpfs.store.workshop import Workshop


def settle_index(shop: Workshop, at: Instant, *, now: bool) -> None:
    """Only under the writer's lock. A process that lets it lag goes on doing so as long as it
    may (and not `now`); any other brings it up to date first. Files that a person's commit has
    dropped meanwhile are committed again."""
    if not lags(shop.git):
        return
    if isinstance(shop.git, LateGit) and not now and shop.git.may_lag_on:
        return
    dropped = catch_up(shop.git)
    there = [(path, shop.root / path) for path in dropped if (shop.root / path).is_file()]
    if there:
        shop.git.commit(there, "recover: files that a commit of yours had dropped\n", at)
        catch_up(shop.git)
