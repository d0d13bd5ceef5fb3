"""The closed vocabulary of symbol kinds, the same for every language.

| kind | what it is called elsewhere |
|---|---|
| `function` | a function outside any type; also a nested or local one |
| `method` | a function of a type: constructors, accessors, operators, abstract ones |
| `class` | also records |
| `interface` | also Java annotation types |
| `struct` | also unions |
| `enum` | |
| `trait` | also C++ concepts |
| `module` | namespaces, Ruby and Rust modules; never a file's own package or namespace line |
| `type` | aliases, Go's other named types, delegates |
| `constant` | at top level, or declared as one inside a type |
| `variable` | at top level only |
| `macro` | |
| `property` | a property with accessors (C#) |
| `heading` | a Markdown section; a heading or title in HTML |
| `table` | an SQL table or view |
| `key` | of a data file (JSON, YAML, TOML): of its two uppermost levels |
| `target` | what `make` makes, a stage of a Dockerfile |
| `selector` | what a CSS rule is for, an animation |
| `element` | an HTML element with an id |

The kind `file` is the store's own, for the frame that stands for a whole file.
"""

from __future__ import annotations

CALLABLES = frozenset({"function", "method"})

TYPES = frozenset({"class", "interface", "struct", "enum", "trait"})
"""Kinds whose functions are methods."""

LOCAL = frozenset({"constant", "variable"})
"""Inside a callable these are no symbols."""

DATA = frozenset({"table", "key", "target", "selector", "element"})
"""Kinds of what is no program."""

KINDS = CALLABLES | TYPES | LOCAL | {"module", "type", "macro", "property", "heading"} | DATA

VALUES = LOCAL | {"macro", "key", "element"}
"""Kinds that have no body: the first line is their signature."""
