"""A compiled grammar and its queries; the only module that calls tree-sitter, when first used.

Measured for this: `QueryCursor` crashes once its progress callback fires, so a query cannot be
stopped; a parser can, if it is given a function for a source.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pcpfs_adapters.language import Language

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from tree_sitter import Language as Compiled
    from tree_sitter import Node, Query, Tree

MAX_SECONDS = 10.0
MAX_GROWTH = 1 << 30
"""CPU time and bytes of memory for one parse. Only a source made to hurt comes near them (40 KB of
`a<a<a<` in Java take 15 s, 2 MB take all memory there is); whether that one is given up depends on
the machine, the sole exception to being a function of the bytes."""

UNGUARDED_BYTES = 32_768
"""Up to this size no parse takes more than seconds, and the clock would cost a tenth."""

Captures = dict[str, "list[Node]"]
Settings = dict[str, "str | None"]

MAX_COST = 4 * 10**9
"""Steps of a query through what did not parse: some seconds."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A compiled grammar with its queries; the one place that calls into tree-sitter."""

    compiled: Compiled
    query: Query
    comments: Query
    settings: tuple[Settings, ...]
    """What `#set!` says in each pattern of the query."""
    first_import: int
    """The number of the first pattern that finds imports: those stand behind the definitions, so
    that a tree is searched once."""

    @classmethod
    def of(cls, language: Language) -> Grammar:
        from tree_sitter import Query  # noqa: PLC0415 - loaded when a source is first parsed
        from tree_sitter_language_pack import get_language  # noqa: PLC0415

        grammar: Any = language.grammar  # the pack types its names as one long Literal
        compiled = get_language(grammar)
        comments = Query(compiled, " ".join(f"({kind}) @comment" for kind in language.comments))
        definitions = Query(compiled, language.query).pattern_count if language.imports else 0
        query = Query(compiled, language.query + language.imports)
        settings = tuple(map(query.pattern_settings, range(query.pattern_count)))
        return cls(compiled, query, comments, settings, definitions or query.pattern_count)

    def parse(self, source: bytes, seconds: float) -> Tree | None:
        """None if it takes too much. A stopped parser would resume: each parse has its own."""
        from tree_sitter import Parser  # noqa: PLC0415

        if len(source) <= UNGUARDED_BYTES:
            return Parser(self.compiled).parse(source)
        deadline, ceiling = time.thread_time() + seconds, _peak_memory() + MAX_GROWTH
        view = memoryview(source)
        try:
            return Parser(self.compiled).parse(
                lambda offset, _: view[offset:],
                progress_callback=lambda _, __: (
                    time.thread_time() > deadline or _peak_memory() > ceiling
                ),
            )
        except ValueError:
            return None

    def matches(self, root: Node) -> list[tuple[int, Captures]]:
        from tree_sitter import QueryCursor  # noqa: PLC0415

        return QueryCursor(self.query).matches(root)

    def comments_in(self, root: Node, start: int, stop: int) -> list[Node]:
        from tree_sitter import QueryCursor  # noqa: PLC0415

        cursor = QueryCursor(self.comments)
        cursor.set_byte_range(start, stop)
        return cursor.captures(root).get("comment", [])


class Damage(NamedTuple):
    """How many places did not parse, and how many steps a query over them takes.

    What did not parse is one flat node. At each of its children a query looks for the next that has
    a name, so a million brackets in a row would take hours, and a query cannot be stopped.
    """

    places: int
    cost: int

    @classmethod
    def of(cls, tree: Tree) -> Damage:
        cursor, places, cost, run = tree.walk(), 0, 0, 0
        while True:
            node = cursor.node
            assert node is not None  # a cursor is always at a node
            places += node.is_error or node.is_missing
            run = 0 if node.is_named else run + 1
            cost += run
            if node.has_error and cursor.goto_first_child():
                run = 0
                continue
            while not cursor.goto_next_sibling():
                run = 0
                if not cursor.goto_parent():
                    return cls(places, cost)


def _peak_memory() -> int:
    """The most memory this process ever had, in bytes; 0 where the system does not tell."""
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
