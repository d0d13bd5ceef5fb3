"""A store in which a page has left traces wherever it could, and nothing else has been left."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.merge.clones import run
from tests.store.workplace import Workplace

TITLE = "Harbour master key leak"
SECRET = "the combination is 4711-blue-heron-0815, and nobody must know"
TEXT = f"# {TITLE}\n{SECRET}\n"
AGAIN = f"# {TITLE}\n{SECRET}\nand the second one is 1848-red-stork-1871 of course\n"
OTHER = "# Tides\nHigh water comes fifty minutes later each day.\n"


@dataclass(frozen=True)
class Hideouts:
    """A store with a page that leaked, a page that has to stay, and a linked work tree."""

    place: Workplace
    leak: str
    other: str
    linked: Path

    def git(self, *arguments: str) -> str:
        return run(self.place.path, *arguments)


def furnished(place: Workplace) -> Hideouts:
    """All that a person and git do with a page before somebody sees that it is a leak."""
    path, git = place.path, place.path / ".git"
    other = place.write(OTHER, path="tides.md").page_id
    leak = place.write(TEXT, path="notes/key.md").page_id
    place.session.flush_indexes()
    run(path, "tag", "-a", "v1", "-m", f"before {TITLE} was known")
    run(path, "notes", "add", "-m", SECRET, "HEAD")
    run(path, "notes", "--ref=kept", "add", "-m", "looked at", "HEAD")
    run(path, "branch", "side")
    run(path, "update-ref", "refs/remotes/origin/main", "HEAD")
    run(path, "config", "remote.origin.url", "/nowhere/hub.git")
    linked = path.parent / "linked"
    run(path, "worktree", "add", "-q", str(linked), "side")
    place.revise(leak, AGAIN)
    place.write("# Boats\nA boat is no ship.\n", path="boats.md")
    run(path, "repack", "-a", "-d", "-q")
    run(path, "pack-refs", "--all")
    _by_hand(place)
    run(path, "commit-graph", "write", "--reachable", "--changed-paths")
    _leavings(git)
    place.session.search("combination")
    return Hideouts(place, str(leak), str(other), linked)


def _by_hand(place: Workplace) -> None:
    """A person's own commit that names it, an edit in the stash, and a commit thrown away."""
    path = place.path
    (path / "own.txt").write_text("mine\n")
    run(path, "add", "own.txt")
    run(path, "commit", "-q", "-m", f"about {TITLE}\n\nsee notes/key.md")
    (path / "own.txt").write_text("thrown away\n")
    run(path, "commit", "-q", "-am", "a commit that nobody needs")
    run(path, "reset", "-q", "--hard", "HEAD~1")
    place.tree_file("notes/key.md").write_text(AGAIN + "an edit that was put aside yesterday\n")
    (path / "own.txt").write_text("put aside\n")
    run(path, "stash", "-q")


def _leavings(git: Path) -> None:
    """Files that git and we leave behind."""
    for name in ("MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG"):
        (git / name).write_text(TITLE)
    (git / "FETCH_HEAD").write_text(f"{'0' * 40}\t\tbranch 'main' of {SECRET}\n")
    for folder, name in (("rr-cache/aa", "preimage"), ("lost-found/other", "bb")):
        (git / folder).mkdir(parents=True)
        (git / folder / name).write_text(TEXT)
    (git / "fast_import_crash_77").write_text(TEXT)
    (git / "objects" / "pack" / "tmp_pack_abc").write_bytes(TEXT.encode())
    (git / "pcpfs" / "damaged").mkdir()
    (git / "pcpfs" / "damaged" / "pack.pack").write_bytes(TEXT.encode())
    (git / "hooks").mkdir(exist_ok=True)
    (git / "hooks" / "pre-commit").write_text("#!/bin/sh\nexit 0\n")


def holds(folder: Path, *words: str) -> list[str]:
    """Files below a folder whose bytes, and git's objects whose contents, hold one of the words:
    what `grep` and `git cat-file` see, found without any code of ours."""
    found = []
    for path in sorted(folder.rglob("*")):
        raw = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        if any(word.encode() in raw or word in path.name for word in words):
            found.append(path.relative_to(folder).as_posix())
    if (folder / ".git").exists():
        listed = subprocess.run(
            ["git", "cat-file", "--batch-all-objects", "--batch"],
            cwd=folder, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"},
        ).stdout  # fmt: skip
        found += [f"git: {word}" for word in words if word.encode() in listed]
    return found
