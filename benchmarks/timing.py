"""Clocks: medians of repeated actions, and subprocesses with the peak memory of their tree."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

SAMPLING_SECONDS = 0.1


def seconds_of(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median_seconds(action: Callable[[], object], times: int) -> float:
    """The median of so many runs; the first one counts like the others."""
    return statistics.median(seconds_of(action) for _ in range(times))


class Cost(NamedTuple):
    """Seconds by the clock, and of the processor: on a busy machine these say more."""

    seconds: float
    processor: float


def cost_of(action: Callable[[], object]) -> Cost:
    """What an action takes in this thread and in processes that it starts and awaits."""
    before = _processor()
    seconds = seconds_of(action)
    return Cost(seconds, _processor() - before)


def median_cost(action: Callable[[], object], times: int) -> Cost:
    """The medians of so many runs."""
    costs = [cost_of(action) for _ in range(times)]
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def _processor() -> float:
    """Of this thread (another one samples memory) and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that succeeded."""

    seconds: float
    output: str
    peak_bytes: int = 0


class Failed(RuntimeError):
    """A measured command failed: a time for it would mean nothing."""


def run(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    memory: bool = False,
) -> Finished:
    """Run to the end; raise Failed with what it wrote unless it exits with 0.

    With `memory` the resident sizes of the process and its descendants are summed every 100 ms
    (pages that they share count twice).
    """
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(env or os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        peak = PeakMemory(process.pid) if memory else None
        output, complaints = process.communicate()
        seconds = time.perf_counter() - start
    peak_bytes = peak.stop() if peak else 0
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit {process.returncode}\n{complaints or output}")
    return Finished(seconds, output, peak_bytes)


class PeakMemory:
    """Samples the memory of a process tree until stopped; 0 where there is no /proc."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._done.set()
        self._thread.join()
        return self._peak

    def _sample(self) -> None:
        while not self._done.wait(SAMPLING_SECONDS):
            self._peak = max(self._peak, tree_bytes(self._pid))


class Running(NamedTuple):
    """A process; `seconds` of processor time include those of children that have ended."""

    pid: int
    parent: int
    bytes: int
    seconds: float


def tree_bytes(pid: int) -> int:
    """The resident bytes of a process and its descendants now."""
    return sum(process.bytes for process in tree_of(pid))


def tree_seconds(pid: int) -> float:
    """The processor time that a process and its descendants have used; on a busy machine it says
    more than the clock."""
    return sum(process.seconds for process in tree_of(pid))


def tree_of(pid: int) -> list[Running]:
    found = processes()
    parents = {process.pid: process.parent for process in found}
    return [process for process in found if descends(process.pid, pid, parents)]


def processes() -> list[Running]:
    """All that can be read; others ended meanwhile."""
    page, tick, found = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK"), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        ticks = sum(map(int, fields[11:15]))
        size = int(fields[21]) * page
        found.append(Running(int(folder.name), int(fields[1]), size, ticks / tick))
    return found


def descends(pid: int, ancestor: int, parents: Mapping[int, int]) -> bool:
    while pid and pid != ancestor:
        pid = parents.get(pid, 0)
    return pid == ancestor
