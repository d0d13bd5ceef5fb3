"""The fold of what a source's history says, beside what was seen in its files."""

from __future__ import annotations

import pytest

from pcpfs.model.changes import Closed, Observed, Retracted
from pcpfs.model.ids import RevisionId

from .folding import History, at, rev, seconds

A, B, C = map(rev, "ABC")


def commit(name: str, when: float, revision: RevisionId) -> Observed:
    return Observed(revision, at(when), "commit", "text-1", name, "Ada <ada@example.org>")


def told(history: History) -> list[tuple[RevisionId, float | None, float | None]]:
    return [
        (o.revision, seconds(o.valid_from), seconds(o.valid_to)) for o in history.fold().timeline
    ]


@pytest.mark.parametrize("history_first", [True, False])
def test_a_first_scan_of_bytes_that_a_commit_has_is_dropped(history_first: bool) -> None:
    history = History()
    events = [
        (Observed(B, at(90), "first", "text-1"),),
        (commit("c1", 5, A), commit("c2", 9, B)),
    ]
    for when, some in enumerate(reversed(events) if history_first else events):
        history.add(100 + when, *some)
    assert told(history) == [(A, 5, 9), (B, 9, None)]
    assert [o.commit for o in history.fold().timeline] == ["c1", "c2"]


def test_a_first_scan_of_other_bytes_moves_behind_what_was_committed_by_then() -> None:
    history = History()
    history.add(100, Observed(C, at(3), "first", "text-1"))
    history.add(300, commit("c1", 5, A), commit("c2", 200, B))
    assert told(history) == [(A, 5, 5), (C, 5, 200), (B, 200, None)]


def test_a_retracted_commit_no_longer_counts_until_it_is_recorded_again() -> None:
    history = History()
    history.add(100, commit("c1", 5, A), commit("c2", 9, B))
    history.add(101, Retracted(commits=("c2",)), commit("c3", 10, C))
    assert told(history) == [(A, 5, 10), (C, 10, None)]
    history.add(102, Retracted(commits=("c3",)), commit("c2", 9, B))
    assert told(history) == [(A, 5, 9), (B, 9, None)]


def test_what_was_only_in_retracted_commits_is_kept_over_no_time() -> None:
    history = History()
    history.add(100, commit("c1", 5, A), commit("c2", 9, B))
    history.add(101, Retracted(commits=("c1", "c2")))
    assert history.fold().is_source
    assert told(history) == [(B, 9, 9)]
    history.add(102, commit("c3", 7, A))
    assert told(history) == [(A, 7, None)]


def test_a_retracted_removal_no_longer_closes() -> None:
    history = History()
    gone = Closed(A, at(9), "gone", commit="c2", author="Ada <ada@example.org>")
    history.add(100, commit("c1", 5, A), gone)
    (only,) = history.fold().timeline
    assert (only.end_commit, seconds(only.valid_to)) == ("c2", 9)
    history.add(101, Retracted(commits=("c2",)))
    assert told(history) == [(A, 5, None)]


def test_commits_of_one_instant_hold_in_their_order() -> None:
    history = History()
    history.add(100, *(commit(f"c{n}", 5, r) for n, r in enumerate((A, B, C))))
    assert told(history) == [(A, 5, 5), (B, 5, 5), (C, 5, None)]
