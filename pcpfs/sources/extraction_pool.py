"""Runs adapters in other processes, so that a file on which one hangs or crashes can be named.

The workers are plain interpreters that talk over a socket pair. (`multiprocessing` would run the
caller's main module again in each of them, which a library cannot ask of every script.)
"""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from selectors import EVENT_READ, DefaultSelector
from types import TracebackType
from typing import Self, cast

from pcpfs.machine import processor_of
from pcpfs.model.frames import Extraction
from pcpfs.ports import AdapterRegistry
from pcpfs.sources.extraction_copy import Copy, can_copy
from pcpfs.sources.extraction_worker import (
    RegistryFactory,
    Trouble,
    Unextracted,
    adapter_for,
    extract,
    run,
)

_log = logging.getLogger(__name__)
_BOOT = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "from pcpfs.sources.extraction_worker import serve; serve(*map(int, sys.argv[1:3]))"
)
_SMALL_BYTES = 262_144
_SMALL_FILE_BYTES = 65_536
_CHUNK_BYTES = 262_144
_CHUNK_FILES = 32
_START_SECONDS = 60.0
_COPIES = 3
"""After so many copies, which took the time that a worker takes to start, it was no short run."""
_UNSEEN = 0.02
"""For so much of a file's time it is not looked again how much of the processor its worker had:
that would cost more than to read a small file."""

Source = tuple[str, bytes]
Answer = Extraction | Unextracted


class _NoWorker(Exception):
    """A worker could not be started; the work is done in this process."""


class ExtractionPool:
    """Extracts batches of files; one caller at a time, so one thread.

    Workers start with the first batch that is worth it (or with `warm`) and stay. While there are
    none, the first small batches are each given to a copy of this process, which takes a part of
    the time to start, but each time, and more of a large process; what that does not get through
    goes to a worker, which tells why. The time limit is of
    processor, where others are at work too. In this process itself, where nothing can interrupt a
    parser, files are extracted only if no other can be had, or `workers` is 0.
    """

    def __init__(
        self, factory: RegistryFactory, workers: int | None = None, seconds_a_file: float = 10.0
    ) -> None:
        self._factory = factory
        self._wanted = workers if workers is not None else len(os.sched_getaffinity(0))
        self._seconds = seconds_a_file
        self._workers: list[_Worker] = []
        self._copies = 0
        self._registry: AdapterRegistry | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Start all workers now, so that even the next small file is extracted in one of them."""
        self._grow(self._wanted)

    def close(self) -> None:
        """End the workers. The pool can be used again; it starts new ones."""
        for worker in self._workers:
            worker.end()
        self._workers = []

    def processes(self) -> tuple[subprocess.Popen[bytes] | Copy, ...]:
        """The workers that were started and not ended."""
        return tuple(worker.process for worker in self._workers)

    def extract(self, files: Sequence[Source]) -> Mapping[str, Answer]:
        """What the adapters see in these files, in the order given; paths must differ.

        A file that took longer than the limit is named as hung and its worker killed; one whose
        worker died twice is named as crashed.
        """
        answers, rest = self._without_adapter(files)
        if self._wanted and rest:
            if self._is_for_a_copy(rest):
                answers |= self._in_a_copy(rest)
            if missing := _missing(rest, answers):
                answers |= self._in_workers(missing)
        for path, source in _missing(rest, answers):
            answers[path] = extract(self._own_registry(), path, source)
        return {path: answers[path] for path, _ in files}

    def _is_for_a_copy(self, files: Sequence[Source]) -> bool:
        is_short = not self._workers and self._copies < _COPIES
        return is_short and can_copy() and _is_small(files)

    def _in_a_copy(self, files: Sequence[Source]) -> dict[str, Answer]:
        """Answers to the files before the first on which a copy of this process hung or died."""
        answers: dict[str, Answer] = {}
        self._copies += 1
        try:
            copy = Copy.at_work(self._own_registry(), files)
        except OSError as error:
            _log.warning("no copy of this process to extract in: %s", error.strerror)
            return answers
        worker = _Worker(copy, copy.connection, ready=True)
        try:
            for path, _ in files:
                worker.give(self._seconds)
                while not worker.connection.poll(max(0.0, worker.deadline - time.monotonic())):
                    if not worker.was_kept_waiting(self._seconds):
                        return answers
                answers[path] = worker.connection.recv()
        except (EOFError, OSError):
            pass  # it died
        finally:
            worker.end()
        return answers

    def _without_adapter(self, files: Sequence[Source]) -> tuple[dict[str, Answer], list[Source]]:
        """The answers to files that no adapter claims, and the rest: to count lines takes less than
        to send the file to a worker, and cannot hang."""
        registry = self._own_registry()
        plain = registry.for_source("", b"")
        answers: dict[str, Answer] = {}
        rest: list[Source] = []
        for path, source in files:
            if adapter_for(registry, path, source) is plain:
                answers[path] = run(plain, path, source)
            else:
                rest.append((path, source))
        return answers, rest

    def _own_registry(self) -> AdapterRegistry:
        if self._registry is None:
            self._registry = self._factory()
        return self._registry

    def _grow(self, count: int) -> None:
        try:
            while len(self._workers) < count:
                self._workers.append(_Worker.start(self._factory))
        except OSError as error:
            _log.warning("no further extraction worker: %s", error.strerror)

    def _in_workers(self, files: Sequence[Source]) -> dict[str, Answer]:
        """Answers to all files, or to some if no worker can be had any more."""
        batch = _Run(deque(_chunks(files)), self._seconds)
        self._grow(min(self._wanted, len(batch.chunks)))
        try:
            while batch.is_going(self._workers):
                for worker in batch.advance(self._workers):
                    self._workers.remove(worker)
                    worker.end()
                self._grow(min(self._wanted, len(batch.chunks)))
        except _NoWorker as error:
            _log.warning("extracting without workers: %s", error)
            self.close()
        except BaseException:
            self.close()  # answers that nobody awaits any more must not meet the next batch
            raise
        finally:
            batch.close()
        return batch.answers


def _missing(files: Sequence[Source], answers: Mapping[str, Answer]) -> list[Source]:
    return [file for file in files if file[0] not in answers]


def _is_small(files: Sequence[Source]) -> bool:
    sizes = [len(source) for _, source in files]
    return sum(sizes) <= _SMALL_BYTES and max(sizes, default=0) <= _SMALL_FILE_BYTES


def _chunks(files: Sequence[Source]) -> Iterator[list[Source]]:
    """Portions of about equal size, the largest files first, so that no worker is left alone with
    a large one at the end."""
    chunk: list[Source] = []
    size = 0
    for file in sorted(files, key=lambda file: (-len(file[1]), file[0])):
        if chunk and (size + len(file[1]) > _CHUNK_BYTES or len(chunk) == _CHUNK_FILES):
            yield chunk
            chunk, size = [], 0
        chunk.append(file)
        size += len(file[1])
    if chunk:
        yield chunk


@dataclass(slots=True)
class _Run:
    """One batch on its way through the workers."""

    chunks: deque[list[Source]]
    seconds: float
    answers: dict[str, Answer] = field(default_factory=dict)
    suspects: set[str] = field(default_factory=set)
    _ears: DefaultSelector = field(default_factory=DefaultSelector)

    def close(self) -> None:
        self._ears.close()

    def is_going(self, workers: Sequence[_Worker]) -> bool:
        if self.chunks and not workers:
            raise _NoWorker("none can be started")
        return bool(self.chunks) or any(worker.in_hand for worker in workers)

    def advance(self, workers: Sequence[_Worker]) -> list[_Worker]:
        """Hand out work, take what is ready, and return the workers that are lost."""
        lost = [worker for worker in workers if not self._hand_out(worker)]
        busy = {worker.connection: worker for worker in workers if worker.is_awaited}
        patience = min((worker.deadline for worker in busy.values()), default=0.0)
        ready = self._ready(busy.keys(), max(0.0, patience - time.monotonic()))
        for connection, worker in busy.items():
            if connection in ready:
                lost += [] if self._take(worker) else [worker]
            elif worker.deadline <= time.monotonic() and not worker.was_kept_waiting(self.seconds):
                self._name(worker, Trouble.HUNG, f"no answer within {self.seconds:g} s")
                lost.append(worker)
        return lost

    def _ready(self, awaited: Set[Connection], seconds: float) -> Set[Connection]:
        """Those that have an answer, or an end. (`multiprocessing.connection.wait` would register
        all of them again for each answer.)"""
        heard = {key.fileobj: key.fd for key in self._ears.get_map().values()}
        for connection in heard.keys() - awaited:
            self._ears.unregister(heard[connection])  # it may be closed
        for connection in awaited - heard.keys():
            self._ears.register(connection, EVENT_READ)
        return {cast(Connection, key.fileobj) for key, _ in self._ears.select(seconds)}

    def _hand_out(self, worker: _Worker) -> bool:
        if worker.is_awaited or not self.chunks:
            return True
        chunk = self.chunks.popleft()
        worker.in_hand = deque(chunk)
        worker.give(self.seconds)
        try:
            worker.connection.send(chunk)
        except OSError:
            self._lose(worker)
            return False
        return True

    def _take(self, worker: _Worker) -> bool:
        """Take one answer; False if the worker is dead."""
        try:
            answer = worker.connection.recv()
        except (EOFError, OSError):
            if not worker.ready:
                raise _NoWorker("a worker ended while starting") from None
            self._lose(worker)
            return False
        if not worker.ready:
            if answer is not None:
                raise _NoWorker(answer)
            worker.ready = True
            return True
        path, _ = worker.in_hand.popleft()
        self.answers[path] = answer
        worker.give(self.seconds)
        return True

    def _lose(self, worker: _Worker) -> None:
        """The worker died of the file in hand; once may be chance, such as lack of memory."""
        if worker.in_hand and worker.in_hand[0][0] not in self.suspects:
            self.suspects.add(worker.in_hand[0][0])
            self.chunks.append([worker.in_hand.popleft()])
            self._return_rest(worker)
            return
        self._name(worker, Trouble.CRASHED, "its worker process died twice")

    def _name(self, worker: _Worker, trouble: Trouble, detail: str) -> None:
        if not worker.ready:
            raise _NoWorker("a worker does not start")
        path, _ = worker.in_hand.popleft()
        self.answers[path] = Unextracted(path, trouble, detail)
        self._return_rest(worker)

    def _return_rest(self, worker: _Worker) -> None:
        if worker.in_hand:
            self.chunks.appendleft(list(worker.in_hand))
        worker.in_hand.clear()


@dataclass(eq=False, slots=True)
class _Worker:
    """One process; `in_hand` are the files that it has not answered yet."""

    process: subprocess.Popen[bytes] | Copy
    connection: Connection
    in_hand: deque[Source] = field(default_factory=deque)
    ready: bool = False
    deadline: float = 0.0
    worked: float = 0.0
    """Seconds of processor that it had had when it was given its time, or a little before."""
    looked: float = -math.inf

    @classmethod
    def start(cls, factory: RegistryFactory) -> _Worker:
        ours, theirs = Pipe()
        search = [entry for entry in sys.path if entry]
        given = (str(theirs.fileno()), str(os.getpid()), *search)
        command = [sys.executable, "-c", _BOOT, *given]
        with theirs:
            process = subprocess.Popen(
                command,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        ours.send(factory)
        return cls(process, ours, deadline=time.monotonic() + _START_SECONDS)

    @property
    def is_awaited(self) -> bool:
        return bool(self.in_hand) or not self.ready

    def give(self, seconds: float) -> None:
        """So much time for the next answer."""
        now = time.monotonic()
        self.deadline = now + seconds
        if now - self.looked > seconds * _UNSEEN:
            found = processor_of(self.process.pid)
            self.worked, self.looked = found.seconds if found else 0.0, now

    def was_kept_waiting(self, seconds: float) -> bool:
        """Whether others had the processor in its time, and it goes on: then it gets more."""
        found = processor_of(self.process.pid)
        missing = seconds - (found.seconds - self.worked) if found and found.is_at_work else 0.0
        self.deadline += max(missing, 0.0)
        return missing > 0

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()
