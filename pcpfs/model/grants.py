"""Who may do what in a scope: permissions, and the changes of a scope that give and take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pcpfs.errors import UsageError
from pcpfs.model.names import Namespace
from pcpfs.model.pages import ActorType, Principal

LIST, READ, WRITE, LINK = "list", "read", "write", "link"
TOMBSTONE, DELETE, ADMINISTER = "tombstone", "delete", "administer"
PERMISSIONS = (LIST, READ, WRITE, LINK, TOMBSTONE, DELETE, ADMINISTER)
"""List: the scope is named to them. Read: its pages. Write: new pages and revisions. Link:
relations from its pages. Tombstone: also archive and restore. Delete: erase for good. Administer:
title, visibility, links and grants."""

LOCAL_MODEL = Principal("model:local")
"""Who programs act for where nobody says otherwise."""

DEFAULTS: Mapping[Principal, tuple[str, ...]] = {LOCAL_MODEL: (LIST, READ, WRITE, LINK)}
"""What somebody may do in every scope until it is taken from them there (CASES)."""

PRIVATE, SHARED = "private", "shared"
VISIBILITIES = (PRIVATE, SHARED)
SHARED_PERMISSIONS = (LIST, READ)
"""What any principal of the store may do in a shared scope."""


def in_order(permissions: Iterable[str]) -> tuple[str, ...]:
    """These permissions, each once, in the order of PERMISSIONS; UsageError for what is none."""
    given = set(permissions)
    unknown = sorted(given - set(PERMISSIONS))
    if unknown:
        raise UsageError(f"{unknown[0]!r} is none of {', '.join(PERMISSIONS)}")
    return tuple(name for name in PERMISSIONS if name in given)


def never_permitted(principal: Principal) -> tuple[str, ...]:
    """What nobody can allow a model (an agent acts as one): PCP DeletePage."""
    return (DELETE, ADMINISTER) if principal.actor_type is ActorType.MODEL else ()


@dataclass(frozen=True, slots=True)
class Granted:
    """From now on this principal may do that in the scope."""

    type: ClassVar[str] = "granted"
    principal: Principal
    permissions: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        return {"principal": str(self.principal), "permissions": list(self.permissions)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(Principal(value["principal"]), in_order(_texts(value["permissions"])))


@dataclass(frozen=True, slots=True)
class Revoked:
    """From now on this principal may no longer do that in the scope."""

    type: ClassVar[str] = "revoked"
    principal: Principal
    permissions: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        return {"principal": str(self.principal), "permissions": list(self.permissions)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(Principal(value["principal"]), in_order(_texts(value["permissions"])))


@dataclass(frozen=True, slots=True)
class VisibilitySet:
    """The scope is `private` (owner and grants) or `shared` (anybody may list and read)."""

    type: ClassVar[str] = "visibility"
    visibility: str

    def __post_init__(self) -> None:
        if self.visibility not in VISIBILITIES:
            raise UsageError(f"{self.visibility!r} is none of {', '.join(VISIBILITIES)}")

    def to_json(self) -> dict[str, object]:
        return {"visibility": self.visibility}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(value["visibility"])


@dataclass(frozen=True, slots=True)
class _OfScope:
    """An event that names another scope, and nothing else."""

    scope: Namespace

    def to_json(self) -> dict[str, object]:
        return {"scope": self.scope}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(Namespace(value["scope"]))


class ScopeLinked(_OfScope):
    """From now on a search with the policy `linked` in this scope also covers that one (PCP-S1);
    it lets nobody read there who might not (PCP-L3)."""

    __slots__ = ()
    type: ClassVar[str] = "scope_linked"


class ScopeUnlinked(_OfScope):
    """From now on it no longer does."""

    __slots__ = ()
    type: ClassVar[str] = "scope_unlinked"


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError("permissions are a list of names")
    return value
