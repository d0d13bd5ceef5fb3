"""Every error of pcpfs: one tree, stable codes, rendered only by the CLI and the servers.

A message tells a person what happened and what to do. What a program needs is in `fields`, which
becomes members of the JSON error document beside `code` and `message`.
"""

from __future__ import annotations

from collections.abc import Mapping


class PcpfsError(Exception):
    """Root of all errors that pcpfs raises on purpose."""

    code = "internal"

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields: Mapping[str, object] = {k: v for k, v in fields.items() if v is not None}


class UsageError(PcpfsError):
    """The request itself is wrong: a bad option, name, instant or path."""

    code = "usage"


class InvalidName(UsageError):
    """An id, scope, path, title or root name that pcpfs does not accept."""

    code = "invalid_name"


class InvalidInstant(UsageError):
    """An instant that is not RFC 3339, or has no time zone."""

    code = "invalid_instant"


class BadMessage(UsageError):
    """A message of a protocol that cannot be understood."""

    code = "bad_request"


class NotFound(PcpfsError):
    """What was named is not there, or not visible to this principal (PCP-S2: the same answer)."""

    code = "not_found"


class Conflict(PcpfsError):
    """The write was based on something that is no longer current (PCP-R3)."""

    code = "conflict"


class KeyReused(Conflict):
    """An idempotency key that already names other bytes."""

    code = "key_reused"


class NotPermitted(PcpfsError):
    """This principal may not do that."""

    code = "not_permitted"


class SecretFound(NotPermitted):
    """What was to be written holds a key, a token or a password."""

    code = "secret_found"


class Corrupt(PcpfsError):
    """A file of the store is not what its name says."""

    code = "corrupt"


class Unavailable(PcpfsError):
    """The store, a disk or a source cannot be used now."""

    code = "unavailable"


class Busy(Unavailable):
    """Another writer holds the lock."""

    code = "busy"


class StorageFull(Unavailable):
    """No space or quota is left; nothing was acknowledged."""

    code = "storage_full"


class ReadOnly(Unavailable):
    """The store cannot be written by this user."""

    code = "read_only"
