"""What a query found in a tree, as definitions: names, wrappers, attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pcpfs.model.frames import Import
from pcpfs_adapters.definitions import MAX_DEPTH, Span
from pcpfs_adapters.grammar import Captures, Grammar, Settings
from pcpfs_adapters.kinds import CALLABLES, KINDS, LOCAL
from pcpfs_adapters.language import Language
from pcpfs_adapters.source_text import SourceText

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_ATTRIBUTES = 1000
"""Attributes and comments before a definition that are looked at: each step costs a search."""

MAX_IMPORT = 1000
"""What is spelled with more characters is no import that anybody wrote."""

_SPACE = b" \t\r\n\f\v"


class Definition(NamedTuple):
    """A match: `node` is what the query captured, `outer` the same with its wrappers."""

    span: Span
    node: Node
    outer: Node
    name: tuple[int, int]
    body: Node | None


@dataclass(frozen=True)
class Finder:
    """Finds the definitions of one parsed source by the rules of its language."""

    language: Language
    grammar: Grammar
    text: SourceText
    root: Node

    def definitions(self) -> Iterator[Definition]:
        """Each name once, in order: the pattern that comes first in the query wins."""
        settings = self.grammar.settings
        best: dict[int, tuple[int, Captures]] = {}
        for pattern, captures in self._matches:
            if pattern >= self.grammar.first_import:
                continue
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
            if not path and (kind in CALLABLES or "block" in captures):
                yield Definition(Span("", (), *node.byte_range, True), node, node, (0, 0), None)
            elif path:
                is_deep = depth.of(node) > MAX_DEPTH
                yield self._definition(kind, path, node, captures, is_deep=is_deep)

    def imports(self) -> Iterator[Import]:
        """What is imported, as it is spelled, in order; each once."""
        found: dict[tuple[int, int], Import] = {}
        for pattern, captures in self._matches:
            settings = self.grammar.settings[pattern]
            if pattern >= self.grammar.first_import and self._meant(settings, captures):
                node = captures.get("member", captures["import"])[0]
                target = self._imported(settings, captures)
                found[node.byte_range] = Import(target, node.start_point[0] + 1)
        seen: set[str] = set()
        for _, each in sorted(found.items()):
            if each.target and each.target not in seen:
                seen.add(each.target)
                yield each

    def _imported(self, settings: Settings, captures: Captures) -> str:
        joint = self.language.import_joint
        said = self._text(captures["import"][0]).strip("\"'`")
        said = (settings.get("prefix") or "") + "".join(said.split())
        if "member" in captures:
            member = "".join(self._text(captures["member"][0]).split())
            said += member if said.endswith(joint) else joint + member
        return said if len(said) <= MAX_IMPORT else ""

    @cached_property
    def _matches(self) -> list[tuple[int, Captures]]:
        return self.grammar.matches(self.root)

    def _meant(self, settings: Settings, captures: Captures) -> bool:
        required, refused = settings.get("require"), settings.get("refuse")
        if required is None and refused is None:
            return True
        said = self._text(captures["keyword"][0])
        return said != refused and required in (None, said)

    def _definition(
        self, kind: str, path: tuple[str, ...], node: Node, captures: Captures, *, is_deep: bool
    ) -> Definition:
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
        return Definition(span, node, outer, at, body)

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
        parts = self._named(captures["name"][0]) if "name" in captures else ()
        prefix = settings.get("prefix") if settings else None
        return (*parts[:-1], prefix + parts[-1]) if prefix and parts else parts

    def _parts(self, node: Node) -> tuple[str, ...]:
        return self.language.name_parts(self._text(node))

    def _named(self, node: Node) -> tuple[str, ...]:
        """What is noise around a name (`window.`) is a name if it stands alone."""
        text = self._text(node)
        if self.language.nameless and re.fullmatch(self.language.nameless, text):
            return ()
        return self.language.name_parts(text) or ((text,) if text.split() == [text] else ())

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
        """The end without what some grammars count in: a line end, comments behind it."""
        start, end = outer.start_byte, self._uncommented(outer)
        parsed = self.text.parsed
        while end > start and parsed[end - 1] in _SPACE:
            end -= 1
        return end

    def _uncommented(self, node: Node) -> int:
        """The end of the last thing in a node that is no comment, in languages that say so."""
        end = node.end_byte
        if not self.language.ends_before_comments:
            return end
        left = node.child_count
        while left:
            left -= 1
            child = node.child(left)
            if child is None or child.start_byte == child.end_byte:
                continue
            if child.type in self.language.comments:
                end = child.start_byte
            else:
                node, left, end = child, child.child_count, child.end_byte
        return end


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
    return "", captures["container" if "container" in captures else "block"][0]
