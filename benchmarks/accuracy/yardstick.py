"""What is compared in one language: one TOML file in `yardsticks/`, found by listing.

- `ctags`: the name of the language there; `adapters`: names of ours (the file's name if not given);
- `fetch` (`pip`, `npm` or `apt`), `package` (a requirement of that tool), `inner` (an archive in
  the package that holds the sources), `folders` (patterns of what is taken, all if not given),
  `suffixes`;
- `options`: further options of ctags; `joint`: what parts the names that it tells, of which the
  last part is the name; `apart`: what parts our names of several, each of which ctags tells;
- `kinds`: a kind of ctags → ours that mean the same. Each kind that ctags gives is listed: with no
  equal of ours (`[]`) it counts as missing unless left out;
- `left_out`: definitions that the adjusted figures do not count, on one `side` (`ctags` or `ours`).
  `kinds` and patterns (`name`, `scope` around it, `line` of the source, `path`) say which, with
  `is_repeated` only those of whose name and kind another in the file is agreed, with `after` only
  from the first definition of the same side and scope on whose line has this pattern (where one
  side has lost its way); `because` says why.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "yardsticks"


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition as one side sees it. `lines` are 1-based and inclusive: ctags tells one line,
    that of the name; ours run from the first to the last of the bytes. `scope` has kind and
    name of what is around it (`class:Note`; ours all of them, and `nameless:` for an impl block or
    an anonymous class)."""

    path: str
    kind: str
    name: str
    lines: tuple[int, int]
    scope: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Which definitions of one side the adjusted figures leave out, and why."""

    side: str
    because: str
    kinds: tuple[str, ...] = ()
    name: str = ""
    scope: str = ""
    line: str = ""
    path: str = ""
    is_repeated: bool = False
    after: str = ""

    def holds(self, found: Definition) -> bool:
        patterns = (
            (self.name, found.name),
            (self.scope, found.scope),
            (self.line, found.text),
            (self.path, found.path),
        )
        return (not self.kinds or found.kind in self.kinds) and all(
            not pattern or re.search(pattern, text) for pattern, text in patterns
        )


@dataclass(frozen=True, slots=True)
class Yardstick:
    """One language: where its sources come from, and what means the same on both sides."""

    name: str
    ctags: str
    fetch: str
    package: str
    suffixes: tuple[str, ...]
    kinds: Mapping[str, tuple[str, ...]]
    adapters: tuple[str, ...]
    folders: tuple[str, ...] = ("**/*",)
    inner: str = ""
    options: tuple[str, ...] = ()
    joint: str = ""
    apart: str = ""
    left_out: tuple[LeftOut, ...] = ()
    aim: float | None = None


def load() -> dict[str, Yardstick]:
    """Every yardstick, by the name of its language."""
    paths = sorted(FOLDER.glob("*.toml"))
    return {path.stem: _yardstick(path.stem, tomllib.loads(path.read_text())) for path in paths}


def _yardstick(name: str, document: dict[str, Any]) -> Yardstick:
    rules = tuple(LeftOut(**_frozen(rule)) for rule in document.pop("left_out", []))
    members = {"name": name, "adapters": [name], **document, "kinds": _frozen(document["kinds"])}
    return Yardstick(**_frozen(members), left_out=rules)


def _frozen(members: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in members.items()}
