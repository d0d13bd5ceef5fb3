"""A host as a process: one question on its standard input, one answer on its standard output."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence

from pcpfs_conformance.host_bench import Json, Runner
from pcpfs_conformance.provider_peer import NoReply, end, started

_SECONDS_MORE = 30.0
_LARGEST_ANSWER = 64 << 20
_LAST_WORDS = 500
_PART = 1 << 16
_PAUSE = 0.05


def runner(command: Sequence[str], environment: Mapping[str, str]) -> Runner:
    """A function that asks this command, in a fresh process for each question."""

    def run(question: Json) -> Json:
        seconds = float(question["timeout_seconds"]) + _SECONDS_MORE
        return _parsed(_output(command, environment, json.dumps(question).encode(), seconds))

    return run


def _output(
    command: Sequence[str], environment: Mapping[str, str], question: bytes, seconds: float
) -> bytes:
    """What it writes; NoReply for one that cannot be started, fails, or takes too long."""
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryFile() as asked:
        asked.write(question)
        asked.seek(0)
        process = started(command, environment, asked)
    try:
        answer, told = _heard(process, deadline)
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        raise NoReply(f"no answer within {seconds:g} s") from error
    finally:
        end(process)
    last = told.decode("utf-8", "replace").strip().splitlines()
    if code != 0:
        why = f": {last[-1]}" if last else ""
        raise NoReply(f"it ended with exit code {code}{why}")
    return answer


def _heard(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
    """Its answer, and the last that it said on standard error; TimeoutError after the deadline.

    No more of either is kept than can be of use. A child of its that keeps the streams open is not
    waited for.
    """
    assert process.stdout is not None, "a pipe"
    assert process.stderr is not None, "a pipe"
    answer, told = bytearray(), b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            if time.monotonic() > deadline:
                raise TimeoutError
            is_over = process.poll() is not None  # first, so that its last words are heard
            ready = selector.select(0 if is_over else _PAUSE)
            if is_over and not ready:
                break
            for key, _ in ready:
                part = os.read(key.fd, _PART)
                if not part:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    told = (told + part)[-_LAST_WORDS:]
                else:
                    answer += part
            if len(answer) > _LARGEST_ANSWER:
                raise NoReply("it wrote more than anybody can read")
    return bytes(answer), told


def _parsed(raw: bytes) -> Json:
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise NoReply(f"its answer is no JSON: {error}") from error
    if not isinstance(answer, dict):
        raise NoReply("its answer is no JSON object")
    return answer
