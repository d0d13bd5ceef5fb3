"""One request to the search: what to look for, where, and which part of the answer is wanted."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from pcpfs.model.answers import Pins, SearchAnswer, SearchHit
from pcpfs.model.marks import is_test
from pcpfs.model.requests import EVENT, MOST_RESULTS, PROJECTIONS, SYMBOL, Filters
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.paging import Given, checked_limit
from pcpfs.store.searches.sorts import is_prose

__all__ = ["EVENT", "MOST_RESULTS", "NOW", "PROJECTIONS", "SYMBOL", "Filters", "Search"]

NOW = Pins()
"""No pin: what holds now, with no clock involved."""


_ALL = Filters()


def page_filter(
    filters: Filters, root_name: Callable[[str | None], str | None]
) -> Callable[[PageRow], bool]:
    """Whether a page passes prose, tests, generated, language, path and tags."""
    inside = _path_filter(filters.path)
    languages = {language.casefold() for language in filters.languages}

    def passes(page: PageRow) -> bool:
        return (
            (not page.is_source or filters.prose in (None, is_prose(page.media_type)))
            and _is_marked(filters, page)
            and (not languages or (page.language or "").casefold() in languages)
            and set(filters.tags) <= set(json.loads(page.tags))
            and (inside(page.path or "") or inside(f"{root_name(page.root_id)}/{page.path}"))
        )

    return passes


def _is_marked(filters: Filters, page: PageRow) -> bool:
    """Whether a page is a test, or generated, as is wanted; what is no source is neither."""
    path = page.path or "" if page.is_source else ""
    is_generated = bool(page.generated)
    return filters.tests in (None, is_test(path)) and filters.generated in (None, is_generated)


def _path_filter(pattern: str | None) -> Callable[[str], bool]:
    if pattern is None:
        return lambda path: True
    import pathspec  # noqa: PLC0415 (most searches have no path filter)

    spec = pathspec.GitIgnoreSpec.from_lines([pattern])
    return spec.match_file


@dataclass(frozen=True)
class Search:
    """One request: the question, where to look, and which part of the answer is wanted.

    `scopes` is all that is looked in, `named` what the caller said: a cursor goes on although the
    one changes. Pages in `without` are left out, whatever matches: they are suppressed in the
    caller's task.
    """

    text: str
    scopes: tuple[str, ...]
    policy: str
    mode: str = "text"
    filters: Filters = _ALL
    pins: Pins = NOW
    limit: int = 10
    cursor: str | None = None
    without: Collection[str] = ()
    named: tuple[str, ...] = ()

    @cached_property
    def given(self) -> Given:
        """What the cursor says was given; UsageError for a foreign one."""
        checked_limit(self.limit)
        question = (self.mode, self.text, self.policy, self.named, self.filters, self.pins)
        return Given(question, self.cursor)

    @property
    def wanted(self) -> int:
        """So many hits are looked at at least."""
        return len(self.given) + self.limit + 1

    def answer(self, hits: Iterator[SearchHit]) -> SearchAnswer:
        """The wanted part of all hits, each once, and a cursor if there are more."""
        results: list[SearchHit] = []
        seen: set[str] = set()
        more, given = False, self.given
        for hit in hits:
            identity = identity_of(hit)
            if identity in seen or identity in given or hit.page_id in self.without:
                continue
            if len(results) == self.limit:
                more = True
                break
            seen.add(identity)
            results.append(hit)
        return SearchAnswer(
            tuple(results),
            self.policy,
            self.scopes,
            given.and_then(map(identity_of, results)) if more else None,
            self.pins.as_of,
            self.pins.recorded_as_of,
            self.mode,
        )


def identity_of(hit: SearchHit) -> str:
    """A symbol, or a page whatever its revision: neither comes twice."""
    return hit.frame_id or hit.page_id
