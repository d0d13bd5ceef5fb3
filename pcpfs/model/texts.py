"""Bytes that are text, in whatever encoding."""

from __future__ import annotations


def decoded(raw: bytes) -> str:
    """Text for searching and showing: UTF-16 by its mark, else UTF-8, else Latin-1."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
