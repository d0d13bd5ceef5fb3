"""The main job through the command line: take a tree in, again, write, search."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.command import PCPFS, Command, environment
from benchmarks.corpus import Corpus
from benchmarks.floor import FLOOR
from benchmarks.peers import ONE_COMMIT, STATUS
from benchmarks.rows import Aim, Row
from benchmarks.timing import cost_of, median_cost, run

SCOPE = "project:django"
GIGABYTE = 1e9
QUESTIONS = ("queryset", "url resolver", "how are migrations applied to databases")


def measure(command: Command, corpus: Corpus, times: int) -> list[Row]:
    """`command.store` does not exist yet; afterwards it holds the corpus."""
    run([PCPFS, "init", str(command.store)], command.store.parent, environment())
    return [
        measure_version(command.store.parent, times),
        *measure_add(command, corpus, times),
        measure_write(command, times),
        *measure_search(command, times),
        measure_size(command, corpus),
    ]


def measure_version(folder: Path, times: int) -> Row:
    seconds, processor = median_cost(
        lambda: run([PCPFS, "--version"], folder, environment()), times
    )
    return Row("pcpfs --version", seconds, runs=times, aim=Aim(0.120), processor=processor)


def measure_add(command: Command, corpus: Corpus, times: int) -> list[Row]:
    add = ("add", str(corpus.root), "--scope", SCOPE)
    peaks: list[int] = []
    first, spent = cost_of(lambda: peaks.append(command.run(*add, memory=True).peak_bytes))
    (root,) = command.answer(*add)["roots"]
    again, processor = median_cost(lambda: command.run(*add), times)
    seen = f"{root.get('files')} files, {root.get('symbols')} symbols"
    return [
        Row(
            "first add",
            first,
            aim=Aim(0, FLOOR, 8),
            ratio_to=FLOOR,
            note=seen,
            processor=spent,
        ),
        Row("first add, memory", peaks[0] / GIGABYTE, "GB", aim=Aim(1)),
        Row(
            "add, nothing changed",
            again,
            runs=times,
            aim=Aim(0.3, STATUS),
            ratio_to=STATUS,
            processor=processor,
        ),
    ]


def measure_write(command: Command, times: int) -> Row:
    note = command.store.parent / "note.md"

    def write() -> None:
        command.run("write", "--scope", SCOPE, "--title", "A note", str(note))

    note.write_text("# A note\n\nWhy the resolver caches.\n", encoding="utf-8")
    seconds, processor = median_cost(write, times)
    return Row(
        "write (command)",
        seconds,
        runs=times,
        aim=Aim(0.250),
        ratio_to=ONE_COMMIT,
        processor=processor,
    )


def measure_search(command: Command, times: int) -> list[Row]:
    """Cold: a new process for each, the files in the page cache."""
    return [cold_search(command, question, times) for question in QUESTIONS]


def cold_search(command: Command, question: str, times: int) -> Row:
    seconds, processor = median_cost(partial(found, command, question), times)
    words = f"cold search, {len(question.split())} words"
    return Row(words, seconds, runs=times, aim=Aim(0.400), note=question, processor=processor)


def found(command: Command, question: str) -> None:
    """Search, and refuse to time an empty answer."""
    if not command.answer("search", question)["results"]:
        raise SystemExit(f"search found nothing for {question!r}: there is nothing to time")


def measure_size(command: Command, corpus: Corpus) -> Row:
    files = (path for path in command.store.rglob("*") if path.is_file())
    size = sum(path.stat().st_blocks * 512 for path in files)
    return Row("store on disk / texts", size / corpus.text_bytes, "×", note=f"{size / 1e6:.0f} MB")
