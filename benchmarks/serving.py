"""`pcpfs serve` as a host sees it: the handshake, the first answer, and answers after that."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import PCPFS, Command, environment
from benchmarks.corpus import Corpus
from benchmarks.questions import questions
from benchmarks.rows import Aim, Row
from benchmarks.timing import Failed
from pcpfs.store.store import Store

HELLO = {"type": "handshake", "protocol_version": "contextgraph/1.0-draft"}


class Provider:
    """A provider that answers one envelope with one."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def say(self, envelope: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(envelope) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, goal: str) -> float:
        """Seconds until the answer, which must hold something."""
        query = {"goal": goal, "max_frames": 10, "max_tokens": 4096}
        start = time.perf_counter()
        answer = self.say({"type": "query", "query": query})
        seconds = time.perf_counter() - start
        if not answer.get("result", {}).get("frames"):
            raise Failed(f"nothing was served for {goal!r}: {answer}")
        return seconds

    def cpu(self) -> float | None:
        """Processor seconds so far, where the system tells."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        if not stat.exists():
            return None
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / 100


@contextmanager
def serving(command: Command, owner: str) -> Iterator[Provider]:
    process = subprocess.Popen(
        [PCPFS, "-C", str(command.store), "--as", owner, "serve"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        yield Provider(process)
    finally:
        process.communicate(json.dumps({"type": "shutdown"}) + "\n", timeout=30)


def measure(command: Command, corpus: Corpus, times: int) -> list[Row]:
    """The corpus has been added to the store."""
    with Store.open(command.store) as opened:
        owner = str(opened.owner)
    goals = [question.words for question in questions(corpus)]
    command.run("search", goals[0])  # whatever waits to be indexed is indexed now
    greetings = [_greeting(command, owner) for _ in range(times)]
    with serving(command, owner) as provider:
        provider.say(HELLO)
        first = provider.ask(goals[0])
        before = provider.cpu()
        answers = [provider.ask(goal) for goal in goals]
        after = provider.cpu()
    return [
        Row("serve: handshake", median(greetings), runs=times, aim=Aim(0.5)),
        Row("serve: first answer", first),
        Row(
            "serve: answer to a question",
            median(answers),
            runs=len(goals),
            aim=Aim(0.050),
            note=_note(answers, before, after),
        ),
    ]


def _greeting(command: Command, owner: str) -> float:
    start = time.perf_counter()
    with serving(command, owner) as provider:
        provider.say(HELLO)
        return time.perf_counter() - start


def _note(answers: Sequence[float], before: float | None, after: float | None) -> str:
    slow = f"p95 {sorted(answers)[-len(answers) // 20] * 1000:.0f} ms"
    if before is None or after is None:
        return slow
    return f"{slow}, {(after - before) / len(answers) * 1000:.0f} ms of processor each"
