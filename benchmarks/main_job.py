"""The main job through the command line: take a tree in, again, write, search."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.command import PCPFS, Command, environment
from benchmarks.corpus import Corpus
from benchmarks.floor import FLOOR
from benchmarks.peers import ONE_COMMIT, STATUS
from benchmarks.rows import Aim, Row
from benchmarks.timing import median_seconds, run

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
    seconds = median_seconds(lambda: run([PCPFS, "--version"], folder, environment()), times)
    return Row("pcpfs --version", seconds, runs=times, aim=Aim(0.120))


def measure_add(command: Command, corpus: Corpus, times: int) -> list[Row]:
    add = ("add", str(corpus.root), "--scope", SCOPE)
    first = command.run(*add, memory=True)
    (root,) = command.answer(*add)["roots"]
    again = median_seconds(lambda: command.run(*add), times)
    seen = f"{root.get('files')} files, {root.get('symbols')} symbols"
    return [
        Row("first add", first.seconds, aim=Aim(0, FLOOR, 8), ratio_to=FLOOR, note=seen),
        Row("first add, memory", first.peak_bytes / GIGABYTE, "GB", aim=Aim(1)),
        Row("add, nothing changed", again, runs=times, aim=Aim(0.3, STATUS), ratio_to=STATUS),
    ]


def measure_write(command: Command, times: int) -> Row:
    note = command.store.parent / "note.md"

    def write() -> None:
        command.run("write", "--scope", SCOPE, "--title", "A note", str(note))

    note.write_text("# A note\n\nWhy the resolver caches.\n", encoding="utf-8")
    seconds = median_seconds(write, times)
    return Row("write (command)", seconds, runs=times, aim=Aim(0.250), ratio_to=ONE_COMMIT)


def measure_search(command: Command, times: int) -> list[Row]:
    """Cold: a new process for each, the files in the page cache."""
    return [
        Row(
            f"cold search, {len(question.split())} words",
            median_seconds(partial(found, command, question), times),
            runs=times,
            aim=Aim(0.400),
            note=question,
        )
        for question in QUESTIONS
    ]


def found(command: Command, question: str) -> None:
    """Search, and refuse to time an empty answer."""
    if not command.answer("search", question)["results"]:
        raise SystemExit(f"search found nothing for {question!r}: there is nothing to time")


def measure_size(command: Command, corpus: Corpus) -> Row:
    files = (path for path in command.store.rglob("*") if path.is_file())
    size = sum(path.stat().st_blocks * 512 for path in files)
    return Row("store on disk / texts", size / corpus.text_bytes, "×", note=f"{size / 1e6:.0f} MB")
