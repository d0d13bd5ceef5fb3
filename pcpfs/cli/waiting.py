"""What a person is told while a search has to index first."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pcpfs.cli.call import Call
    from pcpfs.ports import Progress

MANY = 500
"""So many documents take about half a second: fewer are not worth a word."""


class Waiting:
    """Says once, on standard error, how many documents a search takes into the index before it
    answers; a terminal shows how far it is. A search that need not wait costs nothing."""

    def __init__(self, call: Call, open_ones: ExitStack) -> None:
        """The bar of a search that is broken off ends with `open_ones`."""
        self._call = call
        self._shown = open_ones.enter_context(ExitStack())
        self._bar: Progress | None = None
        self._told = False

    def step(self, phase: str, done: int, total: int) -> None:
        if total < MANY:
            return
        if not self._told:
            self._told = True
            text = f"{total:,} documents wait to be indexed; this search does it first, once"
            self._call.note(text)
            self._bar = self._shown.enter_context(self._call.progress())
        if self._bar is not None:
            self._bar.step(phase, done, total)
        if done >= total:
            self._bar = None
            self._shown.close()
