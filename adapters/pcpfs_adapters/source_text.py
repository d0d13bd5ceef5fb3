"""Bytes of any encoding as UTF-8 for a parser, with every offset led back to the very byte.

Which encoding: a byte order mark decides; then NUL bytes at every other place (UTF-16); then what
is valid UTF-8 is UTF-8; then a `coding:` line, if each character's own encoding makes up exactly
the file; then UTF-8 with damage, when most of what is not ASCII is UTF-8; then Latin-1.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

_BOMS = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_COOKIE = re.compile(rb"\A(?:[^\n]*\n)?[^\n]*?coding[:=][ \t]*([-\w.]+)")
_NO_CHARSETS = frozenset({"unicode_escape", "raw_unicode_escape", "mbcs", "oem"})
_NOT_ASCII = bytes(range(128, 256))
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE_CR = re.compile(rb"\r(?!\n)")
_STEP = 256
_SAMPLE = 4096


@dataclass(frozen=True, slots=True)
class _Transcoding:
    """How offsets of the UTF-8 lead back: pairs of offsets, one for every `_STEP` characters."""

    text: str
    codec: str
    errors: str
    utf8_marks: Sequence[int]
    raw_marks: Sequence[int]

    def origin(self, utf8: bytes, offset: int) -> int:
        at = bisect_right(self.utf8_marks, offset) - 1
        passed = len(utf8[self.utf8_marks[at] : offset].decode("utf-8", "ignore"))
        piece = self.text[at * _STEP : at * _STEP + passed]
        return self.raw_marks[at] + len(piece.encode(self.codec, self.errors))


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source, and the UTF-8 that stands for it.

    `utf8` is what lines are counted in; `parsed` has the same length, with NUL bytes and lone
    carriage returns replaced, because grammars stop at the one and run on at the other.
    """

    raw: bytes
    utf8: bytes
    parsed: bytes
    encoding: str = "utf-8"
    notes: tuple[str, ...] = ()
    transcoding: _Transcoding | None = None

    def origin(self, offset: int) -> int:
        """The offset in `raw` of the character at this offset of `utf8`."""
        return self.transcoding.origin(self.utf8, offset) if self.transcoding else offset

    def without(self, pattern: str) -> SourceText:
        """The same with spaces for `(?P<macro>…)` of each match in `parsed`, so that a grammar can
        read the rest."""
        if not pattern:
            return self
        return replace(self, parsed=re.sub(pattern.encode(), _without_macro, self.parsed))

    def text(self, start: int, end: int) -> str:
        return self.parsed[start:end].decode("utf-8", "replace")

    @property
    def line_count(self) -> int:
        """Lines end at LF; a last line without one counts."""
        return self.utf8.count(b"\n") + (self.utf8 != b"" and not self.utf8.endswith(b"\n"))


_NOT_LINE_ENDS = re.compile(rb"[^\r\n]")


def _without_macro(found: re.Match[bytes]) -> bytes:
    start, end = (place - found.start() for place in found.span("macro"))
    return found[0][:start] + _NOT_LINE_ENDS.sub(b" ", found[0][start:end]) + found[0][end:]


def read(raw: bytes) -> SourceText:
    """Decode any bytes; never fails, and says in `notes` what it had to assume."""
    return _by_mark(raw) or _by_nuls(raw) or _as_utf8(raw) or _by_cookie(raw) or _damaged(raw)


def _by_mark(raw: bytes) -> SourceText | None:
    for bom, codec in _BOMS:
        if raw.startswith(bom):
            found = _wide(raw, codec, len(bom))
            if found is not None:
                return found
    return None


def _by_nuls(raw: bytes) -> SourceText | None:
    """UTF-16 without a mark: text that is mostly ASCII has NUL in nearly every second byte."""
    sample = raw[:_SAMPLE]
    low, high = sample[0::2].count(0), sample[1::2].count(0)
    if len(sample) < 4 or max(low, high) * 2.5 < len(sample) or min(low, high) * 20 > len(sample):
        return None
    return _wide(raw, "utf-16-le" if high > low else "utf-16-be", 0)


def _wide(raw: bytes, codec: str, skip: int) -> SourceText | None:
    unit = 4 if codec.startswith("utf-32") else 2
    whole = len(raw) - (len(raw) - skip) % unit
    if unit == 2 and whole - skip >= 2 and _ends_in_half_a_pair(raw[whole - 2 : whole], codec):
        whole -= 2
    notes = () if whole == len(raw) else ("ends within a character",)
    return _transcoded(raw, codec, errors="surrogatepass", part=(skip, whole), notes=notes)


def _ends_in_half_a_pair(last: bytes, codec: str) -> bool:
    return last[1 if codec == "utf-16-le" else 0] & 0xFC == 0xD8


def _as_utf8(raw: bytes) -> SourceText | None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    encoding = "utf-8-sig" if raw.startswith(b"\xef\xbb\xbf") else "utf-8"
    parsed, notes = _repaired(raw)
    return SourceText(raw, raw, parsed, encoding, notes)


def _by_cookie(raw: bytes) -> SourceText | None:
    cookie = _COOKIE.search(raw[:_SAMPLE])
    if cookie is None:
        return None
    try:
        codec = codecs.lookup(cookie[1].decode("ascii")).name
    except LookupError:
        return None
    if codec in _NO_CHARSETS or not _is_exact(raw, codec):
        return None
    return _transcoded(raw, codec)


def _is_exact(raw: bytes, codec: str) -> bool:
    """Whether each character's own encoding makes up just these bytes: else offsets would lie."""
    try:
        text = raw.decode(codec)
        pieces = {character: character.encode(codec) for character in set(text)}
    except (LookupError, ValueError):
        return False
    return b"".join(map(pieces.__getitem__, text)) == raw


def _damaged(raw: bytes) -> SourceText:
    text = raw.decode("utf-8", "surrogateescape")
    bad = len(text) - len(_SURROGATE.sub("", text))
    good = len(text) - bad - len(raw.translate(None, _NOT_ASCII))
    if good > bad:
        notes: tuple[str, ...] = (f"{bad} bytes are not UTF-8",)
        found = _transcoded(raw, "utf-8", errors="surrogateescape", notes=notes)
    else:
        notes = ("not UTF-8: read as Latin-1",)
        found = _transcoded(raw, "latin-1", notes=notes)
    assert found is not None  # both decode any bytes, one character at a time
    return found


def _transcoded(
    raw: bytes,
    codec: str,
    *,
    errors: str = "strict",
    part: tuple[int, int] | None = None,
    notes: tuple[str, ...] = (),
) -> SourceText | None:
    """None if these bytes are not of this codec, which encodes each character by itself."""
    skip, end = part or (0, len(raw))
    try:
        text = raw[skip:end].decode(codec, errors)
    except ValueError:
        return None
    clean = _SURROGATE.sub("\ufffd", text)
    utf8 = clean.encode("utf-8")
    parsed, repairs = _repaired(utf8)
    steps = [slice(at, at + _STEP) for at in range(0, len(text), _STEP)]
    utf8_marks = accumulate((len(clean[step].encode()) for step in steps), initial=0)
    raw_marks = accumulate((len(text[step].encode(codec, errors)) for step in steps), initial=skip)
    transcoding = _Transcoding(text, codec, errors, tuple(utf8_marks), tuple(raw_marks))
    return SourceText(raw, utf8, parsed, codec, notes + repairs, transcoding)


def _repaired(utf8: bytes) -> tuple[bytes, tuple[str, ...]]:
    notes: tuple[str, ...] = ()
    parsed = utf8
    if b"\0" in parsed:
        parsed, notes = parsed.replace(b"\0", b" "), (*notes, "NUL bytes read as spaces")
    if parsed.count(b"\r") != parsed.count(b"\r\n"):
        parsed = _LONE_CR.sub(b"\n", parsed)
        notes = (*notes, "lone carriage returns read as line ends")
    return parsed, notes
