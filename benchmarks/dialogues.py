"""Reads dated dialogue sessions, and questions whose evidence is known, from JSON files.

Plain: `{"sessions": [{"date": "2026-03-01", "turns": [{"id", "speaker", "text"}]}],
"questions": [{"question", "evidence": [turn ids]}]}`, one conversation or a list of them.
Or as the research data on long conversations has it: `{"conversation": {"session_1":
[{"dia_id", "speaker", "text"}], "session_1_date_time": "1:56 pm on 8 May, 2023", …},
"qa": [{"question", "evidence"}]}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pcpfs.errors import InvalidInstant
from pcpfs.model.instants import Instant

_SPOKEN = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    turn_id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting; `date` as its file gives it."""

    date: Instant
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence` are the turns that hold the answer."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


def conversations(folder: Path) -> Iterator[Conversation]:
    """All conversations of the JSON files in a folder (or of one file) that have sessions."""
    files = sorted(folder.rglob("*.json")) if folder.is_dir() else [folder]
    for file in files:
        value = json.loads(file.read_text(encoding="utf-8"))
        for number, one in enumerate(value if isinstance(value, list) else [value]):
            found = _conversation(f"{file.stem}-{number}", one)
            if found is not None:
                yield found


def _conversation(name: str, value: Any) -> Conversation | None:
    if not isinstance(value, dict):
        return None
    if "conversation" in value:
        sessions = tuple(_numbered(value["conversation"]))
        asked = value.get("qa", ())
    else:
        sessions = tuple(_session(one["date"], one["turns"]) for one in value.get("sessions", ()))
        asked = value.get("questions", ())
    return Conversation(name, sessions, tuple(_questions(asked, sessions))) if sessions else None


def _numbered(value: Mapping[str, Any]) -> Iterator[Session]:
    names = [name for name in value if re.fullmatch(r"session_\d+", name)]
    for name in sorted(names, key=lambda name: int(name[8:])):
        yield _session(value[f"{name}_date_time"], value[name])


def _session(date: str, turns: Sequence[Mapping[str, Any]]) -> Session:
    return Session(
        _instant(date),
        tuple(
            Turn(str(turn.get("id") or turn["dia_id"]), turn["speaker"], _said(turn))
            for turn in turns
        ),
    )


def _said(turn: Mapping[str, Any]) -> str:
    """The words, and what is in a picture that was shown."""
    return " ".join(filter(None, (turn.get("text"), turn.get("blip_caption"))))


def _instant(text: str) -> Instant:
    try:
        return Instant.read(text)
    except InvalidInstant:
        spoken = datetime.strptime(text, _SPOKEN).replace(tzinfo=UTC)
        return Instant.read(spoken.isoformat())


def _questions(
    asked: Sequence[Mapping[str, Any]], sessions: Sequence[Session]
) -> Iterator[Question]:
    """Those whose evidence is among the turns; ids may stand several in one text."""
    known = {turn.turn_id for session in sessions for turn in session.turns}
    for one in asked:
        given = one.get("evidence") or ()
        ids = {part for text in given for part in re.split(r"[;,\s]+", str(text))}
        if ids & known:
            yield Question(str(one["question"]), frozenset(ids & known))
