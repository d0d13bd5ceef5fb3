"""Filling a budget, and cutting texts: pure functions on made-up offers and bytes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pcpfs.model import cgp
from pcpfs.model.cgp_rules import content_digest, lines_at, respects_budget
from pcpfs.model.ids import Digest
from pcpfs.provider.candidate import Form, Offer
from pcpfs.provider.cutting import Text
from pcpfs.provider.fitting import fit


def form(name: str, tokens: int, lines: tuple[int, int] = (1, 9), whole: bool = True) -> Form:
    content = f"{name}:" + "x" * (4 * tokens - len(name) - 1)
    frame = cgp.ContextFrame(
        id=name,
        kind="doc",
        title=name,
        content=content,
        content_digest=content_digest(content),
        score=0.5,
        token_cost=cgp.token_cost(content),
    )
    return Form(frame, lines, whole)


def offer(name: str, whole: int, part: int | None = None) -> Offer:
    forms = [form(name, whole)]
    if part is not None:
        forms.append(form(f"{name}-part", part, (1, 2), whole=False))
    return Offer(name, tuple(forms))


def served(offers: list[Offer], max_frames: int, max_tokens: int) -> list[str]:
    return [frame.id for frame in fit(offers, max_frames, max_tokens).frames]


def test_wholes_come_before_fragments() -> None:
    assert served([offer("a", 40, 5), offer("b", 40, 5)], 8, 100) == ["a", "b"]


def test_a_giant_does_not_crowd_out_the_others() -> None:
    offers = [offer("giant", 90, 12), offer("b", 30), offer("c", 30)]
    assert served(offers, 8, 100) == ["giant-part", "b", "c"]


def test_what_is_left_makes_fragments_whole_again() -> None:
    assert served([offer("giant", 90, 12), offer("b", 8)], 8, 100) == ["giant", "b"]


def test_what_is_left_goes_to_those_who_wait() -> None:
    fitted = fit([offer("big", 300), offer("b", 20)], 8, 400)
    assert [frame.id for frame in fitted.frames] == ["big", "b"]
    assert fitted.dropped == 0


def test_the_same_lines_are_shown_once() -> None:
    page = Offer("page", (form("page", 30, (1, 50)), form("part", 10, (20, 30), whole=False)))
    symbol = Offer("page", (form("symbol", 10, (5, 8)),))
    assert served([page, symbol], 8, 1000) == ["page"]
    assert served([symbol, page], 8, 1000) == ["symbol", "part"]


def test_offers_are_asked_for_only_while_there_is_room() -> None:
    asked = []

    def offers() -> object:
        for n in range(100):
            asked.append(n)
            yield offer(str(n), 10)

    fitted = fit(offers(), 3, 1000)  # type: ignore[arg-type]
    assert (len(fitted.frames), fitted.dropped, len(asked)) == (3, 4, 7)


def test_what_is_shown_already_was_not_dropped() -> None:
    part = Offer("page", (form("part", 10, (20, 30), whole=False),))
    page = Offer("page", (form("page", 30, (1, 50)),))
    same_text = Offer("elsewhere", (form("page", 30, (1, 50)),))
    assert fit([page, part, same_text], 1, 1000).dropped == 0
    assert fit([page, part, same_text, offer("other", 10)], 1, 1000).dropped == 1


def test_who_waited_for_lines_that_another_shows_in_the_end_was_not_dropped() -> None:
    """The giant's fragment becomes its whole, which holds what had found no room."""
    giant = Offer("page", (form("giant", 60, (1, 90)), form("part", 12, (1, 2), whole=False)))
    inner = Offer("page", (form("inner", 45, (40, 50)),))
    fitted = fit([giant, offer("b", 30), inner], 8, 95)
    assert [frame.id for frame in fitted.frames] == ["giant", "b"]
    assert fitted.dropped == 0


OFFERS = st.lists(
    st.tuples(st.integers(4, 200), st.none() | st.integers(4, 60)).map(lambda pair: pair),
    max_size=8,
)


@given(OFFERS, st.integers(0, 6), st.integers(0, 400))
@settings(max_examples=150, deadline=None)
def test_any_budget_is_kept_and_used(
    sizes: list[tuple[int, int | None]], max_frames: int, max_tokens: int
) -> None:
    """B1, B4; what waits in the end would not have fitted."""
    offers = [offer(f"o{n}", whole, part) for n, (whole, part) in enumerate(sizes)]
    fitted = fit(offers, max_frames, max_tokens)
    query = cgp.ContextQuery(goal="g", max_frames=max_frames, max_tokens=max_tokens)
    assert respects_budget(cgp.QueryResult(frames=fitted.frames, truncated=False), query)
    names = [frame.id.removesuffix("-part") for frame in fitted.frames]
    assert names == sorted(names, key=lambda name: int(name[1:]))
    left = max_tokens - sum(frame.token_cost for frame in fitted.frames)
    waiting = [each for each in offers if each.place not in names]
    assert bool(fitted.dropped) == bool(waiting)
    assert fitted.dropped <= len(waiting)
    if len(fitted.frames) < max_frames and left >= 8:
        assert all(f.frame.token_cost > left for each in waiting for f in each.forms)


BYTES = st.lists(
    st.sampled_from([b"a", b"\n", b"\r\n", "é".encode(), b"\xe9", b" "]), max_size=20
).map(b"".join)


@given(BYTES, st.data())
@settings(max_examples=150, deadline=None)
def test_a_cut_is_cited_by_the_bytes_that_show_it(raw: bytes, data: st.DataObject) -> None:
    """F5, for spans of bytes and for lines."""
    text = Text(raw)
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, len(raw)))
    if start < end:
        cut = text.span(start, end)
        cited = lines_at(raw, cut.lines)
        assert cited is not None
        assert Digest.of(cited) == cut.digest
        assert raw[start:end] in cited
    for first in range(1, text.line_count + 1):
        lines = text.lines((first, text.line_count))
        assert lines is not None
        assert Digest.of(lines_at(raw, lines.lines) or b"") == lines.digest
    assert text.lines((1, text.line_count + 1)) is None
