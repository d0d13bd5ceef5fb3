"""Errors as people and scripts see them: the one place that knows exit codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from pcpfs import errors

EXIT_CODES: tuple[tuple[type[errors.PcpfsError], int], ...] = (
    (errors.UsageError, 2),
    (errors.NotFound, 3),
    (errors.Conflict, 4),
    (errors.NotPermitted, 5),
    (errors.Corrupt, 6),
    (errors.Unavailable, 7),
)
USAGE, INTERNAL, INTERRUPTED = 2, 70, 130
REPORT = "please report it with what PCPFS_DEBUG=1 prints"


@dataclass(frozen=True, slots=True)
class Failure:
    """What to say about an error, and how to exit."""

    exit_code: int
    code: str
    message: str
    fields: Mapping[str, object]

    def to_json(self) -> dict[str, object]:
        return {"code": self.code, "message": self.message, **self.fields}

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Any exception: ours, click's, or one that nobody expected."""
        if isinstance(error, errors.PcpfsError):
            code = next((code for kind, code in EXIT_CODES if isinstance(error, kind)), INTERNAL)
            return cls(code, error.code, error.message, error.fields)
        if isinstance(error, click.Abort | KeyboardInterrupt):
            return cls(INTERRUPTED, "interrupted", "interrupted", {})
        if isinstance(error, click.ClickException):
            return cls(USAGE, "usage", _usage(error), {})
        what = f"{type(error).__name__}: {error}"
        return cls(INTERNAL, "internal", f"{what}; this is a mistake in pcpfs, {REPORT}", {})


def _usage(error: click.ClickException) -> str:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    message = error.format_message().strip().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        message += " ('--' goes before words that start with a dash)"
    return f"{message}; see '{ctx.command_path if ctx else 'pcpfs'} --help'"
