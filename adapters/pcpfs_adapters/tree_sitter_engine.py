"""Interprets the data files with tree-sitter; the only module that imports it, when first used."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pcpfs.model.frames import Extraction
from pcpfs_adapters import wording
from pcpfs_adapters.definitions import MAX_DEPTH, Span, Wording, nested, symbols
from pcpfs_adapters.kinds import KINDS, LOCAL, TYPES, VALUES
from pcpfs_adapters.language import Language
from pcpfs_adapters.source_text import SourceText, read

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from tree_sitter import Language as Compiled
    from tree_sitter import Node, Query, Tree

MAX_BYTES = 2 * 1024 * 1024
"""Parsed up to this size (as UTF-8): a tree takes up to 200 times the memory of its source."""

MAX_SECONDS = 10.0
MAX_GROWTH = 1 << 30
"""CPU time and bytes of memory for one parse. Only a source made to hurt comes near them (40 KB of
`a<a<a<` in Java take 15 s, 2 MB take all memory there is); whether that one is given up depends on
the machine, the sole exception to being a function of the bytes."""

UNGUARDED_BYTES = 32_768
"""Up to this size no parse takes more than seconds, and the clock would cost a tenth."""

Captures = dict[str, "list[Node]"]
Settings = dict[str, "str | None"]

_REMARK = re.compile(rb"#|//|/\*")
MAX_COST = 4 * 10**9
"""Steps of a query through what did not parse: some seconds."""

MAX_ATTRIBUTES = 1000
"""Attributes and comments before a definition that are looked at: each step costs a search."""

_COMMENT_LINE = re.compile(rb"[ \t]*(?:#|//|/\*|=end)")
_SPACE = b" \t\r\n\f\v"


class TreeSitterAdapter:
    """The adapter of one data file. Pickles as the data; the compiled grammar stays behind."""

    def __init__(self, language: Language, seconds: float = MAX_SECONDS) -> None:
        self.language = language
        self._seconds = seconds

    def __reduce__(self) -> tuple[type[TreeSitterAdapter], tuple[Language, float]]:
        return TreeSitterAdapter, (self.language, self._seconds)

    @property
    def name(self) -> str:
        return self.language.name

    @property
    def version(self) -> int:
        return self.language.version

    @property
    def media_type(self) -> str:
        return self.language.media_type

    @property
    def suffixes(self) -> tuple[str, ...]:
        return self.language.suffixes

    @property
    def filenames(self) -> tuple[str, ...]:
        return self.language.filenames

    def extract(self, source: bytes) -> Extraction:
        text = read(source)
        if len(text.utf8) > MAX_BYTES:
            return self._extraction(text, "too large to parse")
        tree = self._grammar.parse(text.parsed, self._seconds)
        if tree is None:
            return self._extraction(text, "took too much to parse", error_count=1)
        damage = _Damage.of(tree)
        if damage.cost > MAX_COST:
            return self._extraction(text, "too damaged to search", error_count=damage.places)
        view = _View(self.language, self._grammar, text, tree.root_node)
        found = list(view.definitions())
        holders = TYPES.union(self.language.method_holders)
        made, notes = symbols(
            text,
            nested((definition.span for definition in found), holders),
            lambda index: view.wording(found[index]),
        )
        return self._extraction(text, *notes, symbols=made, error_count=damage.places)

    @cached_property
    def _grammar(self) -> _Grammar:
        return _Grammar.of(self.language)

    def _extraction(self, text: SourceText, *notes: str, **members: Any) -> Extraction:
        return Extraction(
            adapter=self.name,
            version=self.version,
            language=self.name,
            encoding=text.encoding,
            line_count=text.line_count,
            notes=text.notes + notes,
            **members,
        )


@dataclass(frozen=True, slots=True)
class _Grammar:
    """A compiled grammar with its queries; the one place that calls into tree-sitter."""

    compiled: Compiled
    query: Query
    comments: Query
    settings: tuple[Settings, ...]
    """What `#set!` says in each pattern of the query."""

    @classmethod
    def of(cls, language: Language) -> _Grammar:
        from tree_sitter import Query  # noqa: PLC0415 - loaded when a source is first parsed
        from tree_sitter_language_pack import get_language  # noqa: PLC0415

        grammar: Any = language.grammar  # the pack types its names as one long Literal
        compiled = get_language(grammar)
        comments = Query(compiled, " ".join(f"({kind}) @comment" for kind in language.comments))
        query = Query(compiled, language.query)
        settings = tuple(map(query.pattern_settings, range(query.pattern_count)))
        return cls(compiled, query, comments, settings)

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


class _Definition(NamedTuple):
    """A match: `node` is what the query captured, `outer` the same with its wrappers."""

    span: Span
    node: Node
    outer: Node
    name: tuple[int, int]
    body: Node | None


@dataclass(frozen=True, slots=True)
class _View:
    """One parsed source, seen with the rules of its language."""

    language: Language
    grammar: _Grammar
    text: SourceText
    root: Node

    def definitions(self) -> Iterator[_Definition]:
        """Each name once, in order: the pattern that comes first in the query wins."""
        settings = self.grammar.settings
        best: dict[int, tuple[int, Captures]] = {}
        for pattern, captures in self.grammar.matches(self.root):
            key = _key(captures)
            if key in best and best[key][0] <= pattern:
                continue
            if self._meant(settings[pattern], captures):
                best[key] = (pattern, captures)
        depth = _Depth()
        for key in sorted(best):
            pattern, captures = best[key]
            kind, node = _captured(captures)
            path = self._path(settings[pattern], captures)
            if path:
                is_deep = depth.of(node) > MAX_DEPTH
                yield self._definition(kind, path, node, captures, is_deep=is_deep)

    def wording(self, definition: _Definition) -> Wording:
        said = wording.signature(self._signature(definition), definition.span.kind in VALUES)
        doc = self._docstring(definition.body) or self._comments(definition)
        if doc is None:
            return Wording(said)
        line = wording.first_line(self.text.text(*doc), self.language.doc_noise)
        return Wording(said, line, doc)

    def _meant(self, settings: Settings, captures: Captures) -> bool:
        required = settings.get("require") if settings else None
        return required is None or self._text(captures["keyword"][0]) == required

    def _definition(
        self, kind: str, path: tuple[str, ...], node: Node, captures: Captures, *, is_deep: bool
    ) -> _Definition:
        """`is_deep`: it will only be counted, and each step up a tree costs its depth."""
        if kind == "function" and len(path) > 1:
            kind = "method"
        if kind == "variable" and self.language.constants:
            kind = "constant" if re.fullmatch(self.language.constants, path[-1]) else kind
        outer = node if is_deep else self._outermost(node)
        start = outer.start_byte if is_deep else self._attributed(outer)
        at = captures["name"][0].byte_range if "name" in captures else node.byte_range
        body = captures["body"][0] if "body" in captures else None
        is_local = kind in LOCAL or "prototype" in captures
        span = Span(kind, path, start, self._trimmed(outer), is_local)
        return _Definition(span, node, outer, at, body)

    def _path(self, settings: Settings, captures: Captures) -> tuple[str, ...]:
        """Scope and name; empty if what is captured has none."""
        scope = self._parts(captures["scope"][0]) if "scope" in captures else ()
        if "container" in captures:
            return scope
        name = self._name(settings, captures)
        return scope + name if name else ()

    def _name(self, settings: Settings, captures: Captures) -> tuple[str, ...]:
        fixed = settings.get("name") if settings else None
        if fixed is not None:
            return (fixed,)
        parts = self._parts(captures["name"][0]) if "name" in captures else ()
        prefix = settings.get("prefix") if settings else None
        return (*parts[:-1], prefix + parts[-1]) if prefix and parts else parts

    def _parts(self, node: Node) -> tuple[str, ...]:
        return self.language.name_parts(self._text(node))

    def _text(self, node: Node) -> str:
        return self.text.text(node.start_byte, node.end_byte)

    def _outermost(self, node: Node) -> Node:
        wrappers = self.language.wrappers
        parent = node.parent if wrappers else None
        while parent is not None and parent.type in wrappers and self._alone(node, parent):
            node, parent = parent, parent.parent
        return node

    def _alone(self, node: Node, parent: Node) -> bool:
        """Whether the wrapper is for this node only: no other of its type, no group."""
        for direction in ("prev_named_sibling", "next_named_sibling"):
            sibling = getattr(node, direction)
            while sibling is not None and sibling.type in self.language.comments:
                sibling = getattr(sibling, direction)
            if sibling is not None and sibling.type == node.type:
                return False
        opening = range(min(2, parent.child_count))
        return not any(parent.child(index).type in self.language.groups for index in opening)

    def _attributed(self, outer: Node) -> int:
        """The start with the attributes that come before it as siblings (Rust, TypeScript)."""
        start = outer.start_byte
        if not self.language.attributes:
            return start
        sibling = outer.prev_named_sibling
        for _ in range(MAX_ATTRIBUTES):
            if sibling is None:
                break
            if sibling.type in self.language.attributes:
                start = sibling.start_byte
            elif sibling.type not in self.language.comments:
                break
            sibling = sibling.prev_named_sibling
        return start

    def _trimmed(self, outer: Node) -> int:
        """The end without the line end that some grammars count in."""
        start, end = outer.byte_range
        parsed = self.text.parsed
        while end > start and parsed[end - 1] in _SPACE:
            end -= 1
        return end

    def _signature(self, definition: _Definition) -> str:
        """What stands before the body, and after it if the name is there (`typedef`); of a value
        the line of its name."""
        (kind, _, _, end, _), _, outer, name, body = definition
        here = outer.start_byte
        stop = end if body is None else body.start_byte
        if kind in VALUES:
            line_end = self.text.parsed.find(b"\n", name[1], stop)
            stop = stop if line_end < 0 else line_end
        said = []
        for start, last in self._left_out(definition, here, stop):
            said.append(self.text.text(here, max(start, here)))
            here = max(here, last)
        said.append(self.text.text(here, max(stop, here)))
        if body is not None and name[0] >= body.end_byte:
            said.append(self.text.text(body.end_byte, end))
        return " ".join(said)

    def _left_out(self, definition: _Definition, start: int, stop: int) -> list[tuple[int, int]]:
        """Attributes and comments in a signature."""
        attributes = self._attributes(definition) if self.language.attributes else ()
        if not _REMARK.search(self.text.parsed, start, stop):
            return list(attributes)
        remarks = self.grammar.comments_in(self.root, start, stop)
        return sorted((*attributes, *(node.byte_range for node in remarks)))

    def _attributes(self, definition: _Definition) -> Iterator[tuple[int, int]]:
        node: Node | None = definition.outer
        while node is not None:
            yield from self._leading(node, definition)
            node = None if node == definition.node else node.child_with_descendant(definition.node)

    def _leading(self, parent: Node, definition: _Definition) -> Iterator[tuple[int, int]]:
        attributes, holders = self.language.attributes, self.language.attribute_holders
        first = parent.child(0).type if parent.child_count else ""
        if first not in attributes and first not in holders:
            return
        for child in parent.children:
            if child.start_byte >= definition.name[0]:
                return
            if child.type in attributes:
                yield child.byte_range
            elif child.type in holders:
                yield from self._leading(child, definition)

    def _docstring(self, body: Node | None) -> tuple[int, int] | None:
        if body is None or not self.language.docstring:
            return None
        for index in range(body.named_child_count):
            child = body.named_child(index)
            if child.type in self.language.docstring:
                return child.byte_range
            if child.type not in self.language.comments:
                return None
        return None

    def _comments(self, definition: _Definition) -> tuple[int, int] | None:
        """The comments right above, or between attributes and what they belong to."""
        start = definition.span.start
        found = self._comments_above(start)
        for node in (definition.outer, definition.node):
            if found is None and node.start_byte != start:
                found = self._comments_above(node.start_byte)
        return found

    def _comments_above(self, place: int) -> tuple[int, int] | None:
        """A block comment, or a run of line comments, with no blank line in it or after it."""
        start = end = None
        comment = self._comment_before(place)
        while comment is not None:
            is_block = self.text.parsed.startswith(b"/*", comment[0])
            if is_block and start is not None:
                break
            start, end = comment[0], end or comment[1]
            comment = None if is_block else self._comment_before(start)
        return None if start is None or end is None else (start, end)

    def _comment_before(self, place: int) -> tuple[int, int] | None:
        """A comment that documents what starts at `place`: alone on its line, right above."""
        parsed = self.text.parsed
        end = place
        while end and parsed[end - 1] in _SPACE:
            end -= 1
        if end == 0 or parsed.count(b"\n", end, place) > 1:
            return None
        line = parsed.rfind(b"\n", 0, end) + 1
        if not parsed.endswith(b"*/", line, end) and not _COMMENT_LINE.match(parsed, line, end):
            return None
        comment = self._comment_at(end - 1)
        if comment is None:
            return None
        begin = comment.start_byte
        line = parsed.rfind(b"\n", 0, begin) + 1
        is_alone = not parsed[line:begin].strip(_SPACE)
        documents = is_alone and re.match(self.language.doc, self.text.text(begin, end))
        return (begin, end) if documents else None

    def _comment_at(self, place: int) -> Node | None:
        """Grammars that take comments apart do so in at most two levels."""
        node = self.root.descendant_for_byte_range(place, place + 1)
        for _ in range(2):
            if node is not None and node.type not in self.language.comments:
                node = node.parent
        return node if node is not None and node.type in self.language.comments else None


def _peak_memory() -> int:
    """The most memory this process ever had, in bytes; 0 where the system does not tell."""
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class _Damage(NamedTuple):
    """How many places did not parse, and how many steps a query over them takes.

    What did not parse is one flat node. At each of its children a query looks for the next that has
    a name, so a million brackets in a row would take hours, and a query cannot be stopped.
    """

    places: int
    cost: int

    @classmethod
    def of(cls, tree: Tree) -> _Damage:
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


class _Depth:
    """How many definitions lie around each of a sequence of nodes, in document order."""

    def __init__(self) -> None:
        self._ends: list[int] = []

    def of(self, node: Node) -> int:
        while self._ends and self._ends[-1] <= node.start_byte:
            self._ends.pop()
        self._ends.append(node.end_byte)
        return len(self._ends)


def _key(captures: Captures) -> int:
    """What makes two matches one definition: the place of the name; containers apart."""
    named = captures.get("name") or _captured(captures)[1:]
    return named[0].start_byte * 2 + ("container" in captures)


def _captured(captures: Captures) -> tuple[str, Node]:
    for capture, nodes in captures.items():
        if capture in KINDS:
            return capture, nodes[0]
    return "", captures["container"][0]
