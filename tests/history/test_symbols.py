"""The life of a symbol, and how two of its texts differ."""

from __future__ import annotations

import pytest

from pcpfs.errors import NotFound
from pcpfs.model.answers import Pins
from pcpfs.model.symbol_answers import SymbolLife
from pcpfs.store.searches.symbol_life import differences, lives
from tests.history.project import Project, at, function, since


def told(project: Project, name: str, pins: Pins | None = None) -> list[list[tuple[object, ...]]]:
    """Event, second, name and path of each step of each life, oldest first."""
    pins = pins or Pins()
    found = lives(project.place.session.reader(pins), name, until=pins.as_of)
    return [
        [(s.event, since(s.at.microseconds), s.qualified_name, s.path) for s in life.steps[::-1]]
        for life in found
    ]


@pytest.fixture
def lived(project: Project) -> Project:
    """`f` is changed, moved with its file, moved to another file, renamed, and removed."""
    rest = "\n\n" + "".join(function(name, 1) for name in "abcde")
    project.commit({"one.py": function("f", 1) + rest}, 0)
    project.commit({"one.py": function("f", 2) + rest}, 10)
    project.commit({"one.py": None, "two.py": function("f", 2) + rest}, 20)
    project.commit({"two.py": rest, "three.py": function("f", 2)}, 30)
    project.commit({"three.py": function("g", 2)}, 40)
    project.commit({"three.py": "x = 1\n"}, 50)
    project.add()
    return project


LIFE = [
    ("opened", 0, "f", "one.py"),
    ("changed", 10, "f", "one.py"),
    ("moved", 20, "f", "two.py"),
    ("moved", 30, "f", "three.py"),
    ("renamed", 40, "g", "three.py"),
    ("closed", 50, "g", "three.py"),
]


@pytest.mark.parametrize("name", ["f", "g"])
def test_a_life_goes_through_moves_and_names_and_has_commits_and_authors(
    lived: Project, name: str
) -> None:
    assert told(lived, name) == [LIFE]
    (life,) = lives(lived.place.session.reader(Pins()), name)
    assert [step.commit for step in life.steps[::-1]] == lived.commits
    assert {step.author for step in life.steps} == {"Ada <ada@example.org>"}
    assert life.steps[1].was == "f in three.py"


@pytest.mark.parametrize("name", ["A.m", "A::m", "A.m()", " A::m() "])
def test_names_are_taken_as_people_write_them(project: Project, name: str) -> None:
    project.commit({"a.py": "class A:\n    def m(self): pass\n"}, 0)
    project.add()
    assert told(project, name) == [[("opened", 0, "A.m", "a.py")]]


def test_a_life_is_told_as_of_then(lived: Project) -> None:
    assert told(lived, "f", Pins(as_of=at(25))) == [LIFE[:3]]
    with pytest.raises(NotFound):
        told(lived, "f", Pins(as_of=at(-1)))
    with pytest.raises(NotFound):
        told(lived, "nobody")


def test_a_symbol_that_came_back_opens_again(project: Project) -> None:
    for when, text in enumerate((function("f", 1), "x = 1\n", function("f", 1))):
        project.commit({"a.py": text}, when)
    project.add()
    (steps,) = told(project, "f")
    assert [step[:2] for step in steps] == [("opened", 0), ("closed", 1), ("opened", 2)]


def test_a_namesake_in_its_file_is_nothing_that_happened_to_a_symbol(project: Project) -> None:
    project.commit({"a.py": function("f", 1)}, 0)
    project.commit({"a.py": function("f", 1) + function("f", 2)}, 10)
    project.commit({"a.py": function("f", 1)}, 20)
    project.add()
    first, second = told(project, "f")
    assert first == [("opened", 0, "f", "a.py")]
    assert second == [("opened", 10, "f", "a.py"), ("closed", 20, "f", "a.py")]


def test_copies_are_no_move(project: Project) -> None:
    project.commit({"a.py": function("f", 1)}, 0)
    project.commit({"a.py": "x = 1\n", "b.py": function("f", 1), "c.py": function("f", 1)}, 10)
    project.add()
    assert len(told(project, "f")) == 3


def test_without_a_history_there_are_no_commits(project: Project) -> None:
    project.commit({"a.py": function("f", 1)}, 0)
    project.add(None)
    (life,) = lives(project.place.session.reader(Pins()), "f")
    assert (life.steps[0].event, life.steps[0].commit) == ("opened", None)


def test_two_texts_of_a_symbol(lived: Project) -> None:
    reader = lived.place.session.reader(Pins())
    (last,) = differences(reader, "f")
    assert last.text.splitlines()[-3:] == ["-def f():", "+def g():", "     return 2"]
    (step,) = differences(reader, "f", until=at(15))
    assert step.text.splitlines()[-2:] == ["-    return 1", "+    return 2"]
    (long,) = differences(reader, "g", since=at(5))
    assert long.before is not None
    assert (long.before.path, long.after.path) == ("one.py", "three.py")
    assert _life_of(lived).qualified_name == "g"


def _life_of(project: Project) -> SymbolLife:
    (life,) = lives(project.place.session.reader(Pins()), "f")
    return life


def test_what_takes_the_place_of_what_moved_has_a_life_of_its_own(project: Project) -> None:
    project.commit({"a.py": function("f", 1)}, 0)
    project.commit({"a.py": None, "b.py": function("f", 1)}, 10)
    project.commit({"a.py": function("f", 2)}, 20)
    project.add()
    assert told(project, "f") == [
        [("opened", 0, "f", "a.py"), ("moved", 10, "f", "b.py")],
        [("opened", 20, "f", "a.py")],
    ]


def test_there_and_back_is_told_in_order(project: Project) -> None:
    project.commit({"a.py": function("f", 1)}, 0)
    project.commit({"a.py": None, "b.py": function("f", 1)}, 10)
    project.commit({"a.py": function("f", 1), "b.py": None}, 20)
    project.add()
    (steps,) = told(project, "f")
    assert [step[0::3] for step in steps] == [
        ("opened", "a.py"), ("moved", "b.py"), ("moved", "a.py")
    ]  # fmt: skip


def test_of_two_alike_neither_becomes_the_one_that_comes(project: Project) -> None:
    project.commit({"a.py": function("f", 1) + function("g", 1)}, 0)
    project.commit({"a.py": function("h", 1)}, 10)
    project.add()
    assert [[step[0] for step in steps] for name in "fgh" for steps in told(project, name)] == [
        ["opened", "closed"], ["opened", "closed"], ["opened"]
    ]  # fmt: skip
