"""Whatever the branches of a repository are: what is told of them is what git says, however it was
walked, and what holds is what it would be without them."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound
from pcpfs.model.answers import Pins
from pcpfs.model.ids import Digest
from pcpfs.sources.roots import HistoryWish
from pcpfs.store.branch_reading import text_on_branch
from pcpfs.store.branches import RootBranches
from tests.history.project import ALL, NOW, Project, at, facts, function
from tests.store.workplace import Workplace

BESIDE = HistoryWish(all_branches=True)
NAMES = ("a.py", "b.py", "c.py")
CONTENTS = (function("f", 1), function("f", 2) + function("g", 1), function("g", 1), None)
BRANCHES = ("main", "x", "y/ü$(z)", "orphan")
MOMENTS = st.integers(0, 3)
STEPS = st.one_of(
    st.tuples(
        st.just("commit"),
        st.sampled_from(BRANCHES),
        st.dictionaries(st.sampled_from(NAMES), st.sampled_from(CONTENTS), min_size=1, max_size=2),
        MOMENTS,
    ),
    st.tuples(st.just("amend"), st.sampled_from(BRANCHES), st.sampled_from(CONTENTS), MOMENTS),
    st.tuples(st.just("merge"), st.sampled_from(BRANCHES), st.sampled_from(BRANCHES), MOMENTS),
    st.tuples(st.just("reset"), st.sampled_from(BRANCHES), st.sampled_from(BRANCHES), MOMENTS),
    st.tuples(st.just("delete"), st.sampled_from(BRANCHES[1:]), st.just(""), MOMENTS),
    st.tuples(st.just("fetch"), st.sampled_from(BRANCHES), st.just(""), MOMENTS),
    st.tuples(st.just("sync"), st.just(""), st.just(""), MOMENTS),
)


def play(project: Project, step: tuple[str, str, object, int]) -> None:
    """One thing that somebody does; nothing where git would refuse."""
    what, branch, how, when = step
    if what == "fetch":
        project.git("update-ref", f"refs/remotes/origin/{branch}", "main")
        return
    if not has(project, branch):
        if branch == "orphan":
            project.git("checkout", "-q", "--orphan", branch)
            project.git("rm", "-rfq", "--ignore-unmatch", ".")
            project.commit({"a.py": CONTENTS[0]}, when)
        else:
            project.git("branch", branch, "main")
    if what == "delete":
        project.git("checkout", "-q", "main")
        project.git("branch", "-D", branch)
        return
    project.git("checkout", "-q", branch)
    if what == "commit" and isinstance(how, dict):
        project.commit(how, when)
    elif what == "amend" and (how is None or isinstance(how, str)):
        project.commit({"b.py": how}, when, "--amend")
    elif what == "merge" and has(project, str(how)):
        kind = ("-s", "ours", "--no-ff", "--allow-unrelated-histories")
        project.git("merge", "-q", "-m", "x", *kind, str(how), when=when)
        if when % 2:
            project.git("checkout", str(how), "--", ".")
            project.commit({}, when, "--amend")
    elif what == "reset" and has(project, str(how)):
        project.git("reset", "-q", "--hard", str(how))


def has(project: Project, branch: str) -> bool:
    return bool(project.git("branch", "--list", branch))


def told_by_git(project: Project) -> dict[str, set[tuple[str, str, bytes | None, bytes | None]]]:
    """Of each branch the commits beside the line, with what they did to which path."""
    line = set(project.git("rev-list", "--first-parent", "main").split())
    found = {}
    for ref in project.git("for-each-ref", "--format=%(refname)").splitlines():
        if ref == "refs/heads/main":
            continue
        told = found[ref] = set()
        for row in project.git("log", "--first-parent", "--format=%H %P", ref).splitlines():
            commit, *parents = row.split()
            if commit in line:
                break
            before = content(project, parents[0]) if parents else {}
            after = content(project, commit)
            for path in before.keys() | after.keys():
                pair = before.get(path), after.get(path)
                if pair[0] != pair[1]:
                    told.add((commit, path, *pair))
    return found


def content(project: Project, commit: str) -> dict[str, bytes]:
    names = project.git("ls-tree", "-r", "--name-only", commit).split()
    return {name: project.git("show", f"{commit}:{name}").encode() for name in names}


def told_by_store(
    place: Workplace,
) -> dict[str, set[tuple[str, str, Digest | None, Digest | None]]]:
    catalog = place.store.catalog
    (root,) = catalog.roots()
    branches = RootBranches.of(catalog, root.root_id)
    digests = dict(catalog.query("SELECT revision_id, digest FROM revision"))
    found = {}
    for ref in branches.branches.tips:
        commits = set(branches.commits(ref))
        found[ref] = {
            (
                row.commit_id,
                place.store.catalog.pages("page_id = ?", (row.page_id,))[0].path or "",
                digests.get(row.was_revision),
                digests.get(row.revision_id),
            )
            for row in catalog.besides("1")
            if row.commit_id in commits
        }
    return found


def held(place: Workplace) -> list[object]:
    """All that can be asked of what holds or held."""
    catalog = place.store.catalog
    spans = catalog.query(
        "SELECT path, ordinal, revision.digest, valid_from, valid_to, span.adapter, ended_by, "
        "commit_id, basis FROM span JOIN page USING (page_id) JOIN revision "
        "ON revision.revision_id = span.revision_id ORDER BY 1, 2"
    )
    documents = catalog.query(
        "SELECT path, past, count(*) FROM document JOIN page USING (page_id) GROUP BY 1, 2"
    )
    shown = [facts(place, Pins(as_of=at(moment))) for moment in (0, 1, 2, 3, 10**6)]
    scopes = [(view.scope, view.pages) for view in place.session.scopes()]
    return [spans, documents, *shown, facts(place), scopes]


@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate],  # each try costs seconds
)
@example(
    [
        ("commit", "x", {"a.py": CONTENTS[1], "c.py": CONTENTS[0]}, 1),
        ("sync", "", "", 0),
        ("commit", "y/ü$(z)", {"b.py": CONTENTS[0]}, 1),
        ("merge", "main", "x", 2),
        ("merge", "x", "y/ü$(z)", 1),
        ("sync", "", "", 0),
        ("reset", "main", "x", 0),
        ("amend", "y/ü$(z)", None, 3),
        ("sync", "", "", 0),
        ("commit", "orphan", {"c.py": CONTENTS[2]}, 0),
        ("fetch", "main", "", 0),
        ("amend", "main", CONTENTS[0], 1),
        ("sync", "", "", 0),
        ("delete", "x", "", 0),
    ]
)
@given(steps=st.lists(STEPS, min_size=2, max_size=10))
def test_branches_are_told_as_git_has_them_and_hold_nothing(
    empty_store: Path, tmp_path: Path, steps: list[tuple[str, str, object, int]]
) -> None:
    names = ("kept", "fresh", "plain")
    for name in ("app", *names):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    kept, fresh, plain = stores = [
        Workplace.at(shutil.copytree(empty_store, tmp_path / name)) for name in names
    ]
    try:
        project = Project(tmp_path / "app", kept)
        project.begin()
        project.commit({"a.py": CONTENTS[0]}, 0)
        project.add(BESIDE)
        project.add(ALL, plain)
        for step in [*steps, ("sync", "", "", 0)]:
            if step[0] == "sync":
                project.git("checkout", "-q", "main")
                project.sync()
                project.sync(place=plain)
            else:
                play(project, step)
        project.add(BESIDE, fresh)
        expected = {
            ref: {(c, p, was and Digest.of(was), now and Digest.of(now)) for c, p, was, now in rows}
            for ref, rows in told_by_git(project).items()
        }
        assert told_by_store(kept) == expected
        assert told_by_store(fresh) == expected
        for with_branches, without in zip(held(kept), held(plain), strict=True):
            assert with_branches == without
        for place in (kept, fresh):
            assert project.sync(place=place).history.beside == 0  # type: ignore[union-attr]
            for ref in (*expected, "main"):
                there = content(project, ref)
                for path in NAMES:
                    assert read(place, path, ref) == there.get(path), (ref, path)
    finally:
        for store in stores:
            store.close()


def read(place: Workplace, path: str, ref: str) -> bytes | None:
    try:
        return text_on_branch(place.session.reader(NOW), path, ref, NOW)
    except NotFound:
        return None
