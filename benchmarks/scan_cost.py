"""What a scan costs, step by step, beside `git status` and a bare walk of the same tree.

`python -m benchmarks.scan_cost [DIR]`; without a directory 5,000 small files are made. Times are
medians; the ratio to the bare walk (list and stat everything) holds on every machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import median_seconds
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.sources.plan import Known, plan
from pcpfs.sources.reading import read_stable
from pcpfs.sources.scan import scan, scan_paths
from pcpfs.sources.scanned import Candidate, Content, Gone, Scan, ScanOptions, Skipped
from pcpfs.sources.statcache import StatCache

FILES = 5_000
OPTIONS = ScanOptions()
RULES = "*.pyc\n__pycache__/\n/build/\n*.egg-info\n.tox\nnode_modules/\ndocs/_build/\n!keep.pyc\n"


def make_tree(root: Path) -> None:
    (root / ".gitignore").write_text(RULES)
    for number in range(FILES):
        path = root / f"package{number % 50}" / f"part{number % 7}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def function_{number}() -> int:\n    return {number}\n")


def read_all(root: Path, found: Scan) -> Scan:
    outcomes: dict[str, Candidate | Skipped | Gone] = {}
    for path in found.to_read:
        outcome = read_stable(root, path, OPTIONS.max_size)
        outcomes[path] = outcome.candidate if isinstance(outcome, Content) else outcome
    return found.settled(outcomes)


def bare_walk(root: Path) -> int:
    count = 0
    for directory, _, names in os.walk(root):
        for name in names:
            os.lstat(f"{directory}/{name}")
            count += 1
    return count


def git_status(root: Path, repository: Path) -> Callable[[], object]:
    """`git status` of the tree once git knows it; the repository lies elsewhere."""
    git = ["git", f"--git-dir={repository}", f"--work-tree={root}"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A", "."], check=True, cwd=root, stderr=subprocess.DEVNULL)
    status = [*git, "status", "--porcelain"]
    return lambda: subprocess.run(status, check=True, cwd=root, capture_output=True)


def measure(root: Path, scratch: Path) -> dict[str, float]:
    later = Instant(time.time_ns() // 1000 + 10_000_000)
    found = read_all(root, scan(root, OPTIONS, StatCache()))
    cache = StatCache().after(found, later)
    saved = cache.to_bytes()
    known = {
        file.path: Known(PageId.of_source("project:bench", "root", file.path), file.digest)
        for file in found.files
    }
    one = [found.files[len(found.files) // 2].path]
    steps: dict[str, Callable[[], object]] = {
        "bare walk": lambda: bare_walk(root),
        "git status": git_status(root, scratch / "repository"),
        "scan, empty cache": lambda: scan(root, OPTIONS, StatCache()),
        "scan and read all": lambda: read_all(root, scan(root, OPTIONS, StatCache())),
        "scan, warm cache": lambda: scan(root, OPTIONS, cache),
        "scan of one path": lambda: scan_paths(root, OPTIONS, cache, one),
        "load the cache": lambda: StatCache.from_bytes(saved),
        "renew the cache": lambda: cache.after(found, later),
        "save the cache": cache.to_bytes,
        "plan, nothing new": lambda: plan(known, found),
    }
    return {name: median_seconds(step, 7) for name, step in steps.items()}


def report(root: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        times = measure(root, Path(scratch))
    print(f"{bare_walk(root):,} files in {root}")
    for name, seconds in times.items():
        ratio = seconds / times["bare walk"]
        print(f"  {name:20} {seconds * 1000:8.1f} ms  {ratio:6.2f} × bare walk")


def main() -> None:
    if len(sys.argv) > 1:
        report(Path(sys.argv[1]).resolve())
        return
    with tempfile.TemporaryDirectory() as folder:
        make_tree(Path(folder))
        report(Path(folder))


if __name__ == "__main__":
    main()
