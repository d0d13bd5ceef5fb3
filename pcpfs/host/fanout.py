"""Asking many providers at once: each in a thread of its own, each with its share of the budget.

Shares depend on nothing but who is asked, so that one that fails changes nothing for the others.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pcpfs.host.audit import Answer, judge
from pcpfs.host.channels import late
from pcpfs.host.declarations import Declaration
from pcpfs.host.evidence import TrustedRoots
from pcpfs.host.transport import Gate, Surroundings, Transport
from pcpfs.host.troubles import Kind, ProviderTrouble, Report
from pcpfs.model.cgp import ContextQuery

_log = logging.getLogger(__name__)
_LAST_WORDS = 0.5


@dataclass(frozen=True, slots=True)
class Desk:
    """What all errands of one question share."""

    gate: Gate
    around: Surroundings
    roots: TrustedRoots


def shares(query: ContextQuery, names: Sequence[str]) -> Mapping[str, ContextQuery]:
    """The query with each provider's part of the budget; the parts sum to the whole. One without
    a part of the tokens or of the frames is not asked."""
    ordered = sorted(set(names))
    tokens, frames = (_split(n, len(ordered)) for n in (query.max_tokens, query.max_frames))
    return {
        name: replace(query, max_tokens=most, max_frames=count)
        for name, most, count in zip(ordered, tokens, frames, strict=True)
    }


def _split(whole: int, count: int) -> list[int]:
    part, rest = divmod(whole, count) if count else (0, 0)
    return [part + (at < rest) for at in range(count)]


def fan_out(
    declarations: Sequence[Declaration], query: ContextQuery, desk: Desk
) -> tuple[Answer, ...]:
    """The answers, by name. Comes back when the last one is there, or its time is over."""
    parts = shares(query, [each.name for each in declarations])
    delivered: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    errands = {
        each.name: _Errand(each, parts[each.name], desk, delivered)
        for each in declarations
        if parts[each.name].max_tokens and parts[each.name].max_frames
    }
    answers = {name: _unasked(name) for name in parts if name not in errands}
    try:
        for errand in errands.values():
            errand.start()
        answers |= _collected(errands, delivered, desk.around.limits.overall)
    finally:
        _let_go(errands, desk.around.limits.exit)
    return tuple(answers[name] for name in sorted(answers))


def _collected(
    errands: Mapping[str, _Errand], delivered: queue.SimpleQueue[Answer], seconds: float
) -> dict[str, Answer]:
    """Answers as they come; a report for whoever is not back in time."""
    deadline = time.monotonic() + seconds
    answers: dict[str, Answer] = {}
    while len(answers) < len(errands):
        try:
            answer = delivered.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        answers.setdefault(answer.provider, answer)  # whatever goes wrong after it does not count
    for name, errand in errands.items():
        if name not in answers:
            answers[name] = errand.given_up()
    return answers


def _let_go(errands: Mapping[str, _Errand], seconds: float) -> None:
    """Wait a moment for polite endings, then end what is left."""
    for wait in (seconds + _LAST_WORDS, _LAST_WORDS):
        deadline = time.monotonic() + wait
        for errand in errands.values():
            errand.join(deadline - time.monotonic())
        for errand in errands.values():
            errand.abandon()


def _unasked(name: str) -> Answer:
    message = "nothing of the budget is left for it; ask for more frames or tokens"
    return Answer(name, reports=(Report(name, Kind.NO_SHARE, message),))


class _Errand:
    """One provider's part of a question, in a thread that nobody has to wait for."""

    def __init__(
        self,
        declaration: Declaration,
        query: ContextQuery,
        desk: Desk,
        delivered: queue.SimpleQueue[Answer],
    ) -> None:
        self._declaration = declaration
        self._query = query
        self._desk = desk
        self._delivered = delivered
        self._transport: Transport | None = None
        self._is_abandoned = False
        self._thread = threading.Thread(
            target=self._run, name=f"provider {declaration.name}", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def join(self, seconds: float) -> None:
        if self._thread.is_alive() and not self._is_abandoned:
            self._thread.join(max(0.0, seconds))

    def abandon(self) -> None:
        """End it from outside, if it goes on."""
        if self._thread.is_alive():
            self._is_abandoned = True
            if self._transport is not None:
                self._transport.abandon()

    def given_up(self) -> Answer:
        """What is said of one that did not come back."""
        self.abandon()
        return self._without(late(self._desk.around.limits.overall))

    def _run(self) -> None:
        try:
            with Transport(self._declaration, self._desk.gate, self._desk.around) as transport:
                self._transport = transport
                if not self._is_abandoned:
                    self._delivered.put(self._asked(transport))
        except ProviderTrouble as trouble:
            self._delivered.put(self._without(trouble))
        except Exception as error:  # a mistake of ours over one provider is not the end of others
            _log.exception("the answer of %s could not be taken", self._declaration.name)
            failed = ProviderTrouble(Kind.FAILED, f"{type(error).__name__}: {error}")
            self._delivered.put(self._without(failed))

    def _asked(self, transport: Transport) -> Answer:
        ack = transport.greet()
        result = transport.query(self._query)
        look = self._desk.roots.look()
        return judge(self._declaration.name, ack, self._query, result, look)

    def _without(self, trouble: ProviderTrouble) -> Answer:
        """No frame, and why."""
        name = self._declaration.name
        return Answer(name, share=self._query.max_tokens, reports=(trouble.report(name),))
