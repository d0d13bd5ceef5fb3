"""Finding what should not be kept: keys, tokens, private keys, passwords in URLs.

The patterns are those that the issuers publish for their keys, so that what they find is one; an
arbitrary word that happens to be somebody's password cannot be told from any other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

PASSWORD = "password"


class Secret(NamedTuple):
    """Characters [start, end) of a text, and what kind of secret they are."""

    kind: str
    start: int
    end: int


_PATTERNS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, tuple(signs.split()), re.compile(pattern, re.ASCII | re.DOTALL))
    for kind, signs, pattern in (
        (
            "private-key",
            "KEY-----",
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:.{0,16384}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|.{0,16384})",
        ),
        ("aws-key", "AKIA ASIA", r"\bA[KS]IA[0-9A-Z]{16}\b"),
        ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
        ("github-token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{50,255}\b"),
        ("gitlab-token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,64}"),
        (
            "slack-token",
            "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs-",
            r"\bxox[abeprs]-[A-Za-z0-9-]{10,200}",
        ),
        ("google-key", "AIza", r"\bAIza[0-9A-Za-z_-]{35}\b"),
        (
            "stripe-key",
            "k_live_ k_test_",
            r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,99}\b",
        ),
        ("model-key", "sk-", r"\bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{32,255}"),
        ("package-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("package-token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,255}\b"),
        ("web-token", "eyJ", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        (
            PASSWORD,
            "://",  # first, so that the search can jump from one to the next
            r"(?u:://(?<=[a-zA-Z0-9+.-]://)[\w.%+~$-]{1,200}:(?P<secret>[^\s/@]{3,200})@)",
        ),
    )
)
"""Kind, what every such secret holds one of (most texts hold none), and the whole pattern. Letters
other than ASCII's end a word, since many scripts write no space before a key."""

_PLACEHOLDERS = frozenset(
    word
    for words in (
        "bar baz foo qux xxx me my your user userid username",
        "pass passwd password pw pwd secret token changeme example",
    )
    for word in words.split()
)


def secrets_in(text: str) -> tuple[Secret, ...]:
    """All secrets in a text, in order, none overlapping another."""
    found: list[Secret] = []
    for secret in sorted(_all(text), key=lambda secret: (secret.start, -secret.end)):
        if not found or secret.start >= found[-1].end:
            found.append(secret)
    return tuple(found)


def withheld(text: str) -> str:
    """The text with `[withheld: kind]` in place of each secret."""
    parts: list[str] = []
    end = 0
    for secret in secrets_in(text):
        parts += [text[end : secret.start], f"[withheld: {secret.kind}]"]
        end = secret.end
    return "".join([*parts, text[end:]])


@dataclass(frozen=True, slots=True)
class SecretAccepted:
    """In this scope a certain secret is no secret: a digest of it with a salt, so that nobody who
    reads this learns it, or that it is one they know from elsewhere."""

    type: ClassVar[str] = "accepted"
    kind: str
    salt: str
    digest: str

    @classmethod
    def of(cls, kind: str, text: str, salt: str) -> Self:
        return cls(kind, salt, _salted(salt, text))

    def covers(self, text: str) -> bool:
        return self.digest == _salted(self.salt, text)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "salt": self.salt, "digest": self.digest}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(str(value["kind"]), str(value["salt"]), str(value["digest"]))


@dataclass(frozen=True, slots=True)
class SecretRefused:
    """The acceptance with this salt holds no more, whenever it was given."""

    type: ClassVar[str] = "unaccepted"
    salt: str

    def to_json(self) -> dict[str, object]:
        return {"salt": self.salt}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(str(value["salt"]))


def _salted(salt: str, text: str) -> str:
    return hashlib.sha256(f"{salt}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def place_of(text: str, secret: Secret) -> tuple[int, int]:
    """Line and column, from 1, of the first character of a secret."""
    before = text[: secret.start]
    return before.count("\n") + 1, secret.start - (before.rfind("\n") + 1) + 1


def is_placeholder(text: str) -> bool:
    """Whether a password in a URL only shows where one would stand, as in `user:password@host`,
    `{password}`, `$TOKEN` or `***`."""
    words = [word for word in re.split(r"[\W_]+", text.casefold()) if word]
    return not words or text[0] in "{<[$%*(" or all(word in _PLACEHOLDERS for word in words)


def _all(text: str) -> Iterator[Secret]:
    for kind, signs, pattern in _PATTERNS:
        if not any(sign in text for sign in signs):
            continue
        group = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            yield Secret(kind, *match.span(group))
