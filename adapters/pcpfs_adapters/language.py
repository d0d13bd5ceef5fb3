"""What the engine must know about one language: one TOML file in `languages/`, found by listing.

To add a language, add a file. Its members:

- `name`, `version`, `grammar` (name in the language pack), `media_type`;
- `suffixes` (lower case), `filenames`, `prefixes` (of file names, `Dockerfile.`), `shebangs`
  (interpreters without version digits);
- `max_bytes`: larger sources are not parsed; `most`: of a source with more symbols only those of
  the outermost level are told, the first so many (both keep data from drowning an index);
- `claims`: suffixes of another language that are this one's when a pattern is found in the file's
  first bytes, such as `".h"` for C++;
- `extends`: another language's name, whose members hold unless given here;
- `comments`: node types; `doc`: a pattern that a comment must begin with to document what follows;
  `doc_noise`: a pattern taken out of documentation lines;
- `docstring`: node types that document a definition when they come first in its body;
- `wrappers`: node types that belong to the definition they hold, if it is the only one of its type
  in them (`export`, decorators, `template<…>`, `const` around one constant);
- `groups`: tokens with which a wrapper opens a group of several: then it belongs to none of them;
- `attributes`: node types of decorators and attributes. They belong to the definition's bytes when
  they come before it, and are never part of a signature. `attribute_holders` are node types of
  leading children that may hold some;
- `ends_before_comments`: comments at the end of a definition are none of it, although the grammar
  counts them in: those behind a function, those above the next key;
- `deepest_comment`: comments nested deeper are not parsed, where a grammar takes the cube of that;
- `separators`: what parts a qualified name besides `.`; `noise`: a pattern taken out of it first;
  `nameless`: a pattern of names that define nothing (`_`);
- `constants`: a pattern of variable names that are constants; `method_holders`: further kinds whose
  functions are methods;
- `macros`: a pattern with a group `macro`, which no grammar can read and which defines nothing: it
  is read as spaces, its line ends kept;
- `words`: a pattern of what no grammar can read and what belongs to a word: it is parsed as if it
  were underscores, and shown as it is;
- `query`: patterns, the first that captures a `@name` wins. A capture named after a kind is a
  definition; `@container` only gives its members a qualified name, `@block` hides values as a
  function does (statements outside of any function); `@name`, `@scope` (what the
  name is qualified with), `@body` (ends the signature), `@prototype` (none right inside a
  function, where grammars take variables for declarations). Settings: `prefix` of the name, a fixed
  `name`, `require` and `refuse` (the text that `@keyword` must have, or must not); a `#eq?` would
  crash where the source is given to the parser as a function;
- `imports`: a query of its own, `@import` in each pattern, with `@member` (joined to it by
  `import_joint`), `@keyword` and the settings above; `import_style`: how they are resolved
  (`importing.STYLES`);
- `example`, `symbols`: a source and what is seen in it, checked by a test; a line for each symbol:
  `kind qualified.name first-last | signature | documentation`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pcpfs_adapters.definitions import MAX_SYMBOLS

MAX_BYTES = 2 * 1024 * 1024
"""Parsed up to this size (as UTF-8): a tree takes up to 200 times the memory of its source."""

_LONGEST_NAME = 1000


@dataclass(frozen=True, slots=True)
class Language:
    """One data file. Patterns are kept as text, so a language is small to hash and to pickle."""

    name: str
    version: int
    grammar: str
    media_type: str
    query: str
    macros: str = ""
    words: str = ""
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()
    comments: tuple[str, ...] = ("comment",)
    ends_before_comments: bool = False
    deepest_comment: int = 0
    doc: str = ""
    doc_noise: str = ""
    docstring: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    attribute_holders: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    noise: str = ""
    nameless: str = ""
    constants: str = ""
    method_holders: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES
    most: int = MAX_SYMBOLS
    imports: str = ""
    import_joint: str = "."
    import_style: str = ""
    example: str = ""
    symbols: str = ""

    def name_parts(self, text: str) -> tuple[str, ...]:
        """`a::B<T>::f` as (`a`, `B`, `f`): noise taken out, split, white space folded."""
        if not self.noise and text.isidentifier():
            return (text[:_LONGEST_NAME],)
        text = text[:_LONGEST_NAME]
        if self.noise:
            text = re.sub(self.noise, "", text)
        for separator in self.separators:
            text = text.replace(separator, "\0")
        parts = (" ".join(_unquoted(part).split()) for part in text.split("\0"))
        return tuple(part for part in parts if part)

    def readable(self, source: bytes) -> bytes:
        """What a grammar is given for a source, of the same length."""
        if not self.words:
            return source
        return re.sub(self.words.encode(), lambda found: b"_" * len(found[0]), source)

    def is_too_nested(self, source: bytes) -> bool:
        """Whether comments lie so deep in each other that parsing them would not end."""
        depth = 0
        for mark in re.finditer(rb"/\*|\*/", source) if self.deepest_comment else ():
            depth = depth + 1 if mark[0] == b"/*" else max(0, depth - 1)
            if depth > self.deepest_comment:
                return True
        return False

    def claims_file(self, path: str, head: bytes) -> bool:
        """Whether a file that bears another language's suffix is in truth of this one."""
        return any(
            path.endswith(suffix) and re.search(pattern.encode(), head) is not None
            for suffix, pattern in self.claims
        )


def load() -> tuple[Language, ...]:
    """Every language of the folder, in order of name."""
    documents = {document["name"]: document for document in _documents()}
    return tuple(_language(documents[name], documents) for name in sorted(documents))


def _documents() -> Iterator[dict[str, Any]]:
    for entry in (files(__package__) / "languages").iterdir():
        if entry.name.endswith(".toml"):
            yield tomllib.loads(entry.read_text(encoding="utf-8"))


def _language(document: Mapping[str, Any], documents: Mapping[str, Mapping[str, Any]]) -> Language:
    members = {**documents.get(document.get("extends", ""), {}), **document}
    members.pop("extends", None)
    members["claims"] = tuple(members.get("claims", {}).items())
    frozen: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in members.items()
    }
    return Language(**frozen)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text
