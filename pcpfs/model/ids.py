"""Ids: each kind is a type of its own, validated at birth.

All are strings, so they serialise as themselves. Random and derived ids carry 128 bits in
lower-case Crockford base32 (26 characters); content addresses carry sha256 in hex.
"""

from __future__ import annotations

import hashlib
import re
from typing import ClassVar, Self

from pcpfs.errors import InvalidName

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_SHIFTS = tuple(range(120, -1, -10))
_B32 = f"[{_ALPHABET}]{{26}}"


def base32(value: bytes) -> str:
    """16 bytes as 26 Crockford characters, most significant first (so time-ordered ids sort)."""
    number = int.from_bytes(value[:16], "big")
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in _SHIFTS])


def derived(*parts: str) -> str:
    """26 characters that depend on nothing but the parts; no two part lists collapse."""
    hasher = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogateescape")
        hasher.update(b"%d:" % len(raw) + raw)
    return base32(hasher.digest()[:16])


class Id(str):
    """A string that was checked against its kind's pattern; InvalidName otherwise."""

    __slots__ = ()
    pattern: ClassVar[re.Pattern[str]]
    example: ClassVar[str]

    def __new__(cls, value: str) -> Self:
        if cls.pattern.fullmatch(value) is None:
            raise InvalidName(
                f"{value!r} is no {cls.__name__}; one looks like {cls.example}", given=value
            )
        return super().__new__(cls, value)

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)


class PageId(Id):
    """`pg_` + 26 characters; stable for the life of a page (PCP-P3)."""

    __slots__ = ()
    pattern = re.compile("pg_" + _B32)
    example = "pg_01k0w3v5c8e2f9g4h6j7k8m9na"

    @classmethod
    def authored(cls, time_ordered: bytes) -> PageId:
        """The id of a new page from 16 time-ordered random bytes (a version 7 UUID)."""
        return cls("pg_" + base32(time_ordered))

    @classmethod
    def keyed(cls, namespace: str, key: str, erased: int) -> PageId:
        """The id that an idempotency key names; `erased` counts erased pages that had it before."""
        return cls("pg_" + derived("key", namespace, key, str(erased)))

    @classmethod
    def of_source(cls, namespace: str, root: str, path: str) -> PageId:
        """The id of the source page of one path under one root."""
        return cls("pg_" + derived("source", namespace, root, path))


class RevisionId(Id):
    """`rev_` + sha256 of the canonical envelope."""

    __slots__ = ()
    pattern = re.compile("rev_[0-9a-f]{64}")
    example = "rev_3fa9… (64 hex digits)"

    @classmethod
    def of(cls, envelope: bytes) -> RevisionId:
        return cls("rev_" + hashlib.sha256(envelope).hexdigest())


class ChangeId(Id):
    """`chg_` + the first 32 hex digits of the sha256 of the change's own bytes."""

    __slots__ = ()
    pattern = re.compile("chg_[0-9a-f]{32}")
    example = "chg_0c11… (32 hex digits)"

    @classmethod
    def of(cls, change: bytes) -> ChangeId:
        return cls("chg_" + hashlib.sha256(change).hexdigest()[:32])


class FrameId(Id):
    """`fr_` + 26 characters from page, qualified name and kind; survives edits of the symbol."""

    __slots__ = ()
    pattern = re.compile("fr_" + _B32)
    example = "fr_4h6j7k8m9na01k0w3v5c8e2f9g"


class RelationId(Id):
    """`rel_` + 26 characters."""

    __slots__ = ()
    pattern = re.compile("rel_" + _B32)
    example = "rel_4h6j7k8m9na01k0w3v5c8e2f9g"


class RootId(Id):
    """`root_` + 26 random characters, chosen at the first `add`."""

    __slots__ = ()
    pattern = re.compile("root_" + _B32)
    example = "root_4h6j7k8m9na01k0w3v5c8e2f9g"


class CloneId(Id):
    """`cl_` + 26 random characters: one copy of the store on one machine."""

    __slots__ = ()
    pattern = re.compile("cl_" + _B32)
    example = "cl_4h6j7k8m9na01k0w3v5c8e2f9g"


class StoreId(Id):
    """`st_` + 26 random characters, the same in every clone."""

    __slots__ = ()
    pattern = re.compile("st_" + _B32)
    example = "st_4h6j7k8m9na01k0w3v5c8e2f9g"


class Digest(Id):
    """`sha256:` + 64 lower-case hex digits (CGP F5)."""

    __slots__ = ()
    pattern = re.compile("sha256:[0-9a-f]{64}")
    example = "sha256:3fa9… (64 hex digits)"

    @classmethod
    def of(cls, content: bytes | memoryview) -> Digest:
        return cls("sha256:" + hashlib.sha256(content).hexdigest())

    @property
    def hex(self) -> str:
        return self[7:]
