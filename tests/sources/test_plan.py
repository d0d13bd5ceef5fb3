"""From what is known and what a scan found to what has to change."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.ids import Digest, PageId
from pcpfs.sources.plan import Close, Known, Novelty, Plan, plan
from pcpfs.sources.scanned import Candidate, Prefixes, Reason, Scan, Skipped, Stat

STAT = Stat(1, 1, 1, 1)


def digest(text: str) -> Digest:
    return Digest.of(text.encode())


def page(path: str) -> PageId:
    return PageId.of_source("project:x", "root", path)


def known(**pages: str | None) -> dict[str, Known]:
    return _known({name.replace("_", "/"): text for name, text in pages.items()})


def _known(pages: Mapping[str, str | None]) -> dict[str, Known]:
    return {
        path: Known(page(path), None if text is None else digest(text))
        for path, text in pages.items()
    }


def found(files: Mapping[str, str], *skipped: Skipped, covered: tuple[str, ...] = ("",)) -> Scan:
    candidates = [Candidate(path, STAT, digest(text)) for path, text in sorted(files.items())]
    return Scan(tuple(candidates), skipped, covered)


def observed(made: Plan) -> dict[str, tuple[Novelty, str | None]]:
    return {o.file.path: (o.novelty, o.moved_from) for o in made.observe}


def closed(made: Plan) -> dict[str, tuple[str, str | None]]:
    return {c.path: (c.reason, c.moved_to) for c in made.close}


def test_equal_bytes_change_nothing() -> None:
    made = plan(known(a="x"), found({"a": "x"}))
    assert not made
    assert made.unchanged == ("a",)


def test_new_changed_and_restored_files_are_observed() -> None:
    made = plan(
        known(changed="x", restored=None), found({"new": "1", "changed": "2", "restored": "3"})
    )
    assert observed(made) == {
        "changed": (Novelty.CHANGED, None),
        "new": (Novelty.NEW, None),
        "restored": (Novelty.RESTORED, None),
    }
    assert not made.close


def test_a_vanished_file_is_closed_once() -> None:
    assert plan(known(a="x"), found({})).close == (Close("a", page("a"), "gone"),)
    assert not plan(known(a=None), found({}))


@pytest.mark.parametrize("reason", sorted(set(Reason) - {Reason.UNREADABLE}))
def test_a_file_that_is_left_out_now_is_closed_with_that_reason(reason: Reason) -> None:
    made = plan(known(a_b="x", c="y"), found({}, Skipped("a", reason), Skipped("c", reason)))
    assert closed(made) == {"a/b": (reason.value, None), "c": (reason.value, None)}


def test_nothing_below_what_is_unreadable_is_touched() -> None:
    unreadable = Skipped("a", Reason.UNREADABLE, directory=True)
    made = plan(known(a_b="x", a_c=None, ab="y", a="z"), found({}, unreadable))
    assert closed(made) == {"ab": ("gone", None)}
    assert made.unseen == ("a", "a/b", "a/c")


def test_an_unreadable_root_leaves_all_as_it_is() -> None:
    made = plan(known(a="x", b_c="y"), found({}, Skipped("", Reason.UNREADABLE, directory=True)))
    assert not made
    assert made.unseen == ("a", "b/c")


def test_only_what_was_looked_at_is_judged() -> None:
    made = plan(known(a="x", b_c="y", d="z"), found({"a": "x2"}, covered=("a", "b")))
    assert list(observed(made)) == ["a"]
    assert closed(made) == {"b/c": ("gone", None)}
    assert not plan(known(a="x"), found({}, covered=()))


def test_a_vanished_path_and_a_new_one_with_equal_bytes_are_a_move() -> None:
    made = plan(known(old="x"), found({"new": "x"}))
    assert closed(made) == {"old": ("moved", "new")}
    assert observed(made) == {"new": (Novelty.NEW, "old")}


def test_a_move_back_goes_to_the_page_that_was_there() -> None:
    made = plan(known(a=None, b="x"), found({"a": "x"}))
    assert closed(made) == {"b": ("moved", "a")}
    assert observed(made) == {"a": (Novelty.RESTORED, "b")}


def test_a_copy_is_no_move() -> None:
    assert observed(plan(known(a="x"), found({"a": "x", "b": "x"}))) == {"b": (Novelty.NEW, None)}


@pytest.mark.parametrize(
    ("before", "after", "moves"),
    [
        (["a/f", "b/g"], ["c/f"], {"a/f": "c/f"}),
        (["a/f"], ["c/f", "c/g"], {"a/f": "c/f"}),
        (["a/f", "b/f"], ["c/f"], {}),
        (["a/f"], ["c/f", "d/f"], {}),
        (["a/f", "b/g"], ["c/h"], {}),
        (["a/f", "b/g"], ["c/f", "d/h"], {"a/f": "c/f", "b/g": "d/h"}),
        (["p/a/f", "p/b/f"], ["q/a/f", "q/b/f"], {"p/a/f": "q/a/f", "p/b/f": "q/b/f"}),
        (["f"], ["a/b/c/f"], {"f": "a/b/c/f"}),
    ],
)
def test_equal_files_are_paired_only_where_there_is_no_doubt(
    before: list[str], after: list[str], moves: dict[str, str]
) -> None:
    made = plan(_known(dict.fromkeys(before, "x")), found(dict.fromkeys(after, "x")))
    assert {c.path: c.moved_to for c in made.close if c.moved_to} == moves
    assert {o.moved_from: o.file.path for o in made.observe if o.moved_from} == moves


def test_empty_files_are_moved_only_under_the_same_name() -> None:
    assert closed(plan(known(a_x=""), found({"b/x": ""}))) == {"a/x": ("moved", "b/x")}
    assert closed(plan(known(a_x=""), found({"b/y": ""}))) == {"a/x": ("gone", None)}


def test_git_says_what_equal_bytes_do_not() -> None:
    renames = {"old": "new", "still": "other", "b": "new", "equal": "new"}
    before = known(old="x", still="y", equal="z")
    after = found({"new": "x2", "still": "y", "other": "y2", "same": "z"})
    made = plan(before, after, renames)
    assert closed(made) == {"old": ("moved", "new"), "equal": ("moved", "same")}


def test_what_is_left_out_or_unreadable_was_not_moved() -> None:
    ignored, unreadable = Skipped("a", Reason.IGNORED), Skipped("b", Reason.UNREADABLE)
    made = plan(known(a="x", b="y"), found({"c": "x", "d": "y"}, ignored, unreadable))
    assert closed(made) == {"a": ("ignored", None)}
    assert observed(made) == {"c": (Novelty.NEW, None), "d": (Novelty.NEW, None)}


def test_a_scan_that_was_not_read_makes_no_plan() -> None:
    with pytest.raises(ValueError, match="'a' has to be read"):
        plan({}, Scan((Candidate("a", STAT, None),), ()))


NAMES = st.sampled_from(["a", "a/b", "a/c", "d", "d/b", "e/f/b"])
TEXTS = st.sampled_from(["", "x", "y"])


@given(
    st.dictionaries(NAMES, st.none() | TEXTS),
    st.dictionaries(NAMES, TEXTS),
    st.lists(NAMES, max_size=2, unique=True),
    st.dictionaries(NAMES, NAMES, max_size=2),
)
def test_carrying_out_a_plan_leaves_nothing_to_do(
    before: dict[str, str | None],
    after: dict[str, str],
    unreadable: list[str],
    renames: dict[str, str],
) -> None:
    dark = Prefixes(unreadable)
    scan = found(
        {path: text for path, text in after.items() if path not in dark},
        *(Skipped(path, Reason.UNREADABLE) for path in sorted(unreadable)),
    )
    pages = _known(before)
    made = plan(pages, scan, renames)
    then = pages | {o.file.path: Known(page(o.file.path), o.file.digest) for o in made.observe}
    then |= {c.path: Known(c.page, None) for c in made.close}
    assert not plan(then, scan, renames)
    assert {o.file.path for o in made.observe}.isdisjoint(c.path for c in made.close)
    assert all(then[path] == pages[path] for path in pages if path in dark)
    targets = [c.moved_to for c in made.close if c.moved_to]
    assert len(targets) == len(set(targets))
    assert {c.moved_to: c.path for c in made.close if c.moved_to} == {
        o.file.path: o.moved_from for o in made.observe if o.moved_from
    }
