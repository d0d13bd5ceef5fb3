"""Git's ignore rules, also for `.pcpfsignore`; pure: text of rule files in, decisions out.

A rule is asked about an entry itself, never about what lies below it: the scan does not enter an
ignored directory. (pathspec answers for whole paths and disagrees with git on one in fifteen random
trees when directories are pruned, and on names with a line feed.) All matching is on bytes, as git
does: `?` is one byte. Every `*` and `**` but the last is matched leftmost and never reconsidered,
which is complete for globs and keeps hostile patterns linear in each star.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"\x21-\x7e",
    b"lower": rb"a-z",
    b"print": rb"\x20-\x7e",
    b"punct": rb"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    b"space": rb" \t\n\r\f\v",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}
_BOM = b"\xef\xbb\xbf"
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_TOKEN = re.compile(rb"\\(.)|(\*+)|(\?)|(\[)|([^\\*?\[]+)", re.DOTALL)


class _NeverMatches(Exception):
    """A pattern that git accepts but that no name can match, such as an unclosed `[`."""


class Pattern(NamedTuple):
    """One rule; `anchored` rules are matched against the path, others against the last name."""

    text: str
    regex: bytes
    negated: bool
    directories_only: bool
    anchored: bool


def parse_pattern(line: bytes) -> Pattern | None:
    """Read one line of a rule file; None for blanks, comments and what can never match."""
    text = _without_trailing_spaces(line.removesuffix(b"\r"))
    glob = text.removeprefix(b"!")
    directories_only = glob.endswith(b"/")
    glob = glob[:-1] if directories_only else glob
    anchored = b"/" in glob
    glob = _ESCAPE.sub(
        lambda found: b"/" if found[1] == b"/" else found[0], glob.removeprefix(b"/")
    )
    if not glob or glob.startswith(b"/") or line.startswith(b"#"):
        return None
    try:
        regex = _path_regex(glob) if anchored else _segment_regex(glob)
    except _NeverMatches:
        return None
    shown = text.decode("utf-8", "surrogateescape")
    return Pattern(shown, regex, text.startswith(b"!"), directories_only, anchored)


def _without_trailing_spaces(line: bytes) -> bytes:
    kept = line.rstrip(b" ")
    backslashes = len(kept) - len(kept.rstrip(b"\\"))
    return line[: len(kept) + 1] if backslashes % 2 and len(kept) < len(line) else kept


def _path_regex(glob: bytes) -> bytes:
    """A path pattern: segments, where `**` stands for any number of them."""
    segments = glob.split(b"/")
    chunks: list[list[bytes]] = [[]]
    for position, segment in enumerate(segments):
        if set(segment) != {ord("*")} or len(segment) == 1:
            chunks[-1].append(_segment_regex(segment))
        elif position == len(segments) - 1:
            chunks[-1].append(rb".+")
        elif chunks[-1] or len(chunks) == 1:
            chunks.append([])
    first, *rest = (b"/".join(chunk) for chunk in chunks)
    if not rest:
        return first
    inner = b"".join(rb"(?>(?:[^/]+/)*?%s/)" % chunk for chunk in rest[:-1])
    return (first + b"/" if first else b"") + inner + rb"(?:[^/]+/)*" + rest[-1]


def _segment_regex(segment: bytes) -> bytes:
    """A pattern for one name; `*` never crosses a slash."""
    chunks = [b""]
    position = 0
    while position < len(segment):
        token = _TOKEN.match(segment, position)
        if token is None:
            raise _NeverMatches
        escaped, stars, question, bracket, literal = token.groups()
        position = token.end()
        if stars:
            chunks.append(b"")
        elif bracket:
            regex, position = _bracket_regex(segment, position)
            chunks[-1] += regex
        else:
            chunks[-1] += rb"[^/]" if question else re.escape(escaped or literal)
    first, *rest = chunks
    inner = b"".join(rb"(?>[^/]*?%s)" % chunk for chunk in rest[:-1] if chunk)
    return first + inner + (rb"[^/]*" + rest[-1] if rest else b"")


def _bracket_regex(segment: bytes, position: int) -> tuple[bytes, int]:
    """The regex of the bracket expression that opened just before, and where it ends."""
    negated = segment[position : position + 1] in (b"!", b"^")
    position += negated
    items: list[bytes] = []
    start = position
    while position == start or segment[position : position + 1] != b"]":
        item, position = _bracket_item(segment, position)
        items.append(item)
    body = b"".join(items)
    if negated:
        return rb"[^/%s]" % body, position + 1
    return (rb"(?!/)[%s]" % body if body else rb"(?!)"), position + 1


def _bracket_item(segment: bytes, position: int) -> tuple[bytes, int]:
    if segment.startswith(b"[:", position):
        end = segment.find(b":]", position + 2)
        name = segment[position + 2 : end]
        if end < 0 or name not in _CLASSES:
            raise _NeverMatches
        return _CLASSES[name], end + 2
    low, position = _bracket_byte(segment, position)
    is_range = segment[position : position + 1] == b"-"
    if not is_range or segment[position + 1 : position + 2] in (b"]", b""):
        return b"\\x%02x" % low, position
    high, position = _bracket_byte(segment, position + 1)
    return (b"\\x%02x-\\x%02x" % (low, high) if low <= high else b""), position


def _bracket_byte(segment: bytes, position: int) -> tuple[int, int]:
    position += segment[position : position + 1] == b"\\"
    if position >= len(segment):
        raise _NeverMatches
    return segment[position], position + 1


class RuleFile:
    """The rules of one file. `name` says where it lies, for people."""

    def __init__(self, name: str, patterns: Sequence[Pattern]) -> None:
        self.name = name
        self._patterns = patterns
        self._any_name = _any_of([p.regex for p in patterns if not p.anchored])
        self._any_path = _any_of([p.regex for p in patterns if p.anchored])

    def __bool__(self) -> bool:
        return bool(self._patterns)

    @cached_property
    def _backwards(self) -> tuple[tuple[Pattern, re.Pattern[bytes]], ...]:
        """Compiled only when some rule speaks: compiling is what costs."""
        return tuple((p, re.compile(p.regex, re.DOTALL)) for p in reversed(self._patterns))

    @classmethod
    def parse(cls, name: str, content: bytes) -> RuleFile:
        """Read a rule file; lines that mean nothing are passed over, as git does."""
        lines = content.removeprefix(_BOM).split(b"\n")
        return cls(name, [p for p in map(parse_pattern, lines) if p is not None])

    def decides(self, path: bytes, name: bytes, directory: bool) -> Pattern | None:
        """The last rule that speaks of this entry. `path` is relative to the rules' directory."""
        if not (self._any_name.fullmatch(name) or self._any_path.fullmatch(path)):
            return None
        for pattern, regex in self._backwards:
            if pattern.directories_only and not directory:
                continue
            if regex.fullmatch(path if pattern.anchored else name):
                return pattern
        return None


def _any_of(regexes: Sequence[bytes]) -> re.Pattern[bytes]:
    """One regex that tells quickly whether any rule could speak; for nearly all names none does."""
    return re.compile(b"|".join(b"(?:%s)" % regex for regex in regexes) or rb"(?!)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Level:
    """Rules with where they stand: `cut` bytes of a path are the rules' own directory; `above` is
    put before it when they stand above the root."""

    rules: RuleFile
    cut: int = 0
    above: bytes = b""


@dataclass(frozen=True, slots=True)
class Ignores:
    """All rules that hold in one directory, the nearest first.

    Any `.pcpfsignore` outranks any git rule, so that a person can take in what git leaves out.
    """

    ours: tuple[_Level, ...] = ()
    gits: tuple[_Level, ...] = ()

    def below(self, directory: str, ours: RuleFile | None, gits: Iterable[RuleFile]) -> Ignores:
        """The rules inside `directory` (empty for the root), given its own; last of `gits` wins."""
        cut = len(os.fsencode(directory)) + 1 if directory else 0
        own = (_Level(ours, cut),) if ours else ()
        git = tuple(_Level(rules, cut) for rules in gits)
        return Ignores(own + self.ours, git[::-1] + self.gits) if own or git else self

    def seen_from(self, inner: str) -> Ignores:
        """The same rules for paths that are relative to the directory `inner`."""
        prefix = os.fsencode(inner) + b"/"

        def moved(levels: tuple[_Level, ...]) -> tuple[_Level, ...]:
            return tuple(_Level(level.rules, 0, prefix[level.cut :]) for level in levels)

        return Ignores(moved(self.ours), moved(self.gits))

    def why(self, path: str, directory: bool) -> str | None:
        """Which rule ignores this entry, for people; None if it is not ignored."""
        if not (self.ours or self.gits):
            return None
        raw = os.fsencode(path)
        name = raw.rpartition(b"/")[2]
        for level in chain(self.ours, self.gits):
            pattern = level.rules.decides(level.above + raw[level.cut :], name, directory)
            if pattern is not None:
                return None if pattern.negated else f"by {level.rules.name}: {pattern.text}"
        return None


def matcher(patterns: Sequence[str]) -> RuleFile:
    """`--include` patterns, in the same syntax."""
    return RuleFile.parse("--include", os.fsencode("\n".join(patterns)))
