"""Ways to break the rules, one each: `check` names the only check that fails for it.

A mode is a subclass here; its name on the command line is that of the class: `over-budget`.
"""

from __future__ import annotations

import sys
import time

from pcpfs_conformance.example_provider import (
    NAME,
    BadRequest,
    Entry,
    Example,
    sha256,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO, ClassVar

    from pcpfs_conformance.example_provider import Json


class Mode(Example):
    """A provider that breaks one rule."""

    check: ClassVar[str]


class WrongVersion(Mode):
    check = "handshake"

    def ack(self) -> Json:
        return super().ack() | {"protocol_version": "contextgraph/2.0"}


class HangOnHandshake(Mode):
    check = "handshake"

    def handshake(self, version: str) -> Json:
        time.sleep(3600)
        return self.ack()


class NamelessProvider(Mode):
    check = "handshake"

    def ack(self) -> Json:
        ack = super().ack()
        ack["provider"]["name"] = ""
        return ack


class DieAtStart(Mode):
    check = "handshake"

    def run(self, lines: BinaryIO, answers: BinaryIO) -> int:
        sys.stderr.write("Traceback: the configuration is missing\n")
        return 3


class AcceptAnyVersion(Mode):
    check = "handshake"

    def handshake(self, version: str) -> Json:
        return self.ack() | {"protocol_version": version}


class ScopeLie(Mode):
    check = "consent-scope"

    def ack(self) -> Json:
        ack = super().ack()
        ack["provider"]["data_flow"]["egress_scopes"] = ["third-party-model"]
        return ack


class CrashOnQuery(Mode):
    check = "query-answer"

    def query(self, query: Json) -> Json:
        raise SystemExit(1)


class HangOnQuery(Mode):
    check = "query-answer"

    def query(self, query: Json) -> Json:
        time.sleep(3600)
        return {}


class FloodOnQuery(Mode):
    check = "query-answer"

    def write(self, reply: Json) -> bytes:
        if reply["type"] != "frames":
            return super().write(reply)
        while True:
            sys.stdout.buffer.write(b'{"type":"frames","id":"' + b"x" * 65536)


class LyingCosts(Mode):
    """The rounding is the wrong way round."""

    check = "budget-honesty"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        frame = super().frame(entry, query, rank)
        return frame | {"token_cost": len(frame["content"].encode()) // 4 + 7}


class UnderReportCost(Mode):
    check = "budget-honesty"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        return super().frame(entry, query, rank) | {"token_cost": 1}


class OverBudget(Mode):
    check = "budget-honesty"

    def limited(self, frames: list[Json], query: Json) -> list[Json]:
        return frames[: query["max_frames"]]


class FrameFlood(Mode):
    check = "frame-limit"

    def limited(self, frames: list[Json], query: Json) -> list[Json]:
        served: list[Json] = []
        for frame in frames:
            if sum(f["token_cost"] for f in [*served, frame]) <= query["max_tokens"]:
                served.append(frame)
        return served


class _FrameMode(Mode):
    """A frame with some members that are wrong."""

    wrong: ClassVar[Json]
    check = "frame-validity"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        return super().frame(entry, query, rank) | self.wrong


class BadScore(_FrameMode):
    wrong: ClassVar[Json] = {"score": 1.5}


class EmptyTitle(_FrameMode):
    wrong: ClassVar[Json] = {"title": " "}


class EmptyCitation(_FrameMode):
    wrong: ClassVar[Json] = {"citation_label": ""}


class BareIdCitation(_FrameMode):
    wrong: ClassVar[Json] = {"citation_label": "0190f3c2-7f00-7abc-8def-0123456789ab"}


class BadTimestamp(_FrameMode):
    wrong: ClassVar[Json] = {"recorded_at": "2025-01-01t00:00:00+01:00"}


class UnknownKind(Mode):
    check = "frame-validity"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        frame = super().frame(entry, query, rank)
        return (
            frame if query.get("kinds") or entry.kind != "memory" else frame | {"kind": "anecdote"}
        )


class NamelessRelation(Mode):
    check = "frame-validity"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        frame = super().frame(entry, query, rank)
        for relation in frame.get("relations", ()):
            relation["display_name"] = ""
        return frame


class MalformedDigest(Mode):
    check = "frame-validity"

    def origin(self, entry: Entry, text: str) -> Json:
        origin = super().origin(entry, text)
        return origin | {"digest": origin["digest"].upper()}


class StaleDigest(Mode):
    check = "provenance-fixture-consistency"

    def origin(self, entry: Entry, text: str) -> Json:
        return super().origin(entry, text + "another line\n") | {"range": "L1-1"}


class MissingFile(Mode):
    check = "provenance-fixture-consistency"

    def origin(self, entry: Entry, text: str) -> Json:
        origin = super().origin(entry, text)
        return origin | {"uri": origin["uri"] + ".moved"}


class WrongContentDigest(Mode):
    """Of the text without its last line feed."""

    check = "content-digest"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        frame = super().frame(entry, query, rank)
        return frame | {"content_digest": sha256(frame["content"].strip())}

    def digest_now(self, file: str) -> str:
        return sha256(self.text_of(file).strip())


class FullWithReference(_FrameMode):
    check = "representation-members"
    wrong: ClassVar[Json] = {
        "content_ref": {"provider_id": NAME, "uri": "example://somewhere"},
    }


class CompactWithoutTransform(Mode):
    check = "representation-members"

    def compact(self, frame: Json) -> Json:
        compact = super().compact(frame)
        del compact["transform"]
        return compact


class CompactWithoutResolve(Mode):
    check = "resolve-offered"

    def ack(self) -> Json:
        ack = super().ack()
        ack["capabilities"]["resolve"] = False
        return ack


class DuplicateIds(Mode):
    check = "unique-ids"

    def limited(self, frames: list[Json], query: Json) -> list[Json]:
        doubled = [frame for frame in frames for _ in range(2)]
        return super().limited(doubled, query)


class CrashOnGarbage(Mode):
    check = "malformed-input-tolerance"

    def refuse(self, trouble: BadRequest, line: bytes) -> Json:
        if line.lstrip().startswith(b"{") and b'"id"' in line:
            return super().refuse(trouble, line)
        raise SystemExit(1)


class FramesForGarbage(Mode):
    check = "malformed-input-tolerance"

    def refuse(self, trouble: BadRequest, line: bytes) -> Json:
        if b'"id"' in line:
            return super().refuse(trouble, line)
        return {"type": "frames", "result": {"frames": [], "truncated": False}}


class DropCorrelationId(Mode):
    check = "correlation"

    def with_id(self, reply: Json, given: str | None) -> Json:
        return reply


class WrongCorrelationId(Mode):
    check = "correlation"

    def with_id(self, reply: Json, given: str | None) -> Json:
        return super().with_id(reply, given and f"{given}-1")


class RubberStampVerify(Mode):
    check = "verify-honesty"

    def verdict(self, identity: Json) -> Json:
        return {"frame": identity, "status": "valid"}


class HollowVerify(Mode):
    check = "verify-honesty"

    def verdicts(self, identities: Sequence[Json]) -> list[Json]:
        return []


class IgnoreKinds(Mode):
    check = "kinds-filter"

    def wanted(self, entry: Entry, query: Json) -> bool:
        return True


class IgnoreAnchors(Mode):
    check = "anchor-relevance"

    def ordered(self, frames: list[Json], query: Json) -> list[Json]:
        return frames


class FutureFrames(Mode):
    check = "as-of-temporal"

    def has_begun(self, entry: Entry, moment: str) -> bool:
        return True


class ExpiredFrames(Mode):
    check = "as-of-two-sided"

    def has_ended(self, entry: Entry, moment: str) -> bool:
        return not moment and super().has_ended(entry, moment)


class ScoreForeignEmbedding(Mode):
    check = "embedding-fingerprint"

    def takes(self, embedding: list[float] | None) -> bool:
        return True


class DirtyShutdown(Mode):
    check = "shutdown-clean"

    def exit_code(self) -> int:
        return 1


class IgnoreShutdown(Mode):
    check = "shutdown-clean"

    def exit_code(self) -> int:
        time.sleep(3600)
        return 0


class ChattyStdout(Mode):
    check = "wire-hygiene"

    def write(self, reply: Json) -> bytes:
        return b"INFO answering\n" + super().write(reply)


class NullMembers(Mode):
    check = "wire-hygiene"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        frame = super().frame(entry, query, rank)
        return {"valid_to": None} | frame


class FloatCosts(Mode):
    check = "wire-hygiene"

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        frame = super().frame(entry, query, rank)
        return frame | {"token_cost": float(frame["token_cost"])}


def _modes() -> dict[str, type[Mode]]:
    found = [c for c in globals().values() if isinstance(c, type) and issubclass(c, Mode)]
    named = [c for c in found if c is not Mode and not c.__name__.startswith("_")]
    return {_dashed(mode.__name__): mode for mode in named}


def _dashed(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")


MODES = _modes()
