"""The adapter that interprets a data file with tree-sitter."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pcpfs.model.frames import TOO_DAMAGED, TOO_LARGE, TOOK_TOO_MUCH, Extraction
from pcpfs.model.marks import says_generated
from pcpfs.ports import SourceTree
from pcpfs_adapters.definitions import nested, symbols
from pcpfs_adapters.describing import Describer
from pcpfs_adapters.finding import Finder
from pcpfs_adapters.grammar import MAX_COST, MAX_SECONDS, Damage, Grammar
from pcpfs_adapters.importing import resolve
from pcpfs_adapters.kinds import TYPES
from pcpfs_adapters.language import MAX_BYTES, Language
from pcpfs_adapters.source_text import SourceText, read

TOO_MANY_BYTES = "too large to tell its keys"
"""Of data: by design, and no limit that a person should hear of."""


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
        if len(text.utf8) > self.language.max_bytes:
            is_data = self.language.max_bytes < MAX_BYTES
            return self._extraction(text, TOO_MANY_BYTES if is_data else TOO_LARGE)
        if self.language.is_too_nested(text.parsed):
            return self._extraction(text, TOO_DAMAGED, error_count=1)
        text = text.without(self.language.macros)
        tree = self._grammar.parse(self.language.readable(text.parsed), self._seconds)
        if tree is None:
            return self._extraction(text, TOOK_TOO_MUCH, error_count=1)
        damage = Damage.of(tree)
        if damage.cost > MAX_COST:
            return self._extraction(text, TOO_DAMAGED, error_count=damage.places)
        parsed = (self.language, self._grammar, text, tree.root_node)
        finder = Finder(*parsed)
        found = list(finder.definitions())
        describer = Describer(*parsed)
        holders = TYPES.union(self.language.method_holders)
        placed = nested((definition.span for definition in found), holders)
        made, notes = symbols(
            text, placed, lambda number: describer.wording(found[number]), self.language.most
        )
        return self._extraction(
            text,
            *notes,
            symbols=made,
            error_count=damage.places,
            imports=tuple(finder.imports()) if self.language.imports else (),
        )

    def resolved(self, path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
        return resolve(self.language.import_style, path, target, tree)

    @cached_property
    def _grammar(self) -> Grammar:
        return Grammar.of(self.language)

    def _extraction(self, text: SourceText, *notes: str, **members: Any) -> Extraction:
        return Extraction(
            adapter=self.name,
            version=self.version,
            language=self.name,
            encoding=text.encoding,
            line_count=text.line_count,
            notes=text.notes + notes,
            generated=says_generated(text.utf8),
            **members,
        )
