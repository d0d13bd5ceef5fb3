"""A host as a process: one question on its standard input, one answer on its standard output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pcpfs_conformance.host_bench import Json, Runner
from pcpfs_conformance.provider_peer import NoReply

_SECONDS_MORE = 30.0
_LARGEST_ANSWER = 64 << 20


def runner(command: Sequence[str], environment: Mapping[str, str]) -> Runner:
    """A function that asks this command, in a fresh process for each question."""

    def run(question: Json) -> Json:
        seconds = float(question["timeout_seconds"]) + _SECONDS_MORE
        return _parsed(_output(command, environment, json.dumps(question).encode(), seconds))

    return run


def _output(
    command: Sequence[str], environment: Mapping[str, str], question: bytes, seconds: float
) -> bytes:
    """What it writes; NoReply for one that cannot be started, fails, or takes too long. Its output
    goes to a file, so that however much it is, none of it is in our way."""
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as told:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=answer,
                stderr=told,
                env=dict(environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise NoReply(f"it cannot be started: {error}") from error
        try:
            process.communicate(question, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise NoReply(f"no answer within {seconds:g} s") from error
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        told.seek(max(0, told.seek(0, os.SEEK_END) - 500))
        last = told.read().decode("utf-8", "replace").strip().splitlines()
        if process.returncode != 0:
            why = f": {last[-1]}" if last else ""
            raise NoReply(f"it ended with exit code {process.returncode}{why}")
        if answer.seek(0, os.SEEK_END) > _LARGEST_ANSWER:
            raise NoReply("it wrote more than anybody can read")
        answer.seek(0)
        return answer.read()


def _parsed(raw: bytes) -> Json:
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise NoReply(f"its answer is no JSON: {error}") from error
    if not isinstance(answer, dict):
        raise NoReply("its answer is no JSON object")
    return answer
