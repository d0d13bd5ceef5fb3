"""Units in which budgets are counted, by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from pcpfs.errors import UsageError

DEFAULT = "bytes/4"
TOKENIZERS = ("o200k", "cl100k")
"""Vocabularies of the extra `tokens`; what looks like a special token is plain text to them."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts what an entry costs. Exact: what a view says it costs is what this says of it.

    A text of more than `densest` characters a token (None: nobody knows) need not be counted.
    """

    name: str
    count: Callable[[str], int]
    densest: int | None = None

    def surely_costs(self, characters: int) -> int:
        """What a text of so many characters costs at least."""
        return 0 if self.densest is None else -(-characters // self.densest)

    def fits(self, text: str, room: int) -> int | None:
        """What a text costs; None if that is more than `room`."""
        if self.surely_costs(len(text)) > room:
            return None
        cost = self.count(text)
        return cost if cost <= room else None


def counter_named(name: str = DEFAULT) -> TokenCounter:
    """The counter of that name; UsageError for one that is unknown or not installed."""
    if name == DEFAULT:
        return TokenCounter(name, _quarter_of_bytes, 4)
    if name not in TOKENIZERS:
        raise UsageError(f"there is no counter {name!r}: {', '.join((DEFAULT, *TOKENIZERS))}")
    try:
        bpe_openai = import_module("bpe_openai")
    except ImportError as error:
        raise UsageError(
            f"counting in {name} needs an extra: pip install 'pcpfs[tokens]'"
        ) from error
    encoding = bpe_openai.get_encoding(f"{name}_base")

    def count(text: str) -> int:
        try:
            return len(encoding.encode_ordinary(text))
        except bpe_openai.TokenLimitError:
            return sys.maxsize  # more than 200,000: never shown whole

    return TokenCounter(name, count)


def _quarter_of_bytes(text: str) -> int:
    return -(-len(text.encode("utf-8")) // 4)
