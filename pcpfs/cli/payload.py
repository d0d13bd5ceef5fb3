"""What is written: the bytes of a file or of standard input, and what the options say of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pcpfs.cli.files import read_file
from pcpfs.errors import Unavailable

if TYPE_CHECKING:
    from pcpfs.store.writes import Draft

BYTES, MARKDOWN = "application/octet-stream", "text/markdown"


def read_draft(file: str, *, tags: tuple[str, ...], **given: Any) -> Draft:
    """The text, and what the options say about it; no tags given means that they are not told."""
    from pcpfs.store.writes import Draft  # noqa: PLC0415 (help needs no store)

    return Draft(read_payload(file), tags=tags or None, **given)


def read_payload(given: str) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    if given != "-":
        return read_file(given)
    if sys.stdin is None:
        raise Unavailable("standard input is closed; give the text there, or name a file")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise Unavailable(f"standard input cannot be read: {error.strerror}") from error


def media_type_for(given: str, content: bytes) -> str:
    """What the file's ending tells, else Markdown for UTF-8 text, else bytes."""
    from pcpfs.model.names import media_type_of  # noqa: PLC0415 (help needs no model)

    told = media_type_of(given) if given != "-" else None
    return told or (MARKDOWN if _is_text(content) else BYTES)


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
