"""Valid time, derived: the runs of frames and the spans of authored revisions (DESIGN §2)."""

from __future__ import annotations

from collections.abc import Mapping

from pcpfs.model.changes import (
    RevisionWritten,
)
from pcpfs.model.ids import Digest
from pcpfs.store.folding.fold import authored_spans
from pcpfs.store.folding.timeline import runs
from tests.store.folding import (
    History,
    at,
    closed,
    envelope,
    frame,
    rev,
    saw,
    seconds,
)

A, B, C = map(rev, "abc")
Frames = Mapping[str, str]


def spans(history: History, texts: Mapping[str, Frames]) -> dict[str, list[tuple[object, ...]]]:
    """The runs of each named frame: digest text, start, end."""
    named = {frame(name): name for frames in texts.values() for name in frames}
    by_revision = {
        rev(text): {frame(n): Digest.of(d.encode()) for n, d in frames.items()}
        for text, frames in texts.items()
    }
    words = {Digest.of(d.encode()): d for frames in texts.values() for d in frames.values()}
    found: dict[str, list[tuple[object, ...]]] = {}
    for run in runs(history.fold().timeline, lambda o: by_revision[o.revision]):
        shown = (words[run.digest], seconds(run.valid_from), seconds(run.valid_to))
        found.setdefault(named[run.frame], []).append(shown)
    return found


class TestRuns:
    def test_an_unchanged_function_stays_open_while_its_file_changes(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, saw("b", 5))
        history.add(3, saw("c", 9))
        texts = {"a": {"f": "1", "g": "x"}, "b": {"f": "1", "g": "y"}, "c": {"f": "1", "g": "y"}}
        assert spans(history, texts) == {
            "f": [("1", 1, None)],
            "g": [("x", 1, 5), ("y", 5, None)],
        }

    def test_a_frame_that_vanishes_closes_and_one_that_comes_opens(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, saw("b", 5))
        assert spans(history, {"a": {"f": "1"}, "b": {"g": "1"}}) == {
            "f": [("1", 1, 5)],
            "g": [("1", 5, None)],
        }

    def test_a_revert_opens_a_new_run_of_the_old_digest(self) -> None:
        history = History()
        for when, text in ((1, "a"), (5, "b"), (9, "a")):
            history.add(when, saw(text, when))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "2"}}) == {
            "f": [("1", 1, 5), ("2", 5, 9), ("1", 9, None)]
        }

    def test_back_filling_moves_the_start_of_a_run_back(self) -> None:
        history = History()
        history.add(1, saw("b", 50))
        history.add(2, saw("a", 10))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "1"}}) == {"f": [("1", 10, None)]}

    def test_a_gap_ends_a_run_and_healing_opens_a_new_one(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 5))
        history.add(3, saw("a", 9))
        assert spans(history, {"a": {"f": "1"}}) == {"f": [("1", 1, 5), ("1", 9, None)]}

    def test_bytes_that_were_back_at_once_never_left(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 5))
        history.add(3, saw("a", 5))
        assert spans(history, {"a": {"f": "1"}}) == {"f": [("1", 1, None)]}

    def test_a_close_of_some_frames_leaves_the_others_open(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 5, "f"))
        history.add(3, closed("a", 4, "f"))
        history.add(4, closed("a", 99, "h"))
        texts = {"a": {"f": "1", "g": "1", "h": "1"}}
        assert spans(history, texts) == {
            "f": [("1", 1, 4)],
            "g": [("1", 1, None)],
            "h": [("1", 1, 99)],
        }

    def test_a_frame_that_was_closed_alone_comes_back_with_the_next_observation(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 4, "f"))
        history.add(3, saw("b", 9))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "1"}}) == {
            "f": [("1", 1, 4), ("1", 9, None)]
        }

    def test_an_observation_that_held_for_no_time_contains_nothing(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, saw("b", 5), saw("a", 5))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "2"}}) == {"f": [("1", 1, None)]}

    def test_a_run_knows_the_observations_at_its_ends(self) -> None:
        history = History()
        for when in (1, 5, 9):
            history.add(when, saw(str(when), when))
        seen = history.fold().timeline
        (run,) = runs(seen, lambda o: {frame("f"): Digest.of(b"same")})
        assert (run.first, run.last) == (0, 2)


class TestAuthoredSpans:
    def one(self, history: History, **given: float | None) -> list[tuple[float | None, ...]]:
        bodies = {
            A: envelope("a", valid_from=at(given["a_from"]) if given.get("a_from") else None),
            B: envelope(
                "b",
                valid_from=at(given["b_from"] or 0) if given.get("b_from") else None,
                valid_to=at(given["b_to"] or 0) if given.get("b_to") else None,
            ),
            C: envelope("c"),
        }
        found = authored_spans(history.fold().steps, bodies.__getitem__)
        return [(seconds(span.valid_from), seconds(span.valid_to)) for span in found]

    def line(self) -> History:
        history = History()
        history.add(10, RevisionWritten(A))
        history.add(20, RevisionWritten(B, (A,)))
        return history

    def test_a_revision_holds_from_its_recording_until_its_child(self) -> None:
        assert self.one(self.line()) == [(10, 20), (20, None)]

    def test_a_given_start_moves_it_and_what_came_before(self) -> None:
        assert self.one(self.line(), b_from=15) == [(10, 15), (15, None)]
        assert self.one(self.line(), a_from=3) == [(3, 20), (20, None)]

    def test_a_given_end_ends_it(self) -> None:
        assert self.one(self.line(), b_to=30) == [(10, 20), (20, 30)]

    def test_a_child_from_before_its_parent_leaves_the_parent_no_time(self) -> None:
        assert self.one(self.line(), b_from=5) == [(10, 10), (5, None)]

    def test_two_children_end_their_parent_at_the_earlier(self) -> None:
        history = self.line()
        history.add(15, RevisionWritten(C, (A,)))
        assert self.one(history) == [(10, 15), (20, None), (15, None)]
