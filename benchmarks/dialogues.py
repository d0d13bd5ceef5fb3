"""Reads dated dialogue sessions, and questions whose evidence is known, from JSON files.

A file (`.json`; or `.jsonl`, one value a line) holds one conversation or a list of them, in any of
three shapes; members that are not named here are passed over. Samples are in `shapes/`.

- plain: `{"sessions": [{"date", "turns": [{"id", "speaker", "text"}]}], "questions": [{"question",
  "evidence": [turn ids]}]}`
- as LoCoMo has it: `{"conversation": {"session_1": [{"dia_id", "speaker", "text"}],
  "session_1_date_time": "1:56 pm on 8 May, 2023", …}, "qa": [{"question", "evidence": […]}]}`
- as LongMemEval has it, a question with a haystack of its own: `{"question", "haystack_dates":
  ["2023/05/20 (Sat) 02:21", …], "haystack_session_ids", "haystack_sessions": [[{"role", "content",
  "has_answer"}]], "answer_session_ids"}`. The evidence are the turns that have the answer, else all
  turns of the sessions that are named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pcpfs.errors import InvalidInstant
from pcpfs.model.instants import Instant

_SPOKEN = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d", "%Y-%m-%d %H:%M")


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


class NotDialogues(ValueError):
    """A file is in none of the shapes; says which, and what is wrong."""


def conversations(folder: Path) -> Iterator[Conversation]:
    """All conversations of the JSON files in a folder (or of one file) that have sessions."""
    kinds = (".json", ".jsonl")
    files = (
        sorted(f for f in folder.rglob("*") if f.suffix in kinds) if folder.is_dir() else [folder]
    )
    for file in files:
        try:
            for number, one in enumerate(_values(file)):
                found = _conversation(f"{file.stem}-{number}", one)
                if found is not None:
                    yield found
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise NotDialogues(f"{file}: {type(error).__name__}: {error}") from error


def _values(file: Path) -> Iterator[Any]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        yield from (json.loads(line) for line in text.split("\n") if line.strip())
        return
    value = json.loads(text)
    yield from value if isinstance(value, list) else [value]


def _conversation(name: str, value: Any) -> Conversation | None:
    if not isinstance(value, dict):
        return None
    if "haystack_sessions" in value:
        return _haystack(name, value)
    if "conversation" in value:
        sessions = tuple(_numbered(value["conversation"]))
        asked = value.get("qa", ())
    else:
        sessions = tuple(_session(one["date"], one["turns"]) for one in value.get("sessions", ()))
        asked = value.get("questions", ())
    return Conversation(name, sessions, tuple(_questions(asked, sessions))) if sessions else None


def _haystack(name: str, value: Mapping[str, Any]) -> Conversation:
    wanted = set(value.get("answer_session_ids") or ())
    ids, dates = value["haystack_session_ids"], value["haystack_dates"]
    sessions: list[Session] = []
    evidence: list[str] = []
    parts = zip(ids, dates, value["haystack_sessions"], strict=True)
    for number, (session_id, date, said) in enumerate(parts):
        turns = tuple(
            Turn(f"{number}:{place}", one["role"], one["content"]) for place, one in enumerate(said)
        )
        sessions.append(Session(_instant(date), turns))
        if session_id in wanted:
            answering = [t for t, one in zip(turns, said, strict=True) if one.get("has_answer")]
            evidence += [turn.turn_id for turn in answering or turns]
    question = {"question": value["question"], "evidence": evidence}
    return Conversation(name, tuple(sessions), tuple(_questions([question], sessions)))


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
        for form in _SPOKEN:
            with suppress(ValueError):
                return Instant.read(datetime.strptime(text, form).replace(tzinfo=UTC).isoformat())
        raise ValueError(f"{text!r} is no date that is known here") from None


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
