"""A project with a branch beside its line, and what is told of it."""

from __future__ import annotations

from pcpfs.model.answers import Pins
from pcpfs.model.symbol_answers import SymbolStep
from pcpfs.sources.roots import HistoryWish
from pcpfs.store.branch_reading import text_on_branch
from pcpfs.store.searches.symbol_life import lives
from tests.history.project import NOW, Project, function

ALL = HistoryWish(all_branches=True)
ODD = 'feature/ü"$(x)'


def fork(project: Project) -> Project:
    """Two commits on the line, the second of which a branch does not have; on the branch a change,
    a new file, and then another name for the first one."""
    project.commit({"a.py": function("f", 1) + function("g", 1)}, 0)
    project.git("checkout", "-q", "-b", ODD)
    project.commit({"a.py": function("f", 2) + function("g", 1), "only.py": function("h", 1)}, 5)
    project.git("mv", "a.py", "b.py")
    project.commit({}, 6)
    project.git("checkout", "-q", "main")
    project.commit({"a.py": function("f", 3) + function("g", 1)}, 8)
    return project


def life(project: Project, name: str, **how: object) -> list[tuple[str, float, str, object]]:
    """What happened to a symbol, the last thing first: when, in which file, on which branches."""
    (found,) = lives(project.place.session.reader(NOW), name, **how)  # type: ignore[arg-type]
    return [(s.event, s.at.microseconds / 1e6 - 1.7e9, s.path, s.branches) for s in found.steps]


def text(project: Project, path: str, branch: str, pins: Pins = NOW) -> str:
    return text_on_branch(project.place.session.reader(pins), path, branch, pins).decode()


def steps(project: Project, name: str) -> tuple[SymbolStep, ...]:
    return lives(project.place.session.reader(NOW), name)[0].steps
