"""What a watcher tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchLine:
    """One thing that a watcher tells: of a source `watching`, `added`, `changed`, `removed`,
    `renamed`, `skipped` or (commits of its git history) `recorded`; of `tree/` `revised`,
    `created`, `renamed`, `tombstoned`, `restored`, `resolved`, `reverted`, `held_back` or `left`;
    of either `note` or `error`. Paths of sources are relative to their root, those in `tree/` to
    the store."""

    event: str
    root: str | None = None
    path: str | None = None
    opened: int | None = None
    closed: int | None = None
    message: str | None = None
