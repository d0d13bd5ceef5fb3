"""All adapters of this package, and which one a file gets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import basename

from pcpfs.ports import Adapter
from pcpfs_adapters.git_lfs import LfsPointer, is_pointer
from pcpfs_adapters.language import Language, load
from pcpfs_adapters.markdown import Markdown
from pcpfs_adapters.plain_text import PlainText
from pcpfs_adapters.tree_sitter_engine import TreeSitterAdapter

_SHEBANG = re.compile(rb"\A(?:\xef\xbb\xbf)?#![ \t]*([^\r\n]+)")


class Registry:
    """Finds adapters by file name, suffix, `#!` line or tag; plain text takes what is left. What
    is only a pointer to a file is that, whatever its name."""

    def __init__(self, languages: Sequence[Language]) -> None:
        engines = tuple(TreeSitterAdapter(language) for language in languages)
        self._text = PlainText()
        self._pointer = LfsPointer()
        self._all: tuple[Adapter, ...] = (*engines, Markdown(), self._pointer, self._text)
        self._by_filename = {name: a for a in self._all for name in a.filenames}
        self._by_suffix = {suffix: a for a in self._all for suffix in a.suffixes}
        self._by_prefix = {start: a for a in engines for start in a.language.prefixes}
        self._by_shebang = {name: a for a in engines for name in a.language.shebangs}
        self._claimants = [a for a in engines if a.language.claims]

    def all(self) -> tuple[Adapter, ...]:
        return self._all

    def by_tag(self, tag: str) -> Adapter | None:
        return next((a for a in self._all if f"{a.name}-{a.version}" == tag), None)

    def for_source(self, path: str, head: bytes) -> Adapter:
        if is_pointer(head):
            return self._pointer
        name = basename(path)
        if name in self._by_filename:
            return self._by_filename[name]
        lower = name.lower()
        for adapter in self._claimants:
            if adapter.language.claims_file(lower, head):
                return adapter
        return (
            self._with_suffix(lower)
            or self._with_prefix(name)
            or self._with_shebang(head)
            or self._text
        )

    def _with_suffix(self, name: str) -> Adapter | None:
        """By the longest suffix that is known: `a.d.ts` before `a.ts`."""
        at = name.find(".")
        while at >= 0:
            if name[at:] in self._by_suffix:
                return self._by_suffix[name[at:]]
            at = name.find(".", at + 1)
        return None

    def _with_prefix(self, name: str) -> Adapter | None:
        """`Dockerfile.dev`."""
        return next((a for start, a in self._by_prefix.items() if name.startswith(start)), None)

    def _with_shebang(self, head: bytes) -> Adapter | None:
        line = _SHEBANG.match(head)
        if line is None:
            return None
        words = line[1].decode("ascii", "replace").split()
        return self._by_shebang.get(_interpreter(words))


def builtin() -> Registry:
    return Registry(load())


def _interpreter(words: Sequence[str]) -> str:
    """`/usr/bin/env -S VAR=1 python3.11 -u` → `python`."""
    if words and basename(words[0]) == "env":
        words = [word for word in words[1:] if not re.match(r"-|\w+=", word)]
    return basename(words[0]).rstrip("0123456789.") if words else ""
