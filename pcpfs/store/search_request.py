"""One request to the search: what to look for, where, and which part of the answer is wanted."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pcpfs.errors import UsageError
from pcpfs.model.answers import Pins, SearchAnswer, SearchHit
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import Digest
from pcpfs.store.rows import PageRow

MOST_RESULTS = 200
PROJECTIONS = ("manifest", "payload", "source_spans", "relations", "facets", "history")
SYMBOL = "symbol"
"""As a kind in a filter: any symbol, whatever its own kind."""
EVENT = "event"


NOW = Pins()
"""No pin: what holds now, with no clock involved."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What results must be. `kinds`: `page`, `event`, `file`, `symbol`, or kinds of symbols;
    `path`: a pattern as in a `.gitignore` file, over the path of a page in `tree/`, or of a source
    with or without the name of its root; all `tags` are required."""

    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    path: str | None = None
    tags: tuple[str, ...] = ()

    def matcher(self, root_name: Callable[[str | None], str | None]) -> Callable[[PageRow], bool]:
        """Whether a page passes language, path and tags."""
        inside = _path_filter(self.path)
        languages = {language.casefold() for language in self.languages}

        def passes(page: PageRow) -> bool:
            return (
                (not languages or (page.language or "").casefold() in languages)
                and set(self.tags) <= set(json.loads(page.tags))
                and (inside(page.path or "") or inside(f"{root_name(page.root_id)}/{page.path}"))
            )

        return passes

    def takes(self, kind: str) -> bool:
        if not self.kinds:
            return True
        is_symbol = kind not in ("page", EVENT, FILE_KIND)
        return kind in self.kinds or (is_symbol and SYMBOL in self.kinds)


def _path_filter(pattern: str | None) -> Callable[[str], bool]:
    if pattern is None:
        return lambda path: True
    import pathspec  # noqa: PLC0415 (most searches have no path filter)

    spec = pathspec.GitIgnoreSpec.from_lines([pattern])
    return spec.match_file


@dataclass(frozen=True, slots=True)
class Search:
    """One request: the question, where to look, and which part of the answer is wanted."""

    text: str
    scopes: tuple[str, ...]
    policy: str
    filters: Filters = Filters()
    pins: Pins = NOW
    limit: int = 10
    cursor: str | None = None

    def narrowed(self, filters: Filters, pins: Pins, limit: int, cursor: str | None) -> Search:
        """The same question under these filters and pins, and the wanted part of the answer."""
        return replace(self, filters=filters, pins=pins, limit=limit, cursor=cursor)

    def start(self) -> int:
        """How many results the cursor says were already given; UsageError for a foreign one."""
        if not 1 <= self.limit <= MOST_RESULTS:
            raise UsageError(f"a limit is between 1 and {MOST_RESULTS}, not {self.limit}")
        if self.cursor is None:
            return 0
        try:
            offset, question = json.loads(base64.urlsafe_b64decode(self.cursor.encode()))
        except (ValueError, binascii.Error) as error:
            raise UsageError("this is no cursor; take it from the answer before") from error
        if question != self._question() or not isinstance(offset, int) or offset < 0:
            raise UsageError("this cursor belongs to another question; ask the same one again")
        return offset

    def next_cursor(self, given: int) -> str:
        return base64.urlsafe_b64encode(json.dumps([given, self._question()]).encode()).decode()

    def _question(self) -> str:
        filters = self.filters
        members = [
            self.text,
            self.scopes,
            filters.kinds,
            filters.languages,
            filters.path,
            filters.tags,
            str(self.pins),
        ]
        return Digest.of(json.dumps(members).encode()).hex[:16]

    def answer(self, hits: Iterator[SearchHit]) -> SearchAnswer:
        """The wanted part of all hits, and a cursor if there are more."""
        start = self.start()
        results: list[SearchHit] = []
        more = False
        for number, hit in enumerate(hits):
            if number >= start + self.limit:
                more = True
                break
            if number >= start:
                results.append(hit)
        return SearchAnswer(
            tuple(results),
            self.policy,
            self.scopes,
            self.next_cursor(start + self.limit) if more else None,
            self.pins.as_of,
            self.pins.recorded_as_of,
        )
