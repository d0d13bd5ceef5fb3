"""Cuts out of bytes: lines are split on LF only and keep it, as file digests want it (F5)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from pcpfs.model.ids import Digest
from pcpfs.model.texts import decoded

_HEAD = 8192
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cut:
    """Text to be served, and which bytes of its file show it: `lines` is None for all of them."""

    content: str
    lines: Lines | None
    digest: Digest


@dataclass(frozen=True)
class Text:
    """Bytes with their lines, counted from 1."""

    raw: bytes

    @cached_property
    def is_readable(self) -> bool:
        """Whether this is text at all."""
        return b"\0" not in self.raw[:_HEAD] or self._is_wide

    @property
    def _is_wide(self) -> bool:
        return self.raw[:2] in _UTF_16

    @cached_property
    def _starts(self) -> list[int]:
        starts, at = [0], self.raw.find(b"\n")
        while at >= 0 and at + 1 < len(self.raw):
            starts.append(at + 1)
            at = self.raw.find(b"\n", at + 1)
        return starts

    @property
    def line_count(self) -> int:
        return len(self._starts)

    def whole(self) -> Cut:
        return Cut(decoded(self.raw), None, self._digest)

    @cached_property
    def _digest(self) -> Digest:
        return Digest.of(self.raw)

    def lines(self, lines: Lines) -> Cut | None:
        """Some lines; None if they are not there. What is not one byte a character for ASCII can
        only be cited as a whole."""
        first, last = lines
        if not 1 <= first <= last <= self.line_count:
            return None
        if (first, last) == (1, self.line_count):
            return self.whole()
        if self._is_wide:
            text = decoded(self.raw).split("\n")
            return Cut("\n".join(text[first - 1 : last]), None, self._digest)
        raw = self.raw[self._start(first) : self._start(last + 1)]
        return Cut(self._text(raw), lines, Digest.of(raw))

    def span(self, start: int, end: int) -> Cut:
        """The bytes [start, end), cited by their whole lines; these are served whole where nothing
        but space and punctuation is around."""
        first, last = self.line_of(start), self.line_of(max(end - 1, start))
        before = self.raw[self._start(first) : start]
        after = self.raw[end : self._start(last + 1)]
        if self._is_wide:
            mark = self.raw[:2]
            return Cut(decoded(mark + self.raw[start:end]).lstrip("\ufeff"), None, self._digest)
        lines = (first, last)
        cited = self.lines(lines)
        assert cited is not None, "a span lies within the bytes"
        if not before.strip() and not after.strip(b" \t\r\n;,"):
            return cited
        return Cut(self._text(self.raw[start:end]), cited.lines, cited.digest)

    def line_of(self, position: int) -> int:
        """The line that a byte is in."""
        return bisect_right(self._starts, position)

    def _start(self, line: int) -> int:
        return self._starts[line - 1] if line <= self.line_count else len(self.raw)

    def _text(self, part: bytes) -> str:
        """A part of the bytes, decoded as the whole is."""
        return part.decode("utf-8" if self.is_utf_8 else "latin-1", "replace")

    @cached_property
    def is_utf_8(self) -> bool:
        try:
            self.raw.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True
