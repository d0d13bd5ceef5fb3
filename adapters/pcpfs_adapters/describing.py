"""What a definition says of itself in its tree: signature and documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pcpfs_adapters import wording
from pcpfs_adapters.definitions import Wording
from pcpfs_adapters.finding import Definition
from pcpfs_adapters.grammar import Grammar
from pcpfs_adapters.kinds import VALUES
from pcpfs_adapters.language import Language
from pcpfs_adapters.source_text import SourceText

if TYPE_CHECKING:
    from tree_sitter import Node

_READ_FOR_FIRST_LINE = 4000
_REMARK = re.compile(rb"#|//|/\*|--")
_COMMENT_LINE = re.compile(rb"[ \t]*(?:#|//|/\*|--|<!--|=end)")
_SPACE = b" \t\r\n\f\v"


@dataclass(frozen=True, slots=True)
class Describer:
    """Reads the words of definitions in one parsed source by the rules of its language."""

    language: Language
    grammar: Grammar
    text: SourceText
    root: Node

    def wording(self, definition: Definition) -> Wording:
        said = wording.signature(self._signature(definition), definition.span.kind in VALUES)
        doc = self._docstring(definition.body) or self._comments(definition)
        if doc is None:
            return Wording(said)
        start, end = doc
        text = self.text.text(start, min(end, start + _READ_FOR_FIRST_LINE))
        line = wording.first_line(text, self.language.doc_noise)
        return Wording(said, line, doc)

    def _signature(self, definition: Definition) -> str:
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

    def _left_out(self, definition: Definition, start: int, stop: int) -> list[tuple[int, int]]:
        """Attributes and comments in a signature."""
        attributes = self._attributes(definition) if self.language.attributes else ()
        if not _REMARK.search(self.text.parsed, start, stop):
            return list(attributes)
        remarks = self.grammar.comments_in(self.root, start, stop)
        return sorted((*attributes, *(node.byte_range for node in remarks)))

    def _attributes(self, definition: Definition) -> Iterator[tuple[int, int]]:
        node: Node | None = definition.outer
        while node is not None:
            yield from self._leading(node, definition)
            node = None if node == definition.node else node.child_with_descendant(definition.node)

    def _leading(self, parent: Node, definition: Definition) -> Iterator[tuple[int, int]]:
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

    def _comments(self, definition: Definition) -> tuple[int, int] | None:
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
