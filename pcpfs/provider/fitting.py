"""Filling a budget: pure, so the same offers and budget give the same frames (B1, B4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from pcpfs.model.cgp import ContextFrame
from pcpfs.provider.candidate import Form, Offer

_LEAST_TOKENS = 8
"""With fewer tokens left nothing worth reading fits."""

_SMALL = 64
"""So many tokens are nobody's loss."""


_COUNTED = 4
"""So many of those that came too late are counted."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Frames in the order of their offers, and how many offers show something else and found no
    room, as far as they were counted."""

    frames: tuple[ContextFrame, ...]
    dropped: int


@dataclass(slots=True)
class _Seat:
    offer: Offer
    form: int | None

    @property
    def chosen(self) -> Form | None:
        return None if self.form is None else self.offer.forms[self.form]

    @property
    def cost(self) -> int:
        return self.chosen.frame.token_cost if self.chosen else 0


def fit(offers: Iterable[Offer], max_frames: int, max_tokens: int) -> Fitted:
    """Take offers in order, each in the best form that fits.

    At first a whole gets at most half of the tokens and a fragment its share, so that a giant does
    not crowd out all others; what is left in the end makes forms better, best offers first. Lines
    are shown once.
    """
    table = _Table(max_frames, max_tokens)
    waiting = iter(offers)
    while not table.is_full and (offer := next(waiting, None)) is not None:
        table.seat(offer)
    table.improve()
    late = (offer for offer in waiting if table.has_more(offer))
    dropped = table.standing + sum(1 for _ in islice(late, _COUNTED))
    return Fitted(table.frames, dropped)


class _Table:
    def __init__(self, max_frames: int, max_tokens: int) -> None:
        self._max_frames = max_frames
        self._max_tokens = max_tokens
        self._seats: list[_Seat] = []
        self._taken = 0
        self._tokens = 0

    @property
    def is_full(self) -> bool:
        return self._taken >= self._max_frames or self._left < _LEAST_TOKENS

    @property
    def _left(self) -> int:
        return self._max_tokens - self._tokens

    @property
    def frames(self) -> tuple[ContextFrame, ...]:
        return tuple(seat.chosen.frame for seat in self._seats if seat.chosen)

    @property
    def standing(self) -> int:
        """How many found no room in the end and would have shown something else."""
        return sum(seat.form is None and self.has_more(seat.offer) for seat in self._seats)

    def has_more(self, offer: Offer) -> bool:
        """Whether an offer shows something that no frame shows."""
        return bool(self._apart(offer, None))

    def seat(self, offer: Offer) -> None:
        """Give an offer its place, or let it wait; nothing where its lines are shown already."""
        usable = self._apart(offer, None)
        if not usable:
            return
        modest = [n for n in usable if self._is_modest(offer.forms[n])]
        self._place(_Seat(offer, None), self._best(offer, modest or usable[-1:], self._left))

    def _is_modest(self, form: Form) -> bool:
        """Whether a form takes no more than it may before the others have had their turn."""
        share = 2 if form.whole else self._max_frames
        return form.frame.token_cost <= max(self._max_tokens // share, _SMALL)

    def _place(self, seat: _Seat, form: int | None) -> None:
        seat.form = form
        self._seats.append(seat)
        if form is not None:
            self._taken += 1
            self._tokens += seat.cost

    def improve(self) -> None:
        """Use what is left: a better form, or a first one for those who wait."""
        for seat in self._seats:
            if seat.form is None and self._taken >= self._max_frames:
                continue
            usable = self._apart(seat.offer, seat)
            better = [form for form in usable if seat.form is None or form < seat.form]
            best = self._best(seat.offer, better, self._left + seat.cost)
            if best is not None:
                self._tokens -= seat.cost
                self._taken += seat.form is None
                seat.form = best
                self._tokens += seat.cost

    def _best(self, offer: Offer, usable: Sequence[int], limit: int) -> int | None:
        return next((n for n in usable if offer.forms[n].frame.token_cost <= limit), None)

    def _apart(self, offer: Offer, own: _Seat | None) -> list[int]:
        """The forms that show nothing which another frame shows: no same line, no same text."""
        others = [(s.offer.place, s.chosen) for s in self._seats if s is not own and s.chosen]
        shown = [form.lines for place, form in others if place == offer.place]
        texts = {form.frame.content_digest for _, form in others}
        return [
            n
            for n, form in enumerate(offer.forms)
            if form.frame.content_digest not in texts
            and not any(_overlap(form.lines, lines) for lines in shown)
        ]


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
