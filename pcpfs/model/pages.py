"""Revisions: what never changes about one version of a page, and the bytes that say so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from pcpfs.errors import Corrupt, InvalidName, PcpfsError
from pcpfs.model.codec import canonical, decode
from pcpfs.model.ids import CloneId, Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace

EPISTEMIC = (
    "authority",
    "integrity",
    "epistemic_status",
    "sensitivity",
    "instruction_policy",
)
"""Five separate questions; there is no single "trust" field (PCP-S6)."""


class ActorType(StrEnum):
    USER = "user"
    MODEL = "model"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who holds a session: `user:anna`, `model:local`, `tool:importer`, `agent:reviewer`."""

    text: str

    def __post_init__(self) -> None:
        if (
            re.fullmatch(r"(user|model|tool|agent|system):[^\s\x00-\x1f\x7f]{1,100}", self.text)
            is None
        ):
            raise InvalidName(f"{self.text!r} is no principal; one looks like user:anna")

    def __str__(self) -> str:
        return self.text

    @property
    def actor_type(self) -> ActorType:
        """How PCP calls it: an agent acts as a model."""
        kind = self.text.split(":", 1)[0]
        return ActorType.MODEL if kind == "agent" else ActorType(kind)

    def to_json(self) -> dict[str, str]:
        return {"actor_type": str(self.actor_type), "actor_id": self.text}

    @classmethod
    def from_json(cls, value: Mapping[str, str]) -> Self:
        return cls(value["actor_id"])


@dataclass(frozen=True, slots=True)
class Payload:
    """The bytes of a revision: a digest into the scope's payloads (PCP-P2)."""

    media_type: str
    ref: Digest
    size: int

    def __post_init__(self) -> None:
        if re.fullmatch(r"[\w.+-]+/[\w.+-]+(\s*;[^\r\n\x00]*)?", self.media_type, re.ASCII) is None:
            raise InvalidName(f"{self.media_type!r} is no media type; one looks like text/markdown")


@dataclass(frozen=True, slots=True)
class ContentRef:
    """A payload that lies elsewhere, behind a stable reference (PCP-P2). Whoever can read it there
    checks it: it is these bytes or none."""

    uri: str
    digest: Digest
    size: int
    media_type: str = "application/octet-stream"

    def __post_init__(self) -> None:
        if re.fullmatch(r"[a-z][a-z0-9+.-]*:[^\s\x00-\x1f\x7f]+", self.uri) is None:
            raise InvalidName(f"{self.uri!r} is no URI; one looks like https://example.org/a.pdf")
        if self.size < 0:
            raise InvalidName(f"a size is a number of bytes, not {self.size}")
        Payload(self.media_type, self.digest, self.size)

    def to_json(self) -> dict[str, object]:
        return {
            "uri": self.uri,
            "digest": self.digest,
            "size": self.size,
            "media_type": self.media_type,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(value["uri"], Digest(value["digest"]), value["size"], value["media_type"])


@dataclass(frozen=True, slots=True)
class Facets:
    """Reading aids; never evidence (PCP-P5)."""

    title: str | None = None
    tags: tuple[str, ...] = ()
    summary: str | None = None
    keywords: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        members = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in members.items() if v}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(
            title=_one(value, "title"),
            tags=_many(value, "tags"),
            summary=_one(value, "summary"),
            keywords=_many(value, "keywords"),
            anchors=_many(value, "anchors"),
            symbols=_many(value, "symbols"),
        )


@dataclass(frozen=True, slots=True)
class ProvenanceEvent:
    """How content came in: lineage, not truth."""

    operation: str
    actor: Principal
    timestamp: Instant
    inputs: tuple[RevisionId, ...] = ()
    tool_or_model: str | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "operation": self.operation,
            **self.actor.to_json(),
            "timestamp": str(self.timestamp),
            "input_revision_ids": list(self.inputs),
            "tool_or_model": self.tool_or_model,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(
            operation=value["operation"],
            actor=Principal.from_json(value),
            timestamp=Instant.parse(value["timestamp"]),
            inputs=tuple(RevisionId(r) for r in value.get("input_revision_ids", ())),
            tool_or_model=value.get("tool_or_model"),
        )


@dataclass(frozen=True, slots=True)
class Occurrence:
    """What makes a revision an event: which clone took it in, the events of its scope that it
    follows, and what the host says about it (`source`, `goal_id`, …)."""

    clone: CloneId
    after: tuple[RevisionId, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        return {
            "clone": self.clone,
            "after": list(self.after),
            "about": dict(self.about) or None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        about = value.get("about", {})
        if not all(isinstance(text, str) for pair in about.items() for text in pair):
            raise TypeError("what is said about an event are texts")
        return cls(CloneId(value["clone"]), tuple(map(RevisionId, value["after"])), about)


@dataclass(frozen=True, slots=True)
class Revision:
    """The envelope of one immutable version of a page.

    An authored revision has parents, author, time and 128 bits of salt (so that its id does not
    fingerprint a short secret). A source revision has none of them: it is a pure function of
    (page, payload), the same in every clone and after a revert. One with `event` is an event page,
    which stays as it happened.
    """

    page: PageId
    namespace: Namespace
    payload: Payload | None
    parents: tuple[RevisionId, ...] = ()
    source_refs: tuple[str, ...] = ()
    facets: Facets = Facets()
    created_at: Instant | None = None
    created_by: Principal | None = None
    provenance: tuple[ProvenanceEvent, ...] = ()
    observed_at: Instant | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    epistemic: Mapping[str, str] = field(default_factory=dict)
    salt: str | None = None
    event: Occurrence | None = None
    content_ref: ContentRef | None = None

    def __post_init__(self) -> None:
        if self.payload is None and self.content_ref is None and not self.source_refs:
            raise InvalidName("a revision needs a payload or a source ref (PCP-P1)")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise InvalidName(f"valid_to {self.valid_to} lies before valid_from {self.valid_from}")

    @property
    def is_source(self) -> bool:
        return self.salt is None

    def encode(self) -> bytes:
        """The canonical bytes; their sha256 is the revision id."""
        payload = self.payload
        return canonical(
            {
                "page_id": self.page,
                "namespace": self.namespace,
                "parents": list(self.parents),
                "payload": payload
                and {"media_type": payload.media_type, "ref": payload.ref, "size": payload.size},
                "content_ref": self.content_ref and self.content_ref.to_json(),
                "source_refs": list(self.source_refs),
                "facets": self.facets.to_json() or None,
                "created_at": _text(self.created_at),
                "created_by": self.created_by and self.created_by.to_json(),
                "provenance": [event.to_json() for event in self.provenance] or None,
                "observed_at": _text(self.observed_at),
                "valid_from": _text(self.valid_from),
                "valid_to": _text(self.valid_to),
                "salt": self.salt,
                "event": self.event and self.event.to_json(),
                **self.epistemic,
            }
        )

    @classmethod
    def decode(cls, raw: bytes, what: str) -> Self:
        """Read an envelope; Corrupt, naming `what`, where it is none."""
        return cls.from_json(decode(raw, what), what)

    @classmethod
    def from_json(cls, value: dict[str, Any], what: str) -> Self:
        """The envelope of a document that was read already."""
        try:
            return cls._of(value)
        except (KeyError, TypeError, AttributeError, PcpfsError) as error:
            raise Corrupt(f"{what} is no revision envelope: {error}", path=what) from error

    @classmethod
    def _of(cls, value: dict[str, Any]) -> Self:
        payload = value.get("payload")
        return cls(
            page=PageId(value["page_id"]),
            namespace=Namespace(value["namespace"]),
            payload=payload
            and Payload(payload["media_type"], Digest(payload["ref"]), payload["size"]),
            parents=tuple(RevisionId(r) for r in value["parents"]),
            source_refs=tuple(value["source_refs"]),
            facets=Facets.from_json(value.get("facets", {})),
            created_at=_instant(value.get("created_at")),
            created_by=Principal.from_json(value["created_by"]) if "created_by" in value else None,
            provenance=tuple(ProvenanceEvent.from_json(e) for e in value.get("provenance", ())),
            observed_at=_instant(value.get("observed_at")),
            valid_from=_instant(value.get("valid_from")),
            valid_to=_instant(value.get("valid_to")),
            epistemic={name: value[name] for name in EPISTEMIC if name in value},
            salt=value.get("salt"),
            event=Occurrence.from_json(value["event"]) if "event" in value else None,
            content_ref=ContentRef.from_json(value["content_ref"])
            if "content_ref" in value
            else None,
        )


def _text(moment: Instant | None) -> str | None:
    return None if moment is None else str(moment)


def _instant(text: str | None) -> Instant | None:
    return None if text is None else Instant.parse(text)


def _one(members: Mapping[str, Any], name: str) -> str | None:
    value = members.get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"the facet {name} is a text")
    return value


def _many(members: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = members.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"the facet {name} is a list of texts")
    return tuple(value)
