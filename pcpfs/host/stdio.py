"""A provider that is a program: one envelope a line on its standard input and output.

It is started in a session of its own with PATH and HOME as its only variables. Whatever it does,
`ask` comes back within the time given, and `end` leaves nothing of it running.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pcpfs.host.channels import Limits, late, reply_of, too_long
from pcpfs.host.troubles import Kind, ProviderTrouble
from pcpfs.host.words import shown_command
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import write_envelope

_PART = 1 << 16
_STDERR_KEPT = 2000
_EXIT_SECONDS = 0.3


class StdioChannel:
    """One running program. One thread asks; any thread may abandon."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: str | None,
        limits: Limits,
    ) -> None:
        self._limits = limits
        self._lines: deque[bytes] = deque()
        self._unfinished: list[bytes] = []
        self._unfinished_bytes = 0
        self._strays = 0
        self._stderr = b""
        self._stderr_bytes = 0
        self._is_at_end = False
        self._ending = threading.Lock()
        self._is_over = False
        self._process = _started(words, environment, folder)
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None, "both are pipes"
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        assert self._process.stdin is not None, "a pipe"
        os.set_blocking(self._process.stdin.fileno(), False)

    def ask(self, envelope: cgp.Envelope, seconds: float, most_bytes: int) -> cgp.Envelope:
        deadline = time.monotonic() + seconds
        self._send(write_envelope(envelope), deadline, late(seconds))
        while True:
            while not self._lines:
                if self._is_at_end:
                    raise self._ended()
                self._pump(deadline, late(seconds), most_bytes)
            reply = reply_of(self._lines.popleft())
            if reply is not None:
                return reply
            self._strays += 1
            if self._strays > self._limits.stray_lines:
                message = f"more than {self._limits.stray_lines} lines that are no envelopes"
                raise ProviderTrouble(Kind.FLOODER, message)

    def end(self, seconds: float) -> None:
        """R2: a polite `shutdown`, then the end by force of all that it started."""
        deadline = time.monotonic() + seconds
        with suppress(ProviderTrouble, OSError, ValueError):
            self._send(write_envelope(cgp.Shutdown()), deadline, late(seconds))
            assert self._process.stdin is not None, "a pipe"
            self._process.stdin.close()
            while not self._is_at_end:
                self._lines.clear()
                self._pump(deadline, late(seconds), _PART)
        self._kill(for_good=True)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                if stream is not None:
                    stream.close()

    def abandon(self) -> None:
        self._kill(for_good=False)

    def _kill(self, *, for_good: bool) -> None:
        """End the whole session. Its number is not given to others before we have waited for it,
        and that happens once, under the lock."""
        with self._ending:
            if self._is_over:
                return
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            if for_good:
                self._is_over = True
                self._process.wait()

    def _send(self, line: bytes, deadline: float, trouble: ProviderTrouble) -> None:
        """Write a line; a provider that does not read does not hold us up."""
        assert self._process.stdin is not None, "a pipe"
        descriptor, rest = self._process.stdin.fileno(), memoryview(line)
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                self._pump(deadline, trouble, _PART, pause=0.02)
            except BrokenPipeError:
                return  # it reads no more; what it said before its end is still to be heard

    def _pump(
        self, deadline: float, trouble: ProviderTrouble, most: int, pause: float | None = None
    ) -> None:
        """Take in what both streams have; the trouble after the deadline."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise trouble
        for key, _ in self._selector.select(left if pause is None else min(left, pause)):
            part = _read(key.fd)
            if part is None:
                continue
            if not part:
                self._selector.unregister(key.fileobj)
                self._is_at_end |= key.fileobj is self._process.stdout
            elif key.fileobj is self._process.stdout:
                self._take(part, most)
            else:
                self._take_stderr(part)

    def _take(self, part: bytes, most: int) -> None:
        """Cut into lines; each byte is looked at once, and never more kept than allowed."""
        *ended, rest = part.split(b"\n")
        for line in ended:
            self._lines.append(b"".join([*self._unfinished, line]))
            self._unfinished, self._unfinished_bytes = [], 0
            if len(self._lines[-1]) > most:
                raise too_long(len(self._lines[-1]))
        if rest:
            self._unfinished.append(rest)
            self._unfinished_bytes += len(rest)
        if self._unfinished_bytes > most:
            raise too_long(self._unfinished_bytes)
        if len(self._lines) > 10 * self._limits.stray_lines:
            raise ProviderTrouble(Kind.FLOODER, f"{len(self._lines)} lines that nobody asked for")

    def _take_stderr(self, part: bytes) -> None:
        self._stderr = (self._stderr + part)[-_STDERR_KEPT:]
        self._stderr_bytes += len(part)
        if self._stderr_bytes > self._limits.stderr_bytes:
            message = f"more than {self._limits.stderr_bytes:,} bytes on standard error"
            raise ProviderTrouble(Kind.FLOODER, message)

    def _ended(self) -> ProviderTrouble:
        """How it ended, with the last that it said to people."""
        with suppress(ProviderTrouble):
            deadline = time.monotonic() + _EXIT_SECONDS
            while self._selector.get_map():
                self._pump(deadline, late(0), _PART)
        code = _exit_code(self._process.pid)
        ending = "it closed its output" if code is None else f"it ended with {code}"
        return ProviderTrouble(Kind.CRASHED, ending + self._said())

    def _said(self) -> str:
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return f"; standard error ends with: {lines[-1][:200]}" if lines else ""


def _started(
    words: Sequence[str], environment: Mapping[str, str], folder: str | None
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a word cannot be passed on"
        message = f"{shown_command(words[:1])} cannot be started: {reason}"
        raise ProviderTrouble(Kind.UNREACHABLE, message) from error


def _read(descriptor: int) -> bytes | None:
    """A part; empty at the end, None if nothing is there after all."""
    try:
        return os.read(descriptor, _PART)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _exit_code(pid: int) -> str | None:
    """How a process ended, without letting go of its number; None if it goes on."""
    deadline = time.monotonic() + _EXIT_SECONDS
    while True:
        try:
            found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return None
        if found is not None:
            kind = "exit code" if found.si_code == os.CLD_EXITED else "signal"
            return f"{kind} {found.si_status}"
        if time.monotonic() > deadline:
            return None
        time.sleep(0.01)
