"""Text of others as it may be shown: it cannot drive a terminal, end a line or reorder one."""

from __future__ import annotations

import re

_DRIVES = (
    "\x0b-\x1f\x7f-\x9f"  # controls, with LF, TAB and those before them below
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # reorder a line
    "\u2028\u2029\ud800-\udfff"  # end a line; bytes that were no UTF-8
)
_IN_A_LINE = re.compile(f"[\x00-\x0a{_DRIVES}]")
_IN_LINES = re.compile(f"[\x00-\x08{_DRIVES}]")


def safe(text: str) -> str:
    """The text on one line: control characters, bytes that were no UTF-8 and characters that
    reorder a line are written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return _IN_A_LINE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def inert(document: bytes) -> bytes:
    """JSON that says the same and cannot drive a terminal."""
    text = document.decode("utf-8", "surrogateescape")
    return _IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def safe_lines(text: str) -> str:
    """Text of several lines, made safe; a carriage return before a line feed is dropped."""
    return _IN_LINES.sub(_escaped, text.replace("\r\n", "\n"))
