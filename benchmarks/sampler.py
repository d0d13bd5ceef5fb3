"""Says in every process of a command where its processor time goes; see `benchmarks.where`.

A timer interrupts it; the processor time that it had used since the last time is booked on the
innermost function that a rule names. So the parts add up to the whole, however long a call into C
takes. (The timer runs by the clock: our processes use that of processor time for themselves.)
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

FOLDER = "PCPFS_BENCHMARK_SAMPLES"
"""The variable that names the folder of the figures: with it in the environment, and the file of
`hook` on the way of modules, a process of Python samples itself."""

_BUSY, _IDLE = 0.004, 0.04  # seconds from one look to the next
_WRITTEN_EVERY = 0.05  # seconds of processor
_START = "start of the process"

Rule = tuple[str, str]
"""The beginning of `module:function`, and what that does."""


class Sampler:
    """Books the processor time of this process."""

    def __init__(self, target: Path, rules: Sequence[Rule]) -> None:
        self._target = target
        self._rules = rules
        self._known: dict[str, str | None] = {}
        self._spent: dict[str, dict[str, float]] = {}
        self._last = self._written = 0.0
        self._began = time.time()

    def start(self) -> None:
        self._book(_START, _START)
        signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, _BUSY)
        atexit.register(self._end)

    def _tick(self, _: int, frame: FrameType | None) -> None:
        is_busy = time.process_time() - self._last > _BUSY / 4
        self._book(*self._place(frame))
        if self._last - self._written >= _WRITTEN_EVERY:
            self._write()
        signal.setitimer(signal.ITIMER_REAL, _BUSY if is_busy else _IDLE)

    def _end(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._book("end of the process", "end of the process")
        self._write()

    def _place(self, frame: FrameType | None) -> tuple[str, str]:
        """The part, and the innermost function of ours."""
        ours = ""
        while frame is not None:
            name = f"{frame.f_globals.get('__name__')}:{frame.f_code.co_qualname}"
            ours = ours or (name if name.startswith("pcpfs") else "")
            part = self._part(name)
            if part is not None:
                return part, ours or name
            frame = frame.f_back
        return "all else", ours

    def _part(self, name: str) -> str | None:
        if name not in self._known:
            found = [part for beginning, part in self._rules if name.startswith(beginning)]
            self._known[name] = found[0] if found else None
        return self._known[name]

    def _book(self, part: str, function: str) -> None:
        now = time.process_time()
        functions = self._spent.setdefault(part, {})
        functions[function] = functions.get(function, 0.0) + now - self._last
        self._last = now

    def _write(self) -> None:
        """Written over and over: a worker is killed when it is no longer needed."""
        self._written = self._last
        clock = time.time() - self._began
        about = {"line": sys.orig_argv, "clock": clock, "spent": self._spent}
        half = self._target.with_suffix(".half")
        half.write_text(json.dumps(about))
        half.replace(self._target)


def begin(rules: Sequence[Rule]) -> None:
    """Sample this process if the environment says so."""
    if FOLDER in os.environ:
        Sampler(Path(os.environ[FOLDER], f"{os.getpid()}.json"), rules).start()
