"""Changes: what happened to a page or a scope, one immutable file for each atomic change.

`CHANGE_EVENTS` maps the `type` of an event to its class; an event of any other type is kept as
`UnknownEvent` and skipped by the fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.model.branches import Beside
from pcpfs.model.codec import canonical, decode
from pcpfs.model.frame_differences import Difference
from pcpfs.model.grants import Granted, Revoked, ScopeLinked, ScopeUnlinked, VisibilitySet
from pcpfs.model.ids import ChangeId, CloneId, Digest, FrameId, PageId, RelationId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.retention import RetentionSet
from pcpfs.model.roots import RootAdded, Walked
from pcpfs.model.secrets import SecretAccepted, SecretRefused

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RevisionWritten:
    """An authored revision came to be; its parents stop being heads."""

    type: ClassVar[str] = "revision"
    revision: RevisionId
    parents: tuple[RevisionId, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {"revision": self.revision, "parents": list(self.parents)}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(RevisionId(value["revision"]), tuple(map(RevisionId, value["parents"])))


FIRST = "first"
"""The basis of what was seen where nobody had looked before, as in the first scan of a root."""
COMMIT = "commit"
"""The basis of what a commit of the source's history says."""


@dataclass(frozen=True, slots=True)
class Observed:
    """These bytes were seen at the page's path, true from `valid_from`.

    `basis` tells how that instant is known: `first` scan, `mtime`, `seen` (our own look),
    `commit`, `adapter` (the same bytes, seen by a newer adapter). `adapter` names the frames file,
    or `difference` says what it would hold. Of the source's history are `commit` (its id) and
    `author`; they are None elsewhere.
    """

    type: ClassVar[str] = "observed"
    revision: RevisionId
    valid_from: Instant
    basis: str
    adapter: str
    commit: str | None = None
    author: str | None = None
    difference: Difference | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "revision": self.revision,
            "valid_from": str(self.valid_from),
            "basis": self.basis,
            "adapter": self.adapter,
            "commit": self.commit,
            "author": self.author,
            "difference": self.difference and self.difference.to_json(),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(
            RevisionId(value["revision"]),
            Instant.parse(value["valid_from"]),
            value["basis"],
            value["adapter"],
            value.get("commit"),
            value.get("author"),
            Difference.from_json(value["difference"]) if "difference" in value else None,
        )


@dataclass(frozen=True, slots=True)
class Closed:
    """From `valid_to` on these frames (all, where None) no longer hold.

    `reason`: `gone`, `moved`, `ignored`, `withheld`, `unreadable`, `asked`; `to` is where it moved.
    Of the source's history are `commit` and `author`, as in `Observed`.
    """

    type: ClassVar[str] = "closed"
    revision: RevisionId
    valid_to: Instant
    reason: str
    frames: tuple[FrameId, ...] | None = None
    to: PageId | None = None
    commit: str | None = None
    author: str | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "revision": self.revision,
            "valid_to": str(self.valid_to),
            "reason": self.reason,
            "frames": "*" if self.frames is None else list(self.frames),
            "to": self.to,
            "commit": self.commit,
            "author": self.author,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        frames = value["frames"]
        return cls(
            RevisionId(value["revision"]),
            Instant.parse(value["valid_to"]),
            value["reason"],
            None if frames == "*" else tuple(map(FrameId, frames)),
            PageId(value["to"]) if "to" in value else None,
            value.get("commit"),
            value.get("author"),
        )


@dataclass(frozen=True, slots=True)
class Retracted:
    """These changes of the page no longer count; at earlier record times they still do. Nor does
    what was recorded before of these commits of the source: its history was rewritten."""

    type: ClassVar[str] = "retracted"
    changes: tuple[ChangeId, ...] = ()
    commits: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        members: dict[str, object] = {"changes": list(self.changes)}
        return members | ({"commits": list(self.commits)} if self.commits else {})

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(tuple(map(ChangeId, value["changes"])), tuple(value.get("commits", ())))


@dataclass(frozen=True, slots=True)
class Thinned:
    """The bytes of these superseded source revisions went, by policy; all else of them stays. Seen
    again later, they are there again."""

    type: ClassVar[str] = "thinned"
    revisions: tuple[RevisionId, ...]

    def to_json(self) -> dict[str, object]:
        return {"revisions": list(self.revisions)}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(tuple(map(RevisionId, value["revisions"])))


@dataclass(frozen=True, slots=True)
class LifecycleSet:
    """The page is `active`, `archived` or `tombstoned` from now on (PCP-T2)."""

    type: ClassVar[str] = "lifecycle"
    status: str
    why: str

    def to_json(self) -> dict[str, object]:
        return {"status": self.status, "why": self.why}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(value["status"], value["why"])


@dataclass(frozen=True, slots=True)
class Named:
    """The page claims this path in `tree/`; one `of_title` nobody asked for, and it claims none."""

    type: ClassVar[str] = "named"
    path: str
    of_title: bool = False

    def to_json(self) -> dict[str, object]:
        return {"path": self.path, **({"of_title": True} if self.of_title else {})}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(value["path"], value.get("of_title", False) is True)


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed, directed edge between two revisions (PCP-L1), perhaps to one frame of the second."""

    relation_id: RelationId
    from_revision: RevisionId
    type: str
    to_page: PageId
    to_revision: RevisionId
    created_by: Principal
    created_at: Instant
    to_frame: FrameId | None = None
    to_digest: Digest | None = None

    def to_json(self) -> dict[str, object]:
        members: dict[str, object] = {
            "relation_id": self.relation_id,
            "from_revision_id": self.from_revision,
            "type": self.type,
            "to_page_id": self.to_page,
            "to_revision_id": self.to_revision,
            "created_by": self.created_by.to_json(),
            "created_at": str(self.created_at),
            "to_frame": self.to_frame,
            "to_digest": self.to_digest,
        }
        return {name: value for name, value in members.items() if value is not None}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(
            RelationId(value["relation_id"]),
            RevisionId(value["from_revision_id"]),
            value["type"],
            PageId(value["to_page_id"]),
            RevisionId(value["to_revision_id"]),
            Principal.from_json(value["created_by"]),
            Instant.parse(value["created_at"]),
            FrameId(value["to_frame"]) if "to_frame" in value else None,
            Digest(value["to_digest"]) if "to_digest" in value else None,
        )


@dataclass(frozen=True, slots=True)
class Linked:
    """A relation from a revision of this page."""

    type: ClassVar[str] = "linked"
    relation: Relation

    def to_json(self) -> dict[str, object]:
        return {"relation": self.relation.to_json()}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(Relation.from_json(value["relation"]))


@dataclass(frozen=True, slots=True)
class Unlinked:
    """That relation is withdrawn."""

    type: ClassVar[str] = "unlinked"
    relation_id: RelationId

    def to_json(self) -> dict[str, object]:
        return {"relation_id": self.relation_id}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(RelationId(value["relation_id"]))


@dataclass(frozen=True, slots=True)
class Noted:
    """Something for people and `git log`; the fold does not use it."""

    type: ClassVar[str] = "noted"
    note: JsonObject

    def to_json(self) -> dict[str, object]:
        return {"note": dict(self.note)}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(value["note"])


@dataclass(frozen=True, slots=True)
class ScopeTitled:
    """A scope exists, and is called so by people."""

    type: ClassVar[str] = "titled"
    title: str

    def to_json(self) -> dict[str, object]:
        return {"title": self.title}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(value["title"])


@dataclass(frozen=True, slots=True)
class ScopeDescribed:
    """What a scope is for, in words (PCP ListScopes); the latest holds, empty for none."""

    type: ClassVar[str] = "described"
    description: str

    def to_json(self) -> dict[str, object]:
        return {"description": self.description}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(str(value["description"]))


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a later format: kept as it is, skipped by the fold."""

    members: JsonObject

    @property
    def type(self) -> str:
        return str(self.members.get("type", ""))

    def to_json(self) -> dict[str, object]:
        return {name: value for name, value in self.members.items() if name != "type"}


KnownEvent = (
    RevisionWritten
    | Observed
    | Closed
    | Beside
    | Retracted
    | Thinned
    | LifecycleSet
    | Named
    | Linked
    | Unlinked
    | Noted
    | ScopeTitled
    | ScopeDescribed
    | RootAdded
    | Walked
    | Granted
    | Revoked
    | VisibilitySet
    | SecretAccepted
    | SecretRefused
    | RetentionSet
    | ScopeLinked
    | ScopeUnlinked
)
Event = KnownEvent | UnknownEvent

CHANGE_EVENTS: Mapping[str, type[KnownEvent]] = {
    event.type: event
    for event in (
        RevisionWritten,
        Observed,
        Closed,
        Beside,
        Retracted,
        Thinned,
        LifecycleSet,
        Named,
        Linked,
        Unlinked,
        Noted,
        ScopeTitled,
        ScopeDescribed,
        RootAdded,
        Walked,
        Granted,
        Revoked,
        VisibilitySet,
        SecretAccepted,
        SecretRefused,
        RetentionSet,
        ScopeLinked,
        ScopeUnlinked,
    )
}


@dataclass(frozen=True, slots=True)
class Change:
    """One atomic change of a page (or, without `page`, of a scope).

    `after` names the latest changes of it that the writer had seen: it orders; `at` only dates.
    """

    namespace: Namespace
    page: PageId | None
    at: Instant
    clone: CloneId
    actor: Principal
    operation: str
    after: tuple[ChangeId, ...]
    events: tuple[Event, ...]

    def encode(self) -> bytes:
        """The canonical bytes; their sha256 names the change."""
        return canonical(
            {
                "namespace": self.namespace,
                "page": self.page,
                "at": str(self.at),
                "clone": self.clone,
                "actor": str(self.actor),
                "operation": self.operation,
                "after": list(self.after),
                "events": [{"type": event.type, **event.to_json()} for event in self.events],
            }
        )

    @classmethod
    def decode(cls, raw: bytes, what: str) -> Self:
        """Read a change; Corrupt, naming `what`, where it is none."""
        value: dict[str, Any] = decode(raw, what)
        try:
            return cls(
                Namespace(value["namespace"]),
                PageId(value["page"]) if "page" in value else None,
                Instant.parse(value["at"]),
                CloneId(value["clone"]),
                Principal(value["actor"]),
                value["operation"],
                tuple(map(ChangeId, value["after"])),
                tuple(map(_event, value["events"])),
            )
        except (KeyError, TypeError, AttributeError, PcpfsError) as error:
            raise Corrupt(f"{what} is no change: {error}", path=what) from error


def _event(value: JsonObject) -> Event:
    known = CHANGE_EVENTS.get(value.get("type", ""))
    return UnknownEvent(dict(value)) if known is None else known.from_json(value)
