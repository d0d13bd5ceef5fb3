"""A small host that keeps every rule of the contract, and on request breaks exactly one of them.

    python -m pcpfs_conformance.example_host [--misbehave MODE | --list-modes [--json]] < question

It shares no code with the suite that judges it, nor with pcpfs.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import queue
import re
import select
import subprocess
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Json = dict[str, Any]

FAMILY = "contextgraph"
LONGEST_LINE = 1 << 20


class NoAnswer(Exception):
    """A provider that cannot be used."""


class Line:
    """A provider as a process: a line out, a line in, each within a time."""

    def __init__(self, command: Sequence[str]) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=kept,
        )
        self.unread = b""

    def ask(self, envelope: Json, seconds: float) -> Json:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(envelope).encode() + b"\n")
        self.process.stdin.flush()
        deadline = time.monotonic() + seconds
        while b"\n" not in self.unread:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                raise NoAnswer("it hangs")
            part = os.read(self.process.stdout.fileno(), 65536)
            self.unread += part
            if not part or len(self.unread) > LONGEST_LINE:
                raise NoAnswer("it ended" if not part else "it floods")
        line, _, self.unread = self.unread.partition(b"\n")
        reply = json.loads(line)
        if not isinstance(reply, dict):
            raise NoAnswer("it babbles")
        return reply

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class ExampleHost:
    """The host that keeps every rule; `host_modes` overrides one method each."""

    def run(self, question: Json) -> Json:
        """One question of the contract, and its answer."""
        self.query = question["query"]
        self.seconds = question.get("timeout_seconds", 30)
        self.roots = [os.path.realpath(root) for root in question.get("roots", [])]
        self.consents = {(c["provider_id"], c["scope"]) for c in question.get("consents", [])}
        self.providers = question["providers"]
        self.dropped: list[Json] = []
        frames = [f for frames in self.ordered(self.asked()) for f in frames]
        admitted = self.fitting(self.merged(self.standing(frames)))
        bill = [{"identity": identity(f), "cost": cost(f["content"])} for f in admitted]
        return {
            "admitted": [identity(frame) for frame in admitted],
            "dropped": self.dropped,
            "prompt": "".join(map(self.block, admitted)),
            "usage": {"budget_consumed": self.total(bill), "items": bill},
        }

    def asked(self) -> list[list[Json]]:
        """The frames of each provider, as they arrive; ones that break their budget have none."""
        arriving: queue.Queue[list[Json]] = queue.Queue()
        for provider in self.providers:
            threading.Thread(
                target=lambda p=provider: arriving.put(self.answer_of(p)), daemon=True
            ).start()
        return [arriving.get() for _ in self.providers]

    def ordered(self, answers: list[list[Json]]) -> list[list[Json]]:
        """By provider and frame, not by arrival."""
        frames = sorted((f for frames in answers for f in frames), key=order)
        return [frames]

    def answer_of(self, provider: Json) -> list[Json]:
        try:
            line = Line(provider["command"])
            try:
                return self.talk(provider["id"], line)
            finally:
                line.close()
        except (NoAnswer, OSError, ValueError, KeyError, TypeError):
            return self.failed()

    def failed(self) -> list[Json]:
        """What comes of a provider that gave no answer."""
        return []

    def talk(self, name: str, line: Line) -> list[Json]:
        hello = {"type": "handshake", "protocol_version": f"{FAMILY}/1.0-draft"}
        ack = line.ask(hello, self.seconds)
        if not (self.speaks(ack["protocol_version"]) and self.may_ask(name, ack)):
            return []
        share = self.share()
        query = {"type": "query", "id": "1", "query": share}
        frames = line.ask(query, self.seconds)["result"]["frames"]
        for frame in frames:
            frame["provider_id"] = name
        return self.kept(frames, share)

    def speaks(self, version: str) -> bool:
        return version.split(".")[0].split("/")[0] == FAMILY and "/1." in version

    def may_ask(self, name: str, ack: Json) -> bool:
        flow = ack["provider"]["data_flow"]
        scopes = flow.get("egress_scopes", [])
        if not flow["egress"]:
            return not scopes
        return self.all_agreed(name, scopes or ["egress"])

    def all_agreed(self, name: str, scopes: list[str]) -> bool:
        return all((name, scope) in self.consents for scope in scopes)

    def share(self) -> Json:
        """An equal part of the budget."""
        count = len(self.providers)
        parts = {name: self.query[name] // count for name in ("max_tokens", "max_frames")}
        return {**self.query, **parts}

    def kept(self, frames: list[Json], share: Json) -> list[Json]:
        """All frames of a provider that keeps to its budget, else none (B2)."""
        if len(frames) > share["max_frames"]:
            return self.too_many(frames, share)
        if any(frame["token_cost"] != cost(frame["content"]) for frame in frames):
            return self.lied(frames)
        if sum(frame["token_cost"] for frame in frames) > share["max_tokens"]:
            return self.too_much(frames, share)
        return frames

    def too_many(self, frames: list[Json], share: Json) -> list[Json]:
        return self.drop(frames, "quarantined: too many frames")

    def lied(self, frames: list[Json]) -> list[Json]:
        return self.drop(frames, "quarantined: a cost that is not so")

    def too_much(self, frames: list[Json], share: Json) -> list[Json]:
        return self.drop(frames, "quarantined: more than its share")

    def drop(self, frames: list[Json], reason: str) -> list[Json]:
        self.dropped += [{**identity(frame), "reason": reason} for frame in frames]
        return []

    def standing(self, frames: list[Json]) -> list[Json]:
        """Those whose files, as far as we trust their folder, are as they say."""
        wrong = [frame for frame in frames if not self.is_so(frame)]
        self.drop(wrong, "quarantined: its file is not so")
        return [frame for frame in frames if frame not in wrong]

    def is_so(self, frame: Json) -> bool:
        files = [o for o in frame.get("provenance", []) if o["type"] == "file"]
        return all(map(self.is_as_said, files))

    def is_as_said(self, origin: Json) -> bool:
        path = origin["uri"].removeprefix("file://")
        if not any(os.path.realpath(path).startswith(root + os.sep) for root in self.roots):
            return True
        try:
            with open(path, "rb") as file:
                lines = file.read().splitlines(keepends=True)
        except OSError:
            return False
        first, _, last = origin["range"].removeprefix("L").partition("-")
        cited = b"".join(lines[int(first) - 1 : int(last or first)])
        return bool(origin["digest"] == f"sha256:{hashlib.sha256(cited).hexdigest()}")

    def merged(self, frames: list[Json]) -> list[Json]:
        """Of equal contents that with the highest score."""
        best: dict[str, Json] = {}
        for frame in frames:
            known = best.get(frame["content"])
            if known is None or frame["score"] > known["score"]:
                best[frame["content"]] = frame
        kept = [frame for frame in frames if best[frame["content"]] is frame]
        self.twins([frame for frame in frames if best[frame["content"]] is not frame])
        return kept

    def twins(self, frames: list[Json]) -> None:
        self.drop(frames, "duplicate")

    def fitting(self, frames: list[Json]) -> list[Json]:
        """As many as the whole budget holds."""
        admitted: list[Json] = []
        for frame in frames:
            spent = sum(cost(each["content"]) for each in admitted) + cost(frame["content"])
            if spent > self.query["max_tokens"] or len(admitted) == self.query["max_frames"]:
                self.drop([frame], "over budget")
            else:
                admitted.append(frame)
        return admitted

    def total(self, bill: list[Json]) -> int:
        return sum(item["cost"] for item in bill)

    def block(self, frame: Json) -> str:
        names = {"id": frame["id"], "cite": frame["citation_label"]}
        attributes = " ".join(f'{name}="{self.quoted(text)}"' for name, text in names.items())
        return f"<frame {attributes}>\n{self.fenced(frame['content'])}\n</frame>\n"

    def quoted(self, text: str) -> str:
        return html.escape(text).replace("\n", "&#10;")

    def fenced(self, content: str) -> str:
        return re.sub(r"<(?=/?frame)", "&lt;", content, flags=re.IGNORECASE)


def identity(frame: Json) -> Json:
    names = {"provider_id": "provider_id", "frame_id": "id", "content_digest": "content_digest"}
    return {name: frame[member] for name, member in names.items()}


def order(frame: Json) -> tuple[bytes, bytes]:
    return frame["provider_id"].encode(), frame["id"].encode()


def cost(text: str) -> int:
    """A quarter of the bytes, rounded up (B3)."""
    return (len(text.encode()) + 3) // 4


def main(arguments: Sequence[str]) -> int:
    """Answer the question on standard input, or name the modes: which check catches each."""
    from pcpfs_conformance.host_modes import MODES  # noqa: PLC0415 (they build on this module)

    if arguments[:1] == ["--list-modes"]:
        caught = {name: mode.check for name, mode in MODES.items()}
        wide = "\n".join(f"{name:24} {check}" for name, check in caught.items())
        sys.stdout.write((json.dumps(caught) if "--json" in arguments else wide) + "\n")
        return 0
    chosen: type[ExampleHost] | None = ExampleHost
    if arguments:
        known = len(arguments) == 2 and arguments[0] == "--misbehave"
        chosen = MODES.get(arguments[1]) if known else None
    if chosen is None:
        sys.stderr.write("usage: example_host [--misbehave MODE | --list-modes [--json]]\n")
        return 2
    sys.stdout.write(json.dumps(chosen().run(json.load(sys.stdin))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
