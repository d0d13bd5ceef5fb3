"""A file that was first seen after the root's first scan: since when it is true, and what of that a
commit takes away."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pcpfs.errors import NotFound
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from pcpfs.sources.service import Sources
from tests.history.project import ALL, START, Project, function, line, since, texts
from tests.store.workplace import ANNA

ONE, TWO = function("f", 1), function("f", 2)
LATE = 1_000_000_000.0
"""Seconds after the start, behind every look of a test."""


@pytest.fixture
def looked(project: Project) -> Project:
    """One commit, of which the file was looked at."""
    project.commit({"a.py": ONE}, 0)
    project.add(None)
    return project


def modified(project: Project, path: str, text: str | bytes, when: float) -> None:
    project.lay({path: text})
    os.utime(project.path / path, (START + when, START + when))


def now(project: Project) -> float:
    return since(project.place.clock.time.microseconds)


def test_a_later_commit_of_its_bytes_does_not_take_its_time(looked: Project) -> None:
    looked.lay({"new.py": TWO})
    looked.sync()
    ((seen, until, basis),) = line(looked.place, "new.py")
    assert (until, basis) == (None, "seen")
    looked.commit({}, LATE)
    looked.sync(ALL)
    assert line(looked.place, "new.py")[0] == (seen, LATE, "seen")
    assert texts(looked.place, "new.py", [seen, LATE]) == [TWO, TWO]


@pytest.mark.parametrize("how", ["sync", "watch"])
def test_it_was_not_there_when_a_scan_found_nothing(looked: Project, how: str) -> None:
    looked.sync()
    scanned = now(looked)
    modified(looked, "old.py", TWO, 5)
    modified(looked, "later.py", TWO, scanned + 100)
    looked.place.clock.time = Instant(looked.place.clock.time.microseconds + 200_000_000)
    with Sources(looked.place.store, ANNA) as sources:
        if how == "watch":
            sources.look(sources.roots.all()[0], ["old.py", "later.py"])
        else:
            sources.sync()
    ((seen, _, basis),) = line(looked.place, "old.py")
    assert seen > scanned + 200
    assert basis == "seen"
    assert line(looked.place, "later.py") == [(scanned + 100, None, "mtime")]
    with pytest.raises(NotFound):
        looked.place.session.payload("old.py", Pins(as_of=Instant((START + 10) * 1_000_000)))


def test_a_partial_look_at_other_files_is_no_scan(looked: Project) -> None:
    """Nothing was learned of where nobody looked."""
    scanned = now(looked)
    looked.place.clock.time = Instant(looked.place.clock.time.microseconds + 200_000_000)
    modified(looked, "new.py", TWO, scanned + 100)
    with Sources(looked.place.store, ANNA) as sources:
        sources.look(sources.roots.all()[0], ["a.py"])
    looked.sync()
    assert line(looked.place, "new.py") == [(scanned + 100, None, "mtime")]


RULES = {".pcpfsignore": "in/\n"}


@pytest.mark.parametrize(
    ("path", "content", "before", "after"),
    [
        ("in/b.py", TWO, {"files": RULES}, {"files": {".pcpfsignore": None}}),
        ("b.py", TWO, {"include": ("a.py",)}, {"include": ("*.py",)}),
        ("b.py", "# " + "x" * 700, {"max_size": 600}, {"max_size": 6000}),
    ],
)
def test_what_was_left_out_may_have_been_there_all_the_time(
    project: Project, path: str, content: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    modified(project, path, content, 5)
    for how in (before, after):
        project.lay(how.pop("files", {}))
        project.add(None, **how)
    assert line(project.place, path) == [(5, None, "first")]


def test_what_was_a_binary_file_at_the_last_look_was_no_text_then(looked: Project) -> None:
    modified(looked, "b.dat", b"\0\1", 5)
    looked.sync()
    scanned = now(looked)
    modified(looked, "b.dat", "text\n", 10)
    looked.sync()
    ((seen, _, basis),) = line(looked.place, "b.dat")
    assert seen > scanned
    assert basis == "seen"


def test_a_file_that_comes_back_was_away_when_a_scan_found_nothing(looked: Project) -> None:
    looked.lay({"a.py": None})
    looked.sync()
    closed = now(looked)
    looked.place.clock.time = Instant(looked.place.clock.time.microseconds + 200_000_000)
    looked.sync()
    scanned = now(looked)
    modified(looked, "a.py", TWO, closed + 100)
    looked.sync()
    assert line(looked.place, "a.py")[-1][0] > scanned


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("when", [5, 15])
def test_a_file_at_a_path_that_a_commit_deleted_is_there(
    project: Project, at_once: bool, when: float
) -> None:
    project.commit({"a.py": ONE}, 0)
    project.commit({"a.py": None}, 10)
    modified(project, "a.py", TWO, when)
    project.add(ALL if at_once else None)
    if not at_once:
        project.sync(ALL)
    assert project.place.session.payload("a.py").decode() == TWO
    spans = line(project.place, "a.py")
    assert spans[0] == (0, min(when, 10) if not at_once else 10, "commit")
    if when > 10:
        assert spans[1:] == [(when, None, "first")]
    with pytest.raises(NotFound):
        texts(project.place, "a.py", [12])
