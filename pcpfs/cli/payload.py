"""What is written: the bytes of a file or of standard input, or where they lie, and what the
options say of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pcpfs.cli.files import read_file
from pcpfs.errors import Unavailable

if TYPE_CHECKING:
    from pcpfs.cli.call import Call
    from pcpfs.model.requests import Draft

BYTES, MARKDOWN = "application/octet-stream", "text/markdown"


def read_draft(
    call: Call,
    file: str | None,
    *,
    tags: tuple[str, ...],
    ref: str | None = None,
    digest: str | None = None,
    size: int | None = None,
    **given: Any,
) -> Draft:
    """The text, or where it lies, and what the options say about it; no tags given means that they
    are not told."""
    from pcpfs.model.requests import Draft  # noqa: PLC0415 (help needs no model)

    content, reference = None, None
    if ref is not None:
        from pcpfs.store.elsewhere import looked_up  # noqa: PLC0415 (seldom needed)

        if file is not None:
            raise click.UsageError("give a FILE, or --ref to where it lies, not both")
        kind = given.get("media_type") or media_type_for(ref, b"\0")
        reference = looked_up(ref, digest, size, kind, call.store.disk)
    elif digest is not None or size is not None:
        raise click.UsageError("--digest and --size say what lies at --ref URI")
    elif file is not None:
        content = read_payload(file)
    elif not given.get("source_refs"):
        raise click.UsageError("give a FILE, '-' for standard input, --ref URI or --source-ref REF")
    return Draft(content, tags=tags or None, content_ref=reference, **given)


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
