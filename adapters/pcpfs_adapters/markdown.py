"""Markdown headings as symbols: each runs to the next heading of its level or above.

A scanner of lines, linear in the size of any source, for what decides where headings are in
CommonMark: front matter, fences, indented code, HTML blocks, lists and quotes (headings inside
these structure the item, not the document, and are no symbols).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pcpfs.model.frames import Extraction
from pcpfs.model.marks import says_generated
from pcpfs_adapters.definitions import Span, Wording, nested, symbols
from pcpfs_adapters.source_text import SourceText, read

_ATX = re.compile(rb" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(rb" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
_BULLET = re.compile(rb" {0,3}(?:[-+*]|(\d{1,9})[.)])( +|$)")
_QUOTE = re.compile(rb" {0,3}>")
_RULES = (b"-", b"*", b"_")
_HTML_RUNS = (
    (re.compile(rb" {0,3}<script(?=[\s>]|$)", re.I), b"</script>"),
    (re.compile(rb" {0,3}<pre(?=[\s>]|$)", re.I), b"</pre>"),
    (re.compile(rb" {0,3}<style(?=[\s>]|$)", re.I), b"</style>"),
    (re.compile(rb" {0,3}<textarea(?=[\s>]|$)", re.I), b"</textarea>"),
    (re.compile(rb" {0,3}<!--"), b"-->"),
    (re.compile(rb" {0,3}<\?"), b"?>"),
    (re.compile(rb" {0,3}<!\[CDATA\["), b"]]>"),
    (re.compile(rb" {0,3}<![A-Za-z]"), b">"),
)
_HTML_BLOCK = re.compile(
    rb" {0,3}</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup"
    rb"|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]"
    rb"|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option"
    rb"|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)"
    rb"(?:\s|/?>|$)",
    re.I,
)
_HTML_TAG = re.compile(rb" {0,3}</?[A-Za-z][^<>]*>[ \t]*$")


@dataclass(frozen=True, slots=True)
class Markdown:
    name: str = "markdown"
    version: int = 2
    media_type: str = "text/markdown"
    suffixes: tuple[str, ...] = (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".qmd")
    filenames: tuple[str, ...] = ()

    def extract(self, source: bytes) -> Extraction:
        text = read(source)
        headings = list(_Scanner().headings(list(_lines(text))))
        made, notes = symbols(
            text,
            nested(_spans(text, headings)),
            lambda index: Wording("#" * headings[index].level + " " + headings[index].name),
        )
        return Extraction(
            adapter=self.name,
            version=self.version,
            language=self.name,
            symbols=made,
            encoding=text.encoding,
            line_count=text.line_count,
            notes=text.notes + notes,
            generated=says_generated(text.utf8),
        )


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    start: int
    name: str


@dataclass(frozen=True, slots=True)
class _Line:
    """A line without its end; `start` is an offset, `indent` counts columns of white space."""

    start: int
    content: bytes

    @property
    def lead(self) -> int:
        return len(self.content) - len(self.content.lstrip(b" \t"))

    @property
    def indent(self) -> int:
        return len(self.content[: self.lead].expandtabs(4))


class _Scanner:
    """The state between lines: which block is open."""

    def __init__(self) -> None:
        self._fence = b""
        self._html: bytes | None = None  # what ends the open HTML block; b"": a blank line
        self._item = 0  # columns to which the content of the open list item is indented
        self._paragraph: list[_Line] = []
        self._is_nested = False  # whether the open paragraph is that of a list item or quote

    def headings(self, lines: Sequence[_Line]) -> Iterator[_Heading]:
        for line in lines[_front_matter(lines) :]:
            if self._is_inside(line):
                continue
            heading = self._setext(line) or _atx(line)
            if heading is not None:
                self._close()
                yield heading
            else:
                self._read(line)

    def _close(self) -> None:
        self._paragraph, self._is_nested, self._item = [], False, 0

    def _is_inside(self, line: _Line) -> bool:
        """Whether the open block takes this line, whatever it looks like."""
        if self._fence:
            if _closes(line, self._fence):
                self._fence = b""
            return True
        is_blank = not line.content.strip()
        if self._html is not None:
            if is_blank if self._html == b"" else self._html in line.content.lower():
                self._html = None
            return True
        if is_blank:
            self._paragraph, self._is_nested = [], False
            return True
        is_in_item = 0 < self._item <= line.indent
        self._is_nested = self._is_nested or is_in_item
        return is_in_item

    def _setext(self, line: _Line) -> _Heading | None:
        underline = _SETEXT.match(line.content)
        if underline is None or not self._paragraph or self._is_nested:
            return None
        name = b" ".join(part.content for part in self._paragraph)
        first = self._paragraph[0]
        return _Heading(1 if underline[1][:1] == b"=" else 2, first.start + first.lead, _said(name))

    def _read(self, line: _Line) -> None:
        """Take a line that is no heading and inside no block: open what it opens."""
        if _is_rule(line):
            self._close()
        elif self._begins_item(line) or _QUOTE.match(line.content):
            self._paragraph, self._is_nested = [], True
        elif self._opens_fence(line) or self._opens_html(line):
            self._close()
        elif not self._is_nested:
            self._item = 0
            if self._paragraph or line.indent < 4:
                self._paragraph.append(line)

    def _begins_item(self, line: _Line) -> bool:
        content = line.content.expandtabs(4)
        bullet = _BULLET.match(content)
        if bullet is None or (self._paragraph and not _may_interrupt(bullet, content)):
            return False
        space = len(bullet[2])
        self._item = bullet.start(2) + (space if 1 <= space <= 4 else 1)
        return True

    def _opens_fence(self, line: _Line) -> bool:
        fence = _FENCE.match(line.content)
        if fence is None or (fence[1][:1] == b"`" and b"`" in line.content[fence.end() :]):
            return False
        self._fence = fence[1]
        return True

    def _opens_html(self, line: _Line) -> bool:
        for begin, end in _HTML_RUNS:
            opening = begin.match(line.content)
            if opening is not None:
                self._html = None if end in line.content[opening.end() :].lower() else end
                return True
        is_tag = not self._paragraph and _HTML_TAG.match(line.content)
        if is_tag or _HTML_BLOCK.match(line.content):
            self._html = b""
            return True
        return False


def _atx(line: _Line) -> _Heading | None:
    mark = _ATX.match(line.content)
    if mark is None:
        return None
    text = line.content[mark.end() :].strip()
    bare = text.rstrip(b"#")
    if not bare or bare[-1:] in b" \t":
        text = bare
    return _Heading(len(mark[1]), line.start + mark.start(1), _said(text))


def _closes(line: _Line, fence: bytes) -> bool:
    text = line.content.strip()
    return line.indent < 4 and len(text) >= len(fence) and not text.strip(fence[:1])


def _is_rule(line: _Line) -> bool:
    marks = line.content.translate(None, b" \t")
    is_uniform = len(marks) >= 3 and not marks.strip(marks[:1])
    return is_uniform and marks[:1] in _RULES and line.indent < 4


def _may_interrupt(bullet: re.Match[bytes], content: bytes) -> bool:
    """In a paragraph only a list that starts at 1 and is not empty begins (`1986. A year`)."""
    return bullet[1] in (None, b"1") and bool(content[bullet.end() :].strip())


def _front_matter(lines: Sequence[_Line]) -> int:
    """How many lines at the top are YAML or TOML."""
    fence = lines[0].content.rstrip() if lines else b""
    if fence not in (b"---", b"+++") or len(lines) < 2 or not lines[1].content.strip():
        return 0
    ends = (fence, b"...") if fence == b"---" else (fence,)
    for index in range(1, len(lines)):
        if lines[index].content.rstrip() in ends:
            return index + 1
    return 0


def _said(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())


def _lines(text: SourceText) -> Iterator[_Line]:
    start = 3 if text.encoding == "utf-8-sig" else 0
    for content in text.parsed[start:].split(b"\n"):
        yield _Line(start, content.removesuffix(b"\r"))
        start += len(content) + 1


def _spans(text: SourceText, headings: Sequence[_Heading]) -> list[Span]:
    """A heading without a name only ends the sections before it."""
    ends = [len(text.parsed)] * len(headings)
    still_open: list[int] = []
    for index, heading in enumerate(headings):
        while still_open and headings[still_open[-1]].level >= heading.level:
            ends[still_open.pop()] = heading.start
        still_open.append(index)
    return [_span(text, heading, end) for heading, end in zip(headings, ends, strict=True)]


def _span(text: SourceText, heading: _Heading, end: int) -> Span:
    while end > heading.start and text.parsed[end - 1] in b" \t\r\n":
        end -= 1
    if not heading.name:
        return Span("", (), heading.start, end)
    return Span("heading", (heading.name,), heading.start, end)
