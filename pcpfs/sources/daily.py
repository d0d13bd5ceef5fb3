"""What `watch` does once a day, bit by bit, in idle moments: the bytes of old saves go."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack

from pcpfs.errors import PcpfsError, Unavailable
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.sources.thinning import last_thinned, thinning
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.maintain import MAINTENANCE_LOCK, ThinReport

_log = logging.getLogger(__name__)

QUIET_SECONDS = 10.0
"""So long nothing was heard when it begins."""
_PAGES, _REVISIONS, _FILES = 8, 100, 25
_DAY = 86_400_000_000


class Daily:
    """Thins when a day has passed since this clone last did. Two processes do not both do it; who
    has begun lets anybody else write between two steps."""

    def __init__(self, store: Store, actor: Principal) -> None:
        self._store = store
        self._actor = actor
        self._steps: Iterator[ThinReport] | None = None
        self._held = ExitStack()
        self._done: list[ThinReport] = []
        self._not_before = Instant(0)

    def turn(self, quiet: float) -> ThinReport | None:
        """One step, after so many `quiet` seconds; what was done in all, when it is done."""
        try:
            if self._steps is None:
                if quiet < QUIET_SECONDS or not self._is_due():
                    return None
                self._held.enter_context(
                    self._store.disk.lock(self._store.local_folder / MAINTENANCE_LOCK, 0)
                )
                if not self._is_due():  # another process was faster
                    self.end()
                    return None
                self._steps = thinning(self._store, self._actor, _PAGES, _REVISIONS, _FILES)
            self._done.append(next(self._steps))
        except StopIteration:
            done = self._done
            self.end()
            return ThinReport(sum(d.payloads for d in done), sum(d.bytes for d in done))
        except Unavailable:
            self.end()  # somebody else is at work; a later moment will do
        except PcpfsError as error:
            _log.warning("old saves could not be thinned out: %s", error.message)
            self._wait()
            self.end()
        return None

    def end(self) -> None:
        """Do no more: what is not done the next one does."""
        self._steps, self._done = None, []
        self._held.close()

    def _is_due(self) -> bool:
        now = self._store.clock.now()
        if self._actor != self._store.owner or now < self._not_before:
            return False
        last = last_thinned(self._store)
        if last is not None and last <= now and now.microseconds - last.microseconds < _DAY:
            self._not_before = Instant(last.microseconds + _DAY)
            return False
        return True

    def _wait(self) -> None:
        self._not_before = Instant(self._store.clock.now().microseconds + _DAY)
