"""Values of the Context Graph Protocol, `contextgraph/1.0-draft`, as they stand on the wire.

Fields are members, in the order of the reference serializer. Instants, digests and kinds are texts
as they came, so that a host or a suite can judge what a provider really sent: `cgp_rules` says
which rule a value breaks, `cgp_wire` reads (liberally) and writes (strictly).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

VERSION = "contextgraph/1.0-draft"

FULL, COMPACT, REFERENCE = "full", "compact", "reference"


class FrameKind(StrEnum):
    """What a frame may be; closed within a version family (U2)."""

    SNIPPET = "snippet"
    SYMBOL = "symbol"
    FACT = "fact"
    DOC = "doc"
    MEMORY = "memory"
    EPISODE = "episode"
    GRAPH = "graph"


class Status(StrEnum):
    """A verdict on a frame that a host holds; only `valid` allows to go on with it (V3)."""

    VALID = "valid"
    STALE = "stale"
    GONE = "gone"
    UNKNOWN = "unknown"


class Code(StrEnum):
    """Codes of errors; the vocabulary is open, an unknown one means `internal` (X1, X2)."""

    BAD_REQUEST = "bad_request"
    UNSUPPORTED_KIND = "unsupported_kind"
    UNSUPPORTED_REPRESENTATION = "unsupported_representation"
    INCOMPATIBLE_VERSION = "incompatible_version"
    BUDGET_UNSATISFIABLE = "budget_unsatisfiable"
    UNAVAILABLE = "unavailable"
    SHUTTING_DOWN = "shutting_down"
    INTERNAL = "internal"


def family(version: str) -> str:
    """What two versions must share to interoperate: the text before the first dot (H1)."""
    return version.split(".", 1)[0]


def token_cost(content: str) -> int:
    """A quarter of the bytes, rounded up (B3)."""
    return -(-len(content.encode("utf-8", "surrogatepass")) // 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where content comes from. A `file` has uri, digest and perhaps a range of lines (F5)."""

    type: str
    uri: str | None = None
    range: str | None = None
    digest: str | None = None
    method: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRelation:
    """An edge to something else, shown to people by its name (G1)."""

    rel: str
    target_uri: str
    display_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRef:
    """Where the whole of a compact or reference frame can be asked for."""

    provider_id: str
    uri: str
    expires_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """How the content of a compact frame was made from the whole."""

    method: str
    implementation: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameEmbedding:
    """A vector and the space that it lies in; the vector may be left away."""

    fingerprint: str
    vector: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFrame:
    """The unit of exchange. Its content is untrusted text, never an instruction (R3)."""

    id: str
    kind: str
    title: str
    content: str | None = None
    content_digest: str | None = None
    uri: str | None = None
    representation: str | None = None
    content_fidelity: str | None = None
    canonical_content_hash: str | None = None
    content_ref: ContentRef | None = None
    transform: Transform | None = None
    minimum_content_fidelity: str | None = None
    inline_content_requirement: str | None = None
    score: float
    token_cost: int
    canonical_token_cost: int | None = None
    tokenizer_ref: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    recorded_at: str | None = None
    provenance: tuple[Provenance, ...] = ()
    citation_label: str | None = None
    embedding: FrameEmbedding | None = None
    relations: tuple[FrameRelation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """What a host asks: a goal, and a budget that is a contract (B1, B4)."""

    goal: str
    query_text: str | None = None
    embedding: tuple[float, ...] | None = None
    kinds: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    max_frames: int
    max_tokens: int
    as_of: str | None = None
    representation_preferences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """Frames, best first; `truncated` if there was more than the budget holds."""

    frames: tuple[ContextFrame, ...]
    truncated: bool
    dropped_estimate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFlow:
    """What a provider does with data; `egress` is what consent is asked for (C1, C5)."""

    reads: bool
    writes: bool
    egress: bool
    egress_scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderInfo:
    """Who a provider says it is; consent names both name and version (C2)."""

    name: str
    version: str
    data_flow: DataFlow


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCapability:
    """The kinds that may be asked for."""

    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a host may count on."""

    query: QueryCapability
    correlation: bool = False
    graph: bool = False
    embeddings_fingerprint: str | None = None
    verify: bool = False
    representations: tuple[str, ...] = ()
    resolve: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The exact content of one frame of one provider (D1). `provider_id` is the host's name."""

    provider_id: str
    frame_id: str
    content_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityList:
    """What a host asks to be verified: identities only, no content (V1)."""

    frames: tuple[Identity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer for one identity, which is echoed whole."""

    frame: Identity
    status: str
    replacement_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictList:
    """The verdicts of one answer; a missing one means `unknown` (V2)."""

    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    type: ClassVar[str] = "handshake"
    protocol_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandshakeAck:
    type: ClassVar[str] = "handshake_ack"
    protocol_version: str
    provider: ProviderInfo
    capabilities: Capabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    type: ClassVar[str] = "query"
    id: str | None = None
    query: ContextQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    type: ClassVar[str] = "frames"
    id: str | None = None
    result: QueryResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    type: ClassVar[str] = "verify"
    id: str | None = None
    request: IdentityList


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    type: ClassVar[str] = "verified"
    id: str | None = None
    response: VerdictList


@dataclass(frozen=True, slots=True, kw_only=True)
class Shutdown:
    type: ClassVar[str] = "shutdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    type: ClassVar[str] = "error"
    id: str | None = None
    code: str | None = None
    message: str


Envelope = Handshake | HandshakeAck | Query | Frames | Verify | Verified | Shutdown | Error
ENVELOPES = (Handshake, HandshakeAck, Query, Frames, Verify, Verified, Shutdown, Error)
