"""A small provider that keeps every rule, and on request breaks exactly one of them.

    python -m pcpfs_conformance.example_provider [--misbehave MODE | --list-modes [--json]]

It answers every query with the same few texts, so that no check runs on nothing. It shares no code
with the suite that judges it (nor with pcpfs), and imports little, so that it starts at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, BinaryIO

    Json = dict[str, Any]

NAME, VERSION = "example-provider", "1.0.0"
PROTOCOL = "contextgraph/1.0-draft"
DIMENSIONS = 8
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "example_corpus")


class Entry:
    """One text of the corpus, and since when (and until when) it holds."""

    def __init__(
        self, file: str, kind: str, title: str, since: str, *, until: str = "", about: str = ""
    ) -> None:
        self.file = file
        self.kind = kind
        self.title = title
        self.since = since
        self.until = until
        self.about = about


ENTRIES = (
    Entry("retry-policy.md", "doc", "Retry policy", "2025-01-01T00:00:00Z"),
    Entry(
        "retry-policy-2024.md",
        "doc",
        "Retry policy of 2024",
        "2024-01-01T00:00:00Z",
        until="2025-01-01T00:00:00Z",
    ),
    Entry("backoff.txt", "snippet", "pauses", "2025-02-01T00:00:00Z", about="retry-policy.md"),
    Entry("why-three.txt", "memory", "Why three attempts", "2025-03-01T00:00:00Z"),
)


class BadRequest(Exception):
    """A line that cannot be answered; perhaps it had an id."""

    def __init__(self, message: str, given: object = None) -> None:
        super().__init__(message)
        self.given = given if isinstance(given, str) else None


class Example:
    """The provider that keeps every rule; `example_modes` overrides one method each."""

    def ack(self) -> Json:
        return {
            "type": "handshake_ack",
            "protocol_version": PROTOCOL,
            "provider": {
                "name": NAME,
                "version": VERSION,
                "data_flow": {"reads": True, "writes": False, "egress": False},
            },
            "capabilities": {
                "query": {"kinds": ["doc", "snippet", "memory"]},
                "correlation": True,
                "graph": True,
                "embeddings_fingerprint": f"example-hash/{DIMENSIONS}",
                "verify": True,
                "representations": ["full", "compact"],
                "resolve": True,
            },
        }

    def handshake(self, version: str) -> Json:
        if version.split(".")[0] == PROTOCOL.split(".", maxsplit=1)[0]:
            return self.ack()
        return error("incompatible_version", f"this provider speaks {PROTOCOL}")

    def query(self, query: Json) -> Json:
        if not self.takes(query.get("embedding")):
            return error("bad_request", f"an embedding here has {DIMENSIONS} numbers")
        moment = query.get("as_of", "")
        eligible = [e for e in ENTRIES if self.holds(e, moment) and self.wanted(e, query)]
        frames = [self.frame(entry, query, rank) for rank, entry in enumerate(eligible)]
        frames = self.ordered(frames, query)
        served = self.limited(frames, query)
        result: Json = {"frames": served, "truncated": len(served) < len(frames)}
        if result["truncated"]:
            result["dropped_estimate"] = len(frames) - len(served)
        return {"type": "frames", "result": result}

    def takes(self, embedding: list[float] | None) -> bool:
        return embedding is None or len(embedding) == DIMENSIONS

    def holds(self, entry: Entry, moment: str) -> bool:
        return self.has_begun(entry, moment) and not self.has_ended(entry, moment)

    def has_begun(self, entry: Entry, moment: str) -> bool:
        """Instants of the corpus are whole seconds: they compare as texts up to there."""
        return not moment or entry.since[:19] <= moment[:19]

    def has_ended(self, entry: Entry, moment: str) -> bool:
        return bool(entry.until) and (not moment or entry.until[:19] <= moment[:19])

    def wanted(self, entry: Entry, query: Json) -> bool:
        return not query.get("kinds") or entry.kind in query["kinds"]

    def frame(self, entry: Entry, query: Json, rank: int) -> Json:
        text = self.text_of(entry.file)
        frame: Json = {
            "id": f"example:{entry.file}",
            "kind": entry.kind,
            "title": entry.title,
            "content": text,
            "content_digest": sha256(text),
            "uri": uri_of(entry.file),
            "score": round(0.9 - rank / 10, 3),
            "token_cost": cost(text),
            "valid_from": entry.since,
            "provenance": [self.origin(entry, text)],
            "citation_label": f"{entry.file}:1-{text.count(chr(10))}",
        }
        if entry.until:
            frame["valid_to"] = entry.until
        if entry.about:
            target = {"target_uri": uri_of(entry.about), "display_name": "Retry policy"}
            frame["relations"] = [{"rel": "code.references", **target}]
        prefers = query.get("representation_preferences") or ["full"]
        return self.compact(frame) if prefers[0] == "compact" else frame

    def origin(self, entry: Entry, text: str) -> Json:
        return {
            "type": "file",
            "uri": uri_of(entry.file),
            "range": f"L1-{text.count(chr(10))}",
            "digest": sha256(text),
            "method": "file-read",
            "by": f"{NAME}/{VERSION}",
        }

    def compact(self, frame: Json) -> Json:
        short = frame["title"] + "\n"
        return frame | {
            "content": short,
            "content_digest": sha256(short),
            "token_cost": cost(short),
            "representation": "compact",
            "content_fidelity": "summarized",
            "canonical_content_hash": frame["content_digest"],
            "content_ref": {"provider_id": NAME, "uri": frame["uri"]},
            "transform": {"method": "title", "implementation": NAME, "version": "1"},
        }

    def ordered(self, frames: list[Json], query: Json) -> list[Json]:
        """Those at an anchor first (G3)."""
        return sorted(frames, key=lambda frame: not is_at(frame, query.get("anchors", [])))

    def limited(self, frames: list[Json], query: Json) -> list[Json]:
        """As many as the budget holds, best first (B1, B4)."""
        served: list[Json] = []
        for frame in frames:
            spent = sum(each["token_cost"] for each in served)
            fits = spent + frame["token_cost"] <= query["max_tokens"]
            if fits and len(served) < query["max_frames"]:
                served.append(frame)
        return served

    def verdicts(self, identities: Sequence[Json]) -> list[Json]:
        return [self.verdict(identity) for identity in identities]

    def verdict(self, identity: Json) -> Json:
        file = identity["frame_id"].removeprefix("example:")
        if file not in {entry.file for entry in ENTRIES}:
            return {"frame": identity, "status": "gone"}
        if "content_digest" not in identity:
            return {"frame": identity, "status": "unknown"}
        now = self.digest_now(file)
        if now == identity["content_digest"]:
            return {"frame": identity, "status": "valid"}
        return {"frame": identity, "status": "stale", "replacement_digest": now}

    def digest_now(self, file: str) -> str:
        return sha256(self.text_of(file))

    def text_of(self, file: str) -> str:
        with open(os.path.join(CORPUS, file), encoding="utf-8", newline="") as corpus:
            return corpus.read()

    def answer(self, envelope: Json) -> Json | None:
        """The reply with its id (H4); None for what wants none."""
        kind, given = envelope["type"], envelope.get("id")
        if kind == "handshake":
            return self.handshake(envelope["protocol_version"])
        if kind == "query":
            return self.with_id(self.query(envelope["query"]), given)
        if kind == "verify":
            response = {"verdicts": self.verdicts(envelope["request"]["frames"])}
            return self.with_id({"type": "verified", "response": response}, given)
        raise BadRequest(f"there is no {kind} here", given)

    def with_id(self, reply: Json, given: str | None) -> Json:
        return reply if given is None else {"type": reply["type"], "id": given} | reply

    def refuse(self, trouble: BadRequest, line: bytes) -> Json:
        return self.with_id(error("bad_request", str(trouble)), trouble.given)

    def write(self, reply: Json) -> bytes:
        """What goes to standard output for one reply."""
        return json.dumps(reply).encode() + b"\n"

    def exit_code(self) -> int:
        return 0

    def run(self, lines: BinaryIO, answers: BinaryIO) -> int:
        """Answer until `shutdown` or the end of the input; the exit code."""
        for line in lines:
            if not line.strip():
                continue
            try:
                envelope = read(line)
                if envelope["type"] == "shutdown":
                    break
                reply = self.answer(envelope)
            except BadRequest as trouble:
                reply = self.refuse(trouble, line)
            if reply is not None:
                answers.write(self.write(reply))
                answers.flush()
        return self.exit_code()


def read(line: bytes) -> Json:
    """One envelope whose members have the types that the provider relies on."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as trouble:
        raise BadRequest("this is no JSON") from trouble
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise BadRequest("this is no envelope")
    if not is_sound(value):
        raise BadRequest(f"this is no {value['type']}", value.get("id"))
    return value


def is_sound(envelope: Json) -> bool:
    inner = envelope.get({"query": "query", "verify": "request"}.get(envelope["type"], ""), {})
    if envelope["type"] == "handshake":
        return isinstance(envelope.get("protocol_version"), str)
    if envelope["type"] == "query":
        counts = [inner.get(name) for name in ("max_frames", "max_tokens")] if inner else []
        return (
            len(counts) == 2 and isinstance(inner.get("goal"), str) and all(map(is_count, counts))
        )
    if envelope["type"] == "verify":
        frames = inner.get("frames") if isinstance(inner, dict) else None
        return isinstance(frames, list) and all(isinstance(frame, dict) for frame in frames)
    return True


def is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def is_at(frame: Json, anchors: Sequence[str]) -> bool:
    edges = [edge["target_uri"] for edge in frame.get("relations", ())]
    return frame["uri"] in anchors or any(edge in anchors for edge in edges)


def uri_of(file: str) -> str:
    """A `file` uri, percent-encoded."""
    plain = b"/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    path = os.fsencode(os.path.join(CORPUS, file))
    return "file://" + "".join(chr(b) if b in plain else f"%{b:02X}" for b in path)


def sha256(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def cost(text: str) -> int:
    """A quarter of the bytes, rounded up (B3)."""
    return (len(text.encode()) + 3) // 4


def error(code: str, message: str) -> Json:
    return {"type": "error", "code": code, "message": message}


def main(arguments: Sequence[str]) -> int:
    """Run the provider, or name its modes: which check catches each."""
    if not arguments:
        return Example().run(sys.stdin.buffer, sys.stdout.buffer)
    from pcpfs_conformance.example_modes import MODES  # noqa: PLC0415 (they build on this module)

    if arguments[0] == "--list-modes":
        caught = {name: mode.check for name, mode in MODES.items()}
        wide = "\n".join(f"{name:28} {check}" for name, check in caught.items())
        sys.stdout.write((json.dumps(caught) if "--json" in arguments else wide) + "\n")
        return 0
    if len(arguments) != 2 or arguments[0] != "--misbehave" or arguments[1] not in MODES:
        sys.stderr.write("usage: example_provider [--misbehave MODE | --list-modes [--json]]\n")
        return 2
    return MODES[arguments[1]]().run(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
