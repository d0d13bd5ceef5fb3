"""A provider as a process: every wait has a deadline, and whatever it does ends in a verdict."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

from pcpfs.errors import BadMessage
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import read_envelope

_PART = 65536
_STDERR_KEPT = 2000
_WHOLE_NUMBERS = ("token_cost", "canonical_token_cost", "dropped_estimate")


class NoReply(Exception):
    """The provider gave no answer that can be read; the text says what it did instead."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to wait, and how much a provider may write before that counts as a flood."""

    handshake: float = 10.0
    query: float = 30.0
    other: float = 10.0
    exit: float = 5.0
    line_bytes: int = 8 << 20
    stray_lines: int = 1000


class Peer:
    """One running provider. Closing it ends the process and all that it started."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], limits: Limits
    ) -> None:
        self.limits = limits
        self.strays: list[str] = []
        self._stderr = b""
        self._unread = bytearray()
        self._is_at_end = False
        self._process = started(command, environment, subprocess.PIPE)
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None, "both are pipes"
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        assert self._process.stdin is not None, "a pipe"
        os.set_blocking(self._process.stdin.fileno(), False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._selector.close()
        end(self._process)

    def send(self, line: bytes) -> None:
        """Write a line; a provider that does not read does not hold us up."""
        assert self._process.stdin is not None, "a pipe"
        descriptor, rest = self._process.stdin.fileno(), memoryview(line)
        deadline = time.monotonic() + self.limits.other
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                self._pump(deadline, "it does not read what it is sent", pause=0.02)
            except BrokenPipeError as error:
                raise NoReply(self._ended()) from error

    def receive(self, seconds: float) -> cgp.Envelope:
        """The next envelope. Other lines are noted as strays and passed over."""
        deadline = time.monotonic() + seconds
        while True:
            line = self._line(deadline, f"no reply within {seconds:g} s")
            value = _object(line)
            if value is None:
                self._stray(f"a line that is no envelope: {_shown(line)}")
                continue
            try:
                self.strays += _unhygienic(line, value)
                return read_envelope(line)
            except BadMessage as error:
                raise NoReply(f"a reply that cannot be read: {error.message}") from error
            except RecursionError as error:
                raise NoReply("a reply that is nested too deeply to be read") from error

    def ending(self) -> int | None:
        """Wait for its end; the exit code, or None if it goes on. What it still writes to
        standard output is a stray."""
        deadline = time.monotonic() + self.limits.exit
        while not self._is_at_end and time.monotonic() < deadline:
            with suppress(NoReply):
                self._stray(f"a line after shutdown: {_shown(self._line(deadline, ''))}")
        try:
            return self._process.wait(max(deadline - time.monotonic(), 0.05))
        except subprocess.TimeoutExpired:
            return None

    def _stray(self, what: str) -> None:
        self.strays.append(what)
        if len(self.strays) > self.limits.stray_lines:
            raise NoReply(f"it floods its output with {what}")

    def _line(self, deadline: float, late: str) -> bytes:
        """The next line without its end, however late standard error is."""
        while b"\n" not in self._unread:
            if self._is_at_end:
                raise NoReply(self._ended())
            if len(self._unread) > self.limits.line_bytes:
                raise NoReply(f"it wrote {len(self._unread):,} bytes without a line end")
            self._pump(deadline, late)
        line, _, self._unread = self._unread.partition(b"\n")
        return bytes(line)

    def _pump(self, deadline: float, late: str, pause: float | None = None) -> None:
        """Take in what both streams have; NoReply with `late` after the deadline."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise NoReply(late + self._said())
        wait = left if pause is None else min(left, pause)
        for key, _ in self._selector.select(wait):
            part = self._read(key.fd)
            if part is None:
                continue
            if not part:
                self._selector.unregister(key.fileobj)
                self._is_at_end |= key.fileobj is self._process.stdout
            elif key.fileobj is self._process.stdout:
                self._unread += part
            else:
                self._stderr = (self._stderr + part)[-_STDERR_KEPT:]

    def _read(self, descriptor: int) -> bytes | None:
        """A part; empty at the end, None if nothing is there after all."""
        try:
            return os.read(descriptor, _PART)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _ended(self) -> str:
        """How it ended, with the last that it said to people."""
        deadline = time.monotonic() + 0.5
        with suppress(NoReply):
            while self._selector.get_map():
                self._pump(deadline, "")
        try:
            code: int | str = self._process.wait(self.limits.exit)
        except subprocess.TimeoutExpired:
            code = "none yet"
        return f"it closed its output; exit code {code}" + self._said()

    def _said(self) -> str:
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return f"; standard error ends with: {_shown(lines[-1].encode())}" if lines else ""


def started(
    command: Sequence[str], environment: Mapping[str, str], asked: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    """The program in a session of its own, its outputs as pipes; NoReply if it cannot be."""
    try:
        return subprocess.Popen(
            list(command),
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise NoReply(f"it cannot be started: {error}") from error


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started, and let go of it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if stream is not None:
                stream.close()


def _object(line: bytes) -> Mapping[str, Any] | None:
    """The line as a JSON object with a type; None for any other line."""
    try:
        value = json.loads(line.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _unhygienic(line: bytes, value: object) -> Iterator[str]:
    """What strict peers break on: a byte order mark, `null`, floats for whole numbers."""
    if line.startswith(b"\xef\xbb\xbf"):
        yield "a byte order mark"
    yield from _odd_members(value, "")


def _odd_members(value: object, where: str) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _odd_members(item, where)
    if isinstance(value, dict):
        for name, member in value.items():
            if member is None:
                yield f"a null member: {where}{name}"
            elif name in _WHOLE_NUMBERS and isinstance(member, float):
                yield f"a float for a whole number: {where}{name}"
            else:
                yield from _odd_members(member, f"{name}.")


def _shown(line: bytes) -> str:
    """A little of what it wrote, on one line."""
    text = line[:200].decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in text[:120])
