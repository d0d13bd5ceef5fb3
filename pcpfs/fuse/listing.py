"""An open folder of a mounted view: the kernel reads it in pieces, and may begin anew."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice

from pcpfs.view.nodes import Directory, Node


class Listing:
    """The names of a folder by their numbers; keeps only those that may be asked for again."""

    def __init__(self, open_folder: Callable[[], Directory]) -> None:
        self._open_folder = open_folder
        self._begin(open_folder())

    def _begin(self, folder: Directory) -> None:
        dots: list[tuple[str, Node]] = [(".", folder), ("..", folder)]
        named = ((name, node) for _, name, node in folder.entries())
        self._rest: Iterator[tuple[str, Node]] = chain(dots, named)
        self._first = 0
        self._kept: deque[tuple[str, Node]] = deque()

    def starting(self, number: int) -> Iterator[tuple[int, str, Node]]:
        """Names from a number on; those before it were taken."""
        if number < self._first or number == 0:
            self._begin(self._open_folder())
        missing = number - self._first - len(self._kept)
        if missing > 0:
            self._kept.clear()
            deque(islice(self._rest, missing), maxlen=0)
        else:
            for _ in range(number - self._first):
                self._kept.popleft()
        self._first = number
        return self._given(number)

    def _given(self, number: int) -> Iterator[tuple[int, str, Node]]:
        for place, (name, node) in enumerate(tuple(self._kept), number):
            yield place, name, node
        for name, node in self._rest:
            self._kept.append((name, node))
            yield self._first + len(self._kept) - 1, name, node
