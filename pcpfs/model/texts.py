"""Bytes that are text, in whatever encoding."""

from __future__ import annotations


def decoded(raw: bytes) -> str:
    """Text for searching and showing: UTF-16 by its mark, else UTF-8, else Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode(encoding_of(raw), "replace")


def encoding_of(raw: bytes) -> str:
    """What `decoded` reads it as."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
