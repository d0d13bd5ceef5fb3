"""What the checks of a host are made with: scripted providers, a question, and what came of it.

The contract: a host reads one JSON object from its standard input and writes one to its standard
output. In: `providers` [{`id`, `command`}], `query` as on the wire, `timeout_seconds`, and where a
check is about them `consents` [{`provider_id`, `scope`}] and `roots` [folder]. Out: `admitted` and
`dropped`, identities of frames ({`provider_id`, `frame_id`, `content_digest`}), `reason` with the
latter; `prompt` and `usage` {`budget_consumed`, `items` [{`identity`, `cost`}]} if it likes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcpfs.model.cgp import VERSION, token_cost
from pcpfs.model.cgp_rules import content_digest
from pcpfs_conformance import host_actor
from pcpfs_conformance.provider_bench import CheckFailed, CheckSkipped

Json = dict[str, Any]
Key = tuple[str, str]
Runner = Callable[[Json], Json]

PROBE = "conformance probe: how is the retry policy"
TIMEOUT = 20.0
_INTERPRETER = (sys.executable, "-I", "-S")


def frame(name: str, content: str = "", **members: Any) -> Json:
    """A frame that keeps every rule, but for the members that a check changes."""
    text = content or f"This is what {name} says.\n"
    return {
        "id": name,
        "kind": "doc",
        "title": f"About {name}",
        "content": text,
        "content_digest": content_digest(text),
        "score": 0.5,
        "token_cost": token_cost(text),
        "citation_label": f"{name}.md",
        **members,
    }


def ack(version: str = VERSION, **flow: Any) -> Json:
    """The greeting of an actor; `flow` changes what it says of the data."""
    return {
        "type": "handshake_ack",
        "protocol_version": version,
        "provider": {
            "name": "actor",
            "version": "1.0.0",
            "data_flow": {"reads": True, "writes": False, "egress": False, **flow},
        },
        "capabilities": {"query": {"kinds": ["doc"]}, "correlation": True},
    }


@dataclass(frozen=True, slots=True)
class Cast:
    """One scripted provider under the name that the host is told."""

    name: str
    frames: Sequence[Json]
    script: Mapping[str, Any] = field(default_factory=dict)


def cast(name: str, *frames: Json, **script: Any) -> Cast:
    return Cast(name, frames, script)


@dataclass(frozen=True, slots=True)
class Played:
    """What a host made of a scene."""

    answer: Json
    asked: Mapping[str, bool]
    served: Mapping[str, tuple[Key, ...]]

    @property
    def admitted(self) -> list[Key]:
        return [key_of(each) for each in _identities(self.answer, "admitted")]

    @property
    def dropped(self) -> list[Key]:
        return [key_of(each) for each in _identities(self.answer, "dropped")]

    @property
    def reasons(self) -> dict[Key, str]:
        listed = _identities(self.answer, "dropped")
        return {key_of(each): str(each.get("reason") or "") for each in listed}

    @property
    def digests(self) -> list[tuple[Key, object]]:
        listed = (*_identities(self.answer, "admitted"), *_identities(self.answer, "dropped"))
        return [(key_of(each), each.get("content_digest")) for each in listed]

    @property
    def offered(self) -> Counter[Key]:
        return Counter(key for keys in self.served.values() for key in keys)

    def of(self, name: str) -> list[Key]:
        """What was admitted of one provider."""
        return [key for key in self.admitted if key[0] == name]

    @property
    def prompt(self) -> str:
        """Skips the check where a host gives none."""
        prompt = self.answer.get("prompt")
        if not isinstance(prompt, str):
            raise CheckSkipped("it gives no prompt")
        return prompt


@dataclass(frozen=True, slots=True)
class Bench:
    """How to run the host, and what to ask it. Where it `has_answered` no plain question, checks
    that build on it are skipped."""

    run: Runner
    goal: str = PROBE
    has_answered: bool = True

    def play(
        self,
        *casts: Cast,
        max_tokens: int = 4096,
        max_frames: int = 32,
        timeout: float = TIMEOUT,
        **members: Any,
    ) -> Played:
        """Ask the host a question to these providers, each in a process of its own."""
        if not self.has_answered:
            raise CheckSkipped("a plain question is not answered; see host-answer")
        query = {"goal": self.goal, "max_tokens": max_tokens, "max_frames": max_frames}
        with folder() as place:
            providers = [_laid(place, each) for each in casts]
            question = {"providers": providers, "query": query, "timeout_seconds": timeout}
            answer = self.run({**question, **members})
            return _played(place, casts, answer)


def _laid(folder: Path, each: Cast) -> Json:
    """The script of one provider on the disk, and the command that plays it."""
    trace = folder / each.name
    script = {"ack": ack(), "frames": list(each.frames), "trace": str(trace), **each.script}
    file = trace.with_suffix(".json")
    file.write_text(json.dumps(script), encoding="utf-8")
    command = [*_INTERPRETER, str(Path(host_actor.__file__)), str(file)]
    return {"id": each.name, "command": command}


def _played(folder: Path, casts: Sequence[Cast], answer: Json) -> Played:
    asked = {each.name: (folder / f"{each.name}.asked").exists() for each in casts}
    served = {each.name: _served(folder, each.name) for each in casts}
    played = Played(answer, asked, served)
    played.admitted, played.dropped  # noqa: B018 (both are there, or the check fails now)
    return played


def _served(folder: Path, name: str) -> tuple[Key, ...]:
    try:
        listed = json.loads((folder / f"{name}.served").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    return tuple((name, frame_id) for frame_id in listed)


def _identities(answer: Json, name: str) -> list[Json]:
    """A list of the answer; CheckFailed where it is none of identities."""
    listed = answer.get(name)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise CheckFailed(f"its answer has no list of identities {name!r}")
    return listed


def key_of(identity: Json) -> Key:
    return str(identity.get("provider_id")), str(identity.get("frame_id"))


def require_honest(played: Played, name: str = "honest") -> None:
    """Skip a check whose control is missing: it would pass for a host that admits nothing."""
    if not played.of(name):
        raise CheckSkipped("nothing of the honest provider was admitted; see host-crash-isolation")


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for scripts, and for files that frames cite."""
    with tempfile.TemporaryDirectory(prefix="pcpfs-inspect-") as name:
        yield Path(name)
