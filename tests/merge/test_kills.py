"""A merge whose conclusion is killed at any moment is concluded by the next command."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pcpfs.store.merges.remote import pull
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.merge.clones import Clone, Family, forget_us, push, run
from tests.ports import CountingEntropy, SteppingClock
from tests.store.workplace import ANNA, START

MOMENTS = ("os.rename", "os.remove", "os.mkdir", "subprocess.Popen")
STEP = 23

Command = Callable[[Path], None]


def open_it(path: Path) -> None:
    opened(path).close()


def pull_it(path: Path) -> None:
    clone = opened(path)
    pull(clone.store, ANNA)
    clone.close()


def opened(path: Path) -> Clone:
    clock = SteppingClock(START)
    store = Store.open(path, clock=clock, entropy=CountingEntropy())
    clone = Clone(path, clock, store, Session(store, ANNA))
    clone.session.scopes()
    return clone


def killed_at(moment: int, command: Command, path: Path) -> bool:
    """Run a command in a process that kills itself at the n-th of its moments; False if it got to
    its end before."""
    child = os.fork()
    if child == 0:
        seen = 0

        def watch(event: str, _: tuple[Any, ...]) -> None:
            nonlocal seen
            if event in MOMENTS:
                seen += 1
                if seen == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        code = 1
        try:
            command(path)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def two_sides(family: Family) -> tuple[Clone, Clone]:
    one = family.clones[0]
    pages = [one.write(f"line one\nline two\ntext {n}\n", path=f"{n}.md") for n in range(3)]
    push(one)
    other = family.clone()
    one.revise(pages[0].page_id, "line one, one says\nline two\ntext 0\n")
    one.rename(pages[1].page_id, "moved.md")
    one.write("line one\nof one\n", path="same.md")
    other.revise(pages[0].page_id, "line one, other says\nline two\ntext 0\n")
    other.revise(pages[1].page_id, "line one\nline two, other says\ntext 1\n")
    other.write("line one\nof other\n", path="same.md")
    push(one)
    return one, other


def stopped(other: Clone, *arguments: str) -> None:
    other.close()
    forget_us(other.path)
    run(other.path, "pull", "--quiet", *arguments, fails=True)
    assert run(other.path, "ls-files", "-u")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [(("--no-rebase", "--no-edit"), open_it), (("--rebase",), open_it), ((), pull_it)],
    ids=["merge", "rebase", "pull"],
)
def test_a_kill_at_any_moment_is_recovered(
    family: Family, tmp_path: Path, arguments: tuple[str, ...], command: Command
) -> None:
    _, other = two_sides(family)
    if arguments:
        stopped(other, *arguments)
    else:
        other.close()
    template = tmp_path / "template"
    shutil.copytree(other.path, template)
    command(other.path)
    wanted = opened(other.path)
    state, trees, truth = wanted.state(), wanted.all_trees(), wanted.truth()
    wanted.close()
    moment, was_killed = 1, True
    while was_killed:
        path = tmp_path / f"killed-{moment}"
        shutil.copytree(template, path)
        was_killed = killed_at(moment, command, path)
        command(path)
        again = opened(path)
        assert (moment, again.truth()) == (moment, truth)
        assert (moment, again.all_trees()) == (moment, trees)
        assert (moment, again.status()) == (moment, "")
        assert again.state() == state, moment
        again.close()
        assert not (path / ".git" / "MERGE_HEAD").exists()
        assert not (path / ".git" / "rebase-merge").exists()
        shutil.rmtree(path)
        moment += STEP
    assert moment > 3 * STEP
    other.open()
