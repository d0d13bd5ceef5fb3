"""What the door to git costs, beside plain git in the same run.

    python benchmarks/git_cost.py [FILES]

Prints medians in milliseconds and how many times plain git's time that is. FILES (10,000 if not
given) is the size of the store.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from pcpfs.disk import Disk
from pcpfs.git import Git, renames
from pcpfs.model.instants import Instant

RUNS = 9
PAGE = 4
"""Files of one saved page: payload, revision, change and its text in `tree/`."""


def files(first: int, count: int) -> Iterator[tuple[str, bytes]]:
    for n in range(first, first + count):
        name = hashlib.sha256(b"%d" % n).hexdigest()
        yield f"scopes/project/x/payloads/{name[:2]}/{name[2]}/{name}", name.encode() * 12


def milliseconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def row(what: str, ours: float, plain: float | None = None) -> None:
    beside = "" if plain is None else f"{plain:10.2f} {ours / plain:8.2f} ×"
    print(f"{what:44}{ours:10.2f}{beside}")


def plain_git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment["GIT_CONFIG_GLOBAL"] = os.devnull
    subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, env=environment
    )


def add_and_commit(folder: Path, *what: str) -> None:
    plain_git(folder, "add", *what)
    plain_git(folder, "commit", "-q", "-m", "plain")


def show_each(folder: Path, blobs: list[str]) -> None:
    for blob in blobs:
        plain_git(folder, "show", blob)


def make(folder: Path) -> Git:
    folder.mkdir()
    git = Git.init(folder)
    git.lay_info(Disk(), "attributes", "* -text -filter -ident -working-tree-encoding -merge\n")
    return git


def lay(folder: Path, content: list[tuple[str, bytes]]) -> list[str]:
    for path, data in content:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return [path for path, _ in content]


def bulk(ours: Git, plain: Git, count: int) -> None:
    content = list(files(0, count))
    lay(ours.work_tree, content)
    lay(plain.work_tree, content)
    row(
        f"first commit of {count:,} files",
        milliseconds(lambda: ours.commit(content, "bulk", Instant(0))),
        milliseconds(lambda: add_and_commit(plain.work_tree, "-A")),
    )
    row(
        "the first `git status` after it",
        milliseconds(lambda: plain_git(ours.work_tree, "status", "--porcelain")),
        milliseconds(lambda: plain_git(plain.work_tree, "status", "--porcelain")),
    )


def singles(ours: Git, plain: Git, count: int, size: int) -> None:
    """Commits of `size` files, ours against add + commit of the same."""
    mine, theirs = [], []
    for run in range(RUNS):
        content = list(files(count + 1000 * size + run * size, size))
        names = lay(ours.work_tree, content)
        lay(plain.work_tree, content)
        mine.append(milliseconds(partial(ours.commit, content, "one", Instant(0))))
        theirs.append(milliseconds(partial(add_and_commit, plain.work_tree, "--", *names)))
    row(f"a commit of {size} file{'s' if size > 1 else ''}", median(mine), median(theirs))


def repeated(action: Callable[[], object]) -> float:
    return median(milliseconds(action) for _ in range(RUNS))


def reading(git: Git, count: int) -> None:
    folder = git.work_tree
    row("head", repeated(git.head), repeated(lambda: plain_git(folder, "rev-parse", "HEAD")))
    row(
        "log, all",
        repeated(git.log),
        repeated(lambda: plain_git(folder, "log", "--format=%H%P%ct%an%s%b")),
    )
    blobs = [f"HEAD:{path}" for path, _ in files(0, min(count, 1000))]
    row(
        f"{len(blobs)} old files (git: `show` of 20, scaled)",
        repeated(lambda: list(git.show_blobs(blobs))),
        milliseconds(lambda: show_each(folder, blobs[:20])) * len(blobs) / 20,
    )
    first, last = git.log()[-1].commit, git.log()[0].commit
    row(
        "difference of two commits",
        repeated(lambda: git.diff_tree(first, last)),
        repeated(lambda: plain_git(folder, "diff-tree", "-r", first, last)),
    )
    row(
        "tracked status",
        repeated(git.tracked_status),
        repeated(lambda: plain_git(folder, "status", "--porcelain", "-uno")),
    )
    text = b"".join(b"line %d\n" % n for n in range(100))
    row("renames among 10 + 10 files", repeated(lambda: rename_ten(text)))


def rename_ten(text: bytes) -> list[tuple[str, str]]:
    gone = {f"a/{n}": b"%d\n" % n * 20 + text for n in range(10)}
    return renames(gone, {f"b/{n}": content + b"more\n" for n, content in enumerate(gone.values())})


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        print(f"{'milliseconds':44}{'pcpfs':>10}{'git':>10}{'ratio':>9}")
        ours, plain = make(Path(name) / "ours"), make(Path(name) / "plain")
        bulk(ours, plain, count)
        singles(ours, plain, count, 1)
        singles(ours, plain, count, PAGE)
        reading(ours, count)


if __name__ == "__main__":
    main()
