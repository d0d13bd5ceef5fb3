"""Clones of one store, and the ways in which their histories meet."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcpfs.model.answers import plain
from pcpfs.model.changes import Named
from pcpfs.model.ids import PageId
from pcpfs.model.names import Namespace
from pcpfs.store.merges.remote import pull
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.fsck import fsck
from tests.ports import CountingEntropy, SteppingClock
from tests.store.workplace import ANNA, START, Workplace, contents, truth

GIT = ("git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "core.editor=true")


def run(folder: Path, *arguments: str, fails: bool = False) -> str:
    """Plain git, as a person has it; with `fails` it may stop, as at a conflict."""
    done = subprocess.run(
        [*GIT, *arguments], cwd=folder, capture_output=True, check=False, text=True
    )
    assert fails or done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(slots=True)
class Clone(Workplace):
    """A clone of the store, open in a process of its own."""

    def plain(self, *arguments: str, fails: bool = False) -> str:
        """The person's git, in a clone that knows nothing of us; the store is closed meanwhile."""
        self.close()
        forget_us(self.path)
        try:
            return run(self.path, *arguments, fails=fails)
        finally:
            self.open()

    def open(self) -> None:
        self.store = Store.open(self.path, clock=self.clock, entropy=CountingEntropy())
        self.session = Session(self.store, ANNA)
        self.session.scopes()

    def rename(self, page: str, path: str) -> None:
        """A `named` change, as a moved file of `tree/` becomes."""
        row = self.store.catalog.page(page)
        assert row is not None
        with self.store.writing("name", ANNA) as transaction:
            transaction.change(Namespace(row.scope), PageId(page), Named(path))
            transaction.commit(f"name: {path}", [("Pcpfs-Operation", "name")])

    def state(self) -> Any:
        """All that a person can see of the store, without what only this clone knows."""
        session = self.session
        session.scopes()
        pages = [row.page_id for row in self.store.catalog.pages()]
        found = [session.manifest(page) for page in pages]
        about = [[session.relations(page), session.log(page)] for page in pages]
        words = [session.search(word, limit=50) for word in ("text", "line", "one")]
        names = ("manifests", "about", "words", "conflicts", "scopes")
        values = (found, about, words, session.conflicts(), session.scopes())
        return plain(dict(zip(names, values, strict=True)))

    def all_trees(self) -> dict[str, bytes]:
        found = contents(self.path / "scopes")
        return {name: raw for name, raw in found.items() if "/tree/" in name}

    def truth(self) -> dict[str, bytes]:
        return dict(truth(self.path))

    def status(self) -> str:
        return run(self.path, "status", "--porcelain", "-uall")


def forget_us(path: Path) -> None:
    """As a fresh clone: no driver, no attributes of ours besides the committed ones."""
    (path / ".git" / "info" / "attributes").unlink(missing_ok=True)
    run(path, "config", "--remove-section", "merge.pcpfs", fails=True)
    run(path, "config", "--unset", "merge.directoryRenames", fails=True)


class Family:
    """A bare repository in the middle, and clones around it."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.folder = folder
        self.hub = folder / "hub.git"
        self.clones: list[Clone] = []
        first = folder / "a"
        shutil.copytree(template, first)
        run(folder, "clone", "--quiet", "--bare", str(first), str(self.hub))
        run(first, "remote", "add", "origin", str(self.hub))
        run(first, "fetch", "--quiet", "origin")
        run(first, "branch", "--quiet", "--set-upstream-to=origin/main", "main")
        self._add(first)

    def clone(self) -> Clone:
        """One more, of what the hub holds."""
        path = self.folder / "abcdefgh"[len(self.clones)]
        run(self.folder, "clone", "--quiet", str(self.hub), str(path))
        return self._add(path)

    def _add(self, path: Path) -> Clone:
        clock = SteppingClock(START)
        clock.time = type(START)(START.microseconds + 7_000 * len(self.clones))
        store = Store.open(path, clock=clock, entropy=CountingEntropy())
        clone = Clone(path, clock, store, Session(store, ANNA))
        self.clones.append(clone)
        return clone

    def close(self) -> None:
        for clone in self.clones:
            clone.close()


def push(clone: Clone) -> None:
    run(clone.path, "push", "--quiet", "origin", "main")


def plain_pull(clone: Clone) -> None:
    """`git pull` in a clone without a driver; it may stop at a conflict."""
    clone.plain("pull", "--quiet", "--no-rebase", "--no-edit", fails=True)


def driven_pull(clone: Clone) -> None:
    """`git pull` in a clone that has seen a command of ours."""
    clone.close()
    run(clone.path, "pull", "--quiet", "--no-rebase", "--no-edit", fails=True)
    clone.open()


def text_merges(clone: Clone) -> None:
    """A clone of somebody whose git merges everything as text."""
    forget_us(clone.path)
    info = clone.path / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* merge\n")


def pulled_as_text(clone: Clone, how: str = "--no-rebase") -> None:
    clone.close()
    text_merges(clone)
    run(clone.path, "pull", "--quiet", how, "--no-edit", fails=True)
    clone.open()


def rebased_as_text(clone: Clone) -> None:
    pulled_as_text(clone, "--rebase")


def rebase_pull(clone: Clone) -> None:
    clone.plain("pull", "--quiet", "--rebase", fails=True)


def web_merge(clone: Clone) -> None:
    """A merge on a host that heeds no attributes, by a button: the clone's branch into main. What
    the host cannot merge it refuses; then the person merges at home."""
    clone.close()
    run(clone.path, "push", "--quiet", "--force", "origin", "main:proposal")
    host = clone.path.parent / "host"
    shutil.rmtree(host, ignore_errors=True)
    run(clone.path.parent, "clone", "--quiet", str(clone.path.parent / "hub.git"), str(host))
    (host / ".git" / "info" / "attributes").write_text("* merge\n")
    run(host, "merge", "--quiet", "--no-ff", "-m", "Merge", "origin/proposal", fails=True)
    if not run(host, "ls-files", "-u"):
        run(host, "push", "--quiet", "origin", "main")
    clone.open()
    plain_pull(clone)


def our_pull(clone: Clone) -> None:
    pull(clone.store, ANNA)


WAYS: dict[str, Callable[[Clone], None]] = {
    "plain": plain_pull,
    "driven": driven_pull,
    "web": web_merge,
    "rebase": rebase_pull,
    "ours": our_pull,
}


def agree(clones: Sequence[Clone], way: Callable[[Clone], None]) -> None:
    """Bring all clones together: each takes what is there and gives what it has, until nobody has
    news."""
    for _ in range(4):
        heads = {run(c.path, "rev-parse", "HEAD") for c in clones}
        if len(heads) == 1:
            break
        for clone in clones:
            way(clone)
            push(clone)
    assert len({run(c.path, "rev-parse", "HEAD") for c in clones}) == 1


def check_all_alike(clones: Sequence[Clone]) -> None:
    first = clones[0]
    wanted = first.state()
    for clone in clones:
        assert clone.status() == ""
        assert clone.truth() == first.truth()
        assert clone.all_trees() == first.all_trees()
        for name, value in clone.state().items():
            assert value == wanted[name], name
        assert fsck(clone.store).problems == ()
        assert not os.path.exists(clone.path / ".git" / "MERGE_HEAD")
