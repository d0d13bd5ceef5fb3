"""Finding what should not be kept: keys, tokens, private keys, passwords in URLs.

The patterns are those that the issuers publish for their keys, so that what they find is one; an
arbitrary word that happens to be somebody's password cannot be told from any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Secret(NamedTuple):
    """Characters [start, end) of a text, and what kind of secret they are."""

    kind: str
    start: int
    end: int


_PATTERNS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, sign, re.compile(pattern, re.DOTALL))
    for kind, sign, pattern in (
        (
            "private-key",
            "PRIVATE KEY",
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:.{0,16384}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|.{0,16384})",
        ),
        ("aws-key", "AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
        ("aws-key", "ASIA", r"\bASIA[0-9A-Z]{16}\b"),
        ("github-token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
        ("github-token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{50,255}\b"),
        ("gitlab-token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,64}"),
        ("slack-token", "xox", r"\bxox[abeprs]-[A-Za-z0-9-]{10,200}"),
        ("google-key", "AIza", r"\bAIza[0-9A-Za-z_-]{35}\b"),
        ("stripe-key", "k_", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,99}\b"),
        ("model-key", "sk-", r"\bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{32,255}"),
        ("package-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("package-token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,255}\b"),
        ("web-token", "eyJ", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        (
            "password",
            "://",
            r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@]{1,200}:(?P<secret>[^\s/@]{3,200})@",
        ),
    )
)
"""Kind, what every such secret holds (most texts hold none of these), and the whole pattern."""


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


def _all(text: str) -> Iterator[Secret]:
    for kind, sign, pattern in _PATTERNS:
        if sign not in text:
            continue
        group = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            yield Secret(kind, *match.span(group))
