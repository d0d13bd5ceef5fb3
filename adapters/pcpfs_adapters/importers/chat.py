"""Chat transcripts: JSON or JSONL, one event page a message.

Understood are a list of messages, an object that has one (`messages`, `chat_messages`), a list of
such objects, and one message or one such object a line. A message has a role (`role`, `sender`,
`author`) and a content (`content`, `text`, `parts`); perhaps an instant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pcpfs.errors import InvalidInstant, UsageError
from pcpfs.model.imports import Found, FoundEvents, Unread
from pcpfs.model.instants import Instant
from pcpfs.model.requests import EventDraft
from pcpfs.ports import Importer

_LISTS = ("messages", "chat_messages", "conversation", "turns")
_ROLES = ("role", "sender", "author", "from", "speaker")
_CONTENTS = ("content", "text", "message", "value", "parts")
_INSTANTS = ("timestamp", "created_at", "create_time", "time", "date")
_IDS = ("conversation_id", "uuid", "id", "session_id")


class ChatImporter:
    """See the module."""

    name = "chat"

    def recognises(self, path: Path) -> bool:
        return path.is_file() and path.suffix.lower() in (".json", ".jsonl", ".ndjson")

    def read(self, path: Path) -> Iterator[Found]:
        """One FoundEvents a conversation; a message that is none is Unread."""
        for number, (identity, messages) in enumerate(_conversations(path)):
            name = identity or (path.stem if number == 0 else f"{path.stem}-{number + 1}")
            drafts: list[EventDraft] = []
            for place, message in enumerate(messages, 1):
                draft = _draft(name, place, message)
                if isinstance(draft, EventDraft):
                    drafts.append(draft)
                else:
                    yield Unread(f"{path.name}#message-{place}", draft)
            if drafts:
                yield FoundEvents(f"conversation:{name}", tuple(drafts))


def importer() -> Importer:
    return ChatImporter()


def _conversations(path: Path) -> Iterator[tuple[str | None, Sequence[Any]]]:
    """Id and messages of each conversation of a file."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
        if path.suffix.lower() == ".json":
            whole = json.loads(text)
        else:
            whole = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}", path=str(path)) from error
    items = whole if isinstance(whole, list) else [whole]
    if not any(_list_of(item) is not None for item in items):
        if not isinstance(whole, list):
            raise UsageError(f"{path} holds no messages", path=str(path))
        yield None, items
        return
    for item in items:
        messages = _list_of(item)
        if messages is not None:
            yield _first(item, _IDS), messages


def _list_of(item: object) -> Sequence[Any] | None:
    if not isinstance(item, Mapping):
        return None
    return next((item[name] for name in _LISTS if isinstance(item.get(name), list)), None)


def _draft(conversation: str, place: int, message: object) -> EventDraft | str:
    """The event of a message; a text that says why there is none."""
    if not isinstance(message, Mapping):
        return "no message: it is no object"
    content = next((message[name] for name in _CONTENTS if message.get(name) is not None), None)
    if content is None:
        return "no message: it has no content"
    text = _text(content)
    try:
        moment = _instant(next((message[n] for n in _INSTANTS if message.get(n)), None))
    except InvalidInstant as error:
        return error.message
    ref = f"conversation:{conversation}#message-{place}"
    payload = text if text is not None else json.dumps(content, ensure_ascii=False, sort_keys=True)
    role = re.sub(r"[^\w.:-]+", "-", _role(message))[:100] or "unknown"
    return EventDraft(
        payload.encode("utf-8", "replace"),
        media_type="text/plain" if text is not None else "application/json",
        source_refs=(ref,),
        key=ref,
        observed_at=moment,
        about={"source": role},
    )


def _text(content: object) -> str | None:
    """The text of a content; None where it is more than text (a call of a tool, an image)."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping) and isinstance(content.get("parts"), list):
        return _text(content["parts"])
    if isinstance(content, list):
        texts = [part if isinstance(part, str) else _part(part) for part in content]
        if texts and all(text is not None for text in texts):
            return "\n".join(filter(None, texts))
    return None


def _part(part: object) -> str | None:
    if isinstance(part, Mapping) and part.get("type", "text") == "text":
        text = part.get("text")
        return text if isinstance(text, str) else None
    return None


def _role(message: Mapping[str, Any]) -> str:
    value = next((message[name] for name in _ROLES if message.get(name)), "unknown")
    if isinstance(value, Mapping):
        value = value.get("role") or value.get("name") or "unknown"
    return str(value)


def _instant(value: object) -> Instant | None:
    """RFC 3339, or seconds since 1970 (milliseconds where seconds would be absurd)."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInstant(f"{value!r} is no instant")
    if isinstance(value, str) and not re.fullmatch(r"\d{9,13}(\.\d+)?", value):
        return Instant.read(value)
    seconds = float(value)
    moment = seconds / 1000 if seconds > 1e11 else seconds
    if not 0 <= moment < 2.5e11:
        raise InvalidInstant(f"{value!r} is no instant")
    return Instant(round(moment * 1_000_000))


def _first(item: Mapping[str, Any], names: Sequence[str]) -> str | None:
    found = next((item[name] for name in names if isinstance(item.get(name), str | int)), None)
    return re.sub(r"[\s:#]+", "-", str(found))[:100] if found is not None else None
