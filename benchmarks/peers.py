"""Peers on the same tree: git, universal-ctags, ripgrep. One that is not installed is absent."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from benchmarks.corpus import Corpus
from benchmarks.floor import FLOOR
from benchmarks.rows import Row
from benchmarks.timing import median_cost, run

STATUS = "git status"
ONE_COMMIT = "git add + commit, one file"
WORD = "get_queryset"


def git_environment() -> dict[str, str]:
    """No settings of this user's or machine's; a fixed author."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    roles = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    person = {f"GIT_{role}": "bench" for role in roles}
    return clean | person | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder: Path, *arguments: str) -> float:
    """Seconds of one git command."""
    quiet = ("-c", "gc.auto=0")
    return run(("git", *quiet, *arguments), folder, git_environment()).seconds


def measure(corpus: Corpus, times: int) -> list[Row]:
    """Make a repository of the tree (it stays one) and time each peer on it."""
    return [
        *measure_git(corpus.root, times),
        measure_ctags(corpus, times),
        measure_ripgrep(corpus, times),
    ]


def measure_git(root: Path, times: int) -> list[Row]:
    git(root, "init", "--quiet")
    first = git(root, "add", "--all") + git(root, "commit", "--quiet", "-m", "all")
    git(root, "status")  # refreshes the index
    status = median_cost(lambda: git(root, "status", "--porcelain"), times)
    one = median_cost(lambda: commit_one(root), times)
    return [
        Row("git add + commit, all", first, ratio_to=FLOOR),
        Row(STATUS, status.seconds, runs=times, processor=status.processor),
        Row(
            ONE_COMMIT,
            one.seconds,
            runs=times,
            note="in the repository of the tree",
            processor=one.processor,
        ),
    ]


def commit_one(root: Path) -> None:
    note = root / "bench-note.txt"
    note.write_bytes(os.urandom(16).hex().encode() + b"\n")
    git(root, "add", "--", note.name)
    git(root, "commit", "--quiet", "-m", "one")


def measure_ctags(corpus: Corpus, times: int) -> Row:
    name = "ctags, .py"
    command = ("ctags", "--languages=Python", "-R", "-f", "-", ".")
    if not is_universal_ctags():
        return Row(name, None, note="universal-ctags is not installed")
    seconds, processor = median_cost(lambda: run(command, corpus.root), times)
    return Row(name, seconds, runs=times, ratio_to=FLOOR, processor=processor)


def is_universal_ctags() -> bool:
    """Exuberant and BSD ctags have the same command name, and less to do."""
    if shutil.which("ctags") is None:
        return False
    return "Universal Ctags" in run(("ctags", "--version"), Path()).output


def measure_ripgrep(corpus: Corpus, times: int) -> Row:
    name = "rg, one word"
    if shutil.which("rg") is None:
        return Row(name, None, note="ripgrep is not installed")
    command = ("rg", "--count", WORD, ".")
    seconds, processor = median_cost(lambda: run(command, corpus.root), times)
    return Row(name, seconds, runs=times, note=WORD, processor=processor)
