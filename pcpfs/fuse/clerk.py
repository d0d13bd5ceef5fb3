"""A thread with a session of its own, for what takes longer than a reader may wait."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Generic, TypeVar

from pcpfs.errors import PcpfsError
from pcpfs.model.pages import Principal
from pcpfs.store.session import Session
from pcpfs.store.store import Store

_log = logging.getLogger(__name__)
Answer = TypeVar("Answer")
Job = Callable[[Session], Answer]


class Clerk(threading.Thread, Generic[Answer]):
    """Does one job after the other; between them, every `pause` seconds, what is to be done when
    idle. It ends with the process: nothing that it does has to be finished."""

    def __init__(
        self,
        store: Path,
        principal: Principal,
        idle: Callable[[Session], None] | None = None,
        pause: float | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self._store = store
        self._principal = principal
        self._idle = idle
        self._pause = pause
        self._jobs: queue.SimpleQueue[tuple[Job[Answer], Future[Answer]]] = queue.SimpleQueue()
        self._told: set[str] = set()

    def ask(self, job: Job[Answer]) -> Future[Answer]:
        """What the job will answer."""
        future: Future[Answer] = Future()
        self._jobs.put((job, future))
        return future

    def run(self) -> None:
        with Store.open(self._store) as store, closing(Session(store, self._principal)) as session:
            while True:
                try:
                    job, future = self._jobs.get(timeout=self._pause)
                except queue.Empty:
                    self._be_idle(session)
                    continue
                try:
                    future.set_result(job(session))
                except Exception as error:  # whoever asked is told
                    future.set_exception(error)

    def _be_idle(self, session: Session) -> None:
        try:
            if self._idle is not None:
                self._idle(session)
        except PcpfsError as error:
            if error.message not in self._told:
                self._told.add(error.message)
                _log.warning("%s", error.message)
