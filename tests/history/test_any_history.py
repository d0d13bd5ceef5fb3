"""As of the time of any commit the store holds what a checkout of that commit gives."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pcpfs.git import CommitId
from pcpfs.git.walk import Moment
from pcpfs.model.answers import Pins
from pcpfs.sources.past_plan import clamped
from pcpfs.store.searches.source_map import source_map
from tests.history.project import NOW, Fact, Project, at, facts, function
from tests.store.workplace import Workplace

SECRET = "AWS_KEY = 'AKIA" + "QYLPMN5HFIQR7XYA'\n"
CONTENTS = st.sampled_from(
    [
        function("f", 1),
        function("f", 2) + "\n\n" + function("g", 1),
        function("g", 1),
        "# Title\n\ntext\n",
        "caf\u00e9\n".encode("latin-1"),
        b"\x00\x01binary",
        "-> a.py",
        SECRET,
        "x" * 700,
        "",
        None,
    ]
)
RULES = st.sampled_from(["*.md\n", "sub/\n", "!a.py\n*.py\n", None])
NAMES = st.sampled_from(["a.py", "b.md", "sub/c.py", "sub/deep/d.py", "sub"])
EDITS = st.dictionaries(NAMES, CONTENTS, min_size=1, max_size=3) | st.dictionaries(
    st.sampled_from([".gitignore", "sub/.pcpfsignore"]), RULES, min_size=1, max_size=2
)
COMMITS = st.lists(st.tuples(EDITS, st.integers(-50, 50)), min_size=1, max_size=6)
MOST = 600


def seen(place: Workplace, pins: Pins = NOW) -> tuple[set[Fact], str]:
    """All frames that hold, and the map."""
    return facts(place, pins), source_map(place.session, "app", pins=pins).text


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example([({"a.py": "-> sub"}, 1), ({"sub/c.py": function("f", 1)}, 5), ({"a.py": SECRET}, 3)])
@example([({"sub/c.py": function("f", 1)}, 1), ({"sub": function("f", 1)}, 9), ({"sub": None}, 9)])
@given(commits=COMMITS)
def test_each_commit_is_as_its_checkout(
    empty_store: Path, tmp_path: Path, commits: list[tuple[dict[str, str | bytes | None], int]]
) -> None:
    for name in ("app", "past", "now"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    stores = [Workplace.at(shutil.copytree(empty_store, tmp_path / n)) for n in ("past", "now")]
    past, now = stores
    try:
        project = Project(tmp_path / "app", now)
        project.begin()
        project.commit({}, 0)
        project.add(None, max_size=MOST)
        checkouts = [(0, seen(now))]
        for edits, when in commits:
            project.commit(edits, when)
            project.sync()
            checkouts.append((when, seen(now)))
        project.add(place=past, max_size=MOST)
        latest = 0
        for number, (when, checkout) in enumerate(checkouts):
            latest = max(latest, when)
            if number + 1 == len(checkouts) or checkouts[number + 1][0] > latest:
                assert seen(past, Pins(as_of=at(latest))) == checkout
        assert seen(past) == checkouts[-1][1]
    finally:
        for store in stores:
            store.close()


def test_a_clock_that_runs_backwards_never_goes_before_the_commit_it_follows() -> None:
    commit = CommitId("ab" * 20)
    times = [5, 3, 9, 9, -(10**15), 10**15]
    held = [moment.microseconds for moment in clamped(Moment(commit, t) for t in times)]
    assert held[:5] == [5_000_000, 5_000_000, 9_000_000, 9_000_000, 9_000_000]
    assert held == sorted(held)
