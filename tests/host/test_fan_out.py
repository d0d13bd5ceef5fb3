"""One budget for all, each in its own time."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.errors import UsageError
from pcpfs.host.channels import Limits
from pcpfs.host.composition import Form
from pcpfs.host.fanout import shares
from pcpfs.host.host import require_an_answer
from pcpfs.model import cgp
from tests.host.acting import Actor, ask, example, frame, included, inside, reports


def query(tokens: int, frames: int) -> cgp.ContextQuery:
    return cgp.ContextQuery(goal="why", max_tokens=tokens, max_frames=frames)


@given(st.integers(0, 10_000), st.integers(0, 100), st.integers(1, 12))
def test_the_shares_sum_to_the_budget_and_differ_by_one_at_most(
    tokens: int, frames: int, count: int
) -> None:
    parts = shares(query(tokens, frames), [f"p{n}" for n in range(count)]).values()
    for whole, given_out in (
        (tokens, [part.max_tokens for part in parts]),
        (frames, [part.max_frames for part in parts]),
    ):
        assert sum(given_out) == whole
        assert max(given_out) - min(given_out) <= 1


def test_each_is_told_its_own_share_and_nothing_else_changes() -> None:
    actors = [Actor(), Actor(), Actor()]
    ask(
        *(actor.called(f"p{n}") for n, actor in enumerate(actors)),
        max_tokens=100,
        max_frames=7,
        anchors=("a.py",),
        kinds=("doc",),
    )
    told = [actor.queries[0] for actor in actors]
    assert [(q.max_tokens, q.max_frames) for q in told] == [(34, 3), (33, 2), (33, 2)]
    assert {(q.goal, q.anchors, q.kinds) for q in told} == {("why", ("a.py",), ("doc",))}


def test_one_without_a_share_is_not_asked_and_told_so() -> None:
    first, second = Actor([frame("a")]), Actor([frame("b")])
    answer = ask(first.called("first"), second.called("second"), max_frames=1)
    assert included(answer) == ["a"]
    assert reports(answer) == {"second": ("no_share", None)}
    assert second.heard == []


def test_a_failure_changes_nothing_for_the_others() -> None:
    def share(*others: str) -> int:
        actor = Actor()
        ask(actor.called("a"), *(example(name, "die-at-start") for name in others))
        return actor.queries[0].max_tokens

    assert share("b") == share("c") == 4096


def test_all_are_asked_at_the_same_time() -> None:
    """Each waits until all of them have been asked."""
    together = threading.Barrier(6, timeout=20)

    def meet(asked: cgp.Query) -> cgp.Envelope:
        together.wait()
        return cgp.Frames(id=asked.id, result=cgp.QueryResult(frames=(), truncated=False))

    answer = ask(*(Actor(act=meet).called(f"p{n}") for n in range(6)))
    assert reports(answer) == {}


@pytest.mark.parametrize("form", Form)
def test_who_answers_first_does_not_matter(form: Form) -> None:
    def after(seconds: float, name: str) -> Actor:
        def answer(asked: cgp.Query) -> cgp.Envelope:
            time.sleep(seconds)
            frames = (frame(name, f"from {name}\n"), frame("same", "shared\n"))
            return cgp.Frames(id=asked.id, result=cgp.QueryResult(frames=frames, truncated=False))

        return Actor(act=answer)

    first = ask(after(0, "a").called("a"), after(0.1, "b").called("b"), form=form)
    second = ask(after(0.1, "a").called("a"), after(0, "b").called("b"), form=form)
    third = ask(after(0, "b").called("b"), after(0, "a").called("a"), form=form)
    assert first == second == third


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        ask(inside("twice"), inside("twice"))


def test_that_nobody_answered_is_an_error_that_says_why() -> None:
    with pytest.raises(Exception, match="crashed") as raised:
        require_an_answer(ask(example("a", "die-at-start")))
    assert raised.value.code == "unavailable"  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="--provider"):
        require_an_answer(ask())
    require_an_answer(ask(inside("empty")))


def test_eight_providers_with_fifty_frames_each_cost_little() -> None:
    """Well below 20 ms of CPU where nothing else runs; the limit here allows for a busy machine."""
    names = [f"p{n}" for n in range(8)]
    frames = {
        name: [frame(f"{name}-{n}", f"{name} {n} " * 20, score=n / 50) for n in range(50)]
        for name in names
    }
    providers = [inside(name, *frames[name]) for name in names]

    def cpu() -> float:
        before = time.process_time()
        answer = ask(*providers, max_tokens=80_000, max_frames=400, limits=Limits())
        spent = time.process_time() - before
        assert len(included(answer)) == 400
        return spent

    assert min(cpu() for _ in range(5)) < 0.1
