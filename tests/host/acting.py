"""Providers that do what a test tells them, and a host that asks them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pcpfs_conformance import example_provider

from pcpfs.host.channels import Limits
from pcpfs.host.composition import Form
from pcpfs.host.declarations import Declaration, Inside, Origin, Program
from pcpfs.host.evidence import TrustedRoots
from pcpfs.host.host import Host, HostAnswer
from pcpfs.host.transport import Gate, Surroundings
from pcpfs.model import cgp
from pcpfs.model.cgp_rules import content_digest

EXAMPLE = (sys.executable, example_provider.__file__)
AROUND = Surroundings({"PATH": os.environ["PATH"], "HOME": "/"}, home="/")
HURRIED = Limits(handshake=1.0, query=1.0, exit=0.3)


class Open:
    """A gate through which everything goes."""

    def before_contact(self, declaration: Declaration) -> None:
        """Anything may be started."""

    def before_payload(self, declaration: Declaration, ack: cgp.HandshakeAck) -> None:
        """Anything may be said."""


def frame(name: str, content: str = "text\n", **members: Any) -> cgp.ContextFrame:
    """A frame that keeps every rule, but for the members that a test changes."""
    given = {
        "id": name,
        "kind": "doc",
        "title": f"About {name}",
        "content": content,
        "content_digest": str(content_digest(content)),
        "score": 0.5,
        "token_cost": cgp.token_cost(content),
        "citation_label": f"{name}.md",
    }
    return cgp.ContextFrame(**{**given, **members})


def file_frame(
    name: str, file: Path, lines: str | None = None, cited: bytes | None = None, **members: Any
) -> cgp.ContextFrame:
    """A frame that comes from a file, whose bytes are as on the disk unless given."""
    raw = file.read_bytes() if cited is None else cited
    origin = cgp.Provenance(
        type="file", uri=f"file://{file}", range=lines, digest=str(content_digest(raw.decode()))
    )
    return frame(name, raw.decode(), provenance=(origin,), **members)


ACK = cgp.HandshakeAck(
    protocol_version=cgp.VERSION,
    provider=cgp.ProviderInfo(
        name="actor", version="1.0", data_flow=cgp.DataFlow(reads=True, writes=False, egress=False)
    ),
    capabilities=cgp.Capabilities(query=cgp.QueryCapability(kinds=()), correlation=True),
)


def ack(*scopes: str, egress: bool = False, **info: Any) -> cgp.HandshakeAck:
    """The greeting of a provider with this data flow."""
    flow = cgp.DataFlow(reads=True, writes=False, egress=egress, egress_scopes=scopes)
    return replace(ACK, provider=replace(ACK.provider, data_flow=flow, **info))


@dataclass(slots=True)
class Actor:
    """A provider in this process; `heard` is everything that it was told."""

    frames: Sequence[cgp.ContextFrame] = ()
    greeting: cgp.Envelope = ACK
    act: Callable[[cgp.Query], cgp.Envelope | None] | None = None
    heard: list[cgp.Envelope] = field(default_factory=list)

    def answer(self, envelope: cgp.Envelope) -> cgp.Envelope | None:
        self.heard.append(envelope)
        if isinstance(envelope, cgp.Handshake):
            return self.greeting
        assert isinstance(envelope, cgp.Query)
        if self.act is not None:
            return self.act(envelope)
        result = cgp.QueryResult(frames=tuple(self.frames), truncated=False)
        return cgp.Frames(id=envelope.id, result=result)

    @property
    def queries(self) -> list[cgp.ContextQuery]:
        return [each.query for each in self.heard if isinstance(each, cgp.Query)]

    def called(self, name: str, origin: Origin = Origin.TYPED) -> Declaration:
        return Declaration(name, Inside(lambda: (self.answer, lambda: None)), origin)


def inside(name: str, *frames: cgp.ContextFrame) -> Declaration:
    return Actor(frames).called(name)


def program(name: str, source: str) -> Declaration:
    """A program of its own."""
    return Declaration(name, Program((sys.executable, "-c", source)), Origin.TYPED)


def example(name: str, mode: str | None = None) -> Declaration:
    """The example provider, perhaps misbehaving."""
    words = (*EXAMPLE, "--misbehave", mode) if mode else EXAMPLE
    return Declaration(name, Program(words), Origin.TYPED)


def ask(
    *declarations: Declaration,
    gate: Gate | None = None,
    limits: Limits | None = None,
    roots: Sequence[Path] = (),
    form: Form = Form.CANONICAL,
    **members: Any,
) -> HostAnswer:
    """One question to these providers."""
    query = cgp.ContextQuery(**{"goal": "why", "max_frames": 32, "max_tokens": 8192, **members})
    around = replace(AROUND, limits=limits or Limits())
    return Host(declarations, gate or Open(), around, TrustedRoots(tuple(roots))).ask(query, form)


def is_gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process has ended, or does so soon: one that was killed may still have to go."""
    status = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def included(answer: HostAnswer) -> list[str]:
    return [row.identity.frame_id for row in answer.audit if row.outcome == "included"]


def excluded(answer: HostAnswer) -> dict[str, str]:
    """Reason by frame."""
    return {r.identity.frame_id: str(r.reason) for r in answer.audit if r.outcome == "excluded"}


def reports(answer: HostAnswer) -> dict[str, tuple[str, str | None]]:
    """Kind and rule by provider."""
    return {report.provider: (str(report.kind), report.rule) for report in answer.reports}
