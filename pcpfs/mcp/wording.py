"""Errors of the store tell people which command helps; a model has tools, and a user to ask."""

from __future__ import annotations

import re

TOOLS = {
    "search": "search",
    "ls": "map",
    "symbol": "symbol",
    "log": "log",
    "diff": "read",
    "show": "read",
    "write": "write",
    "revise": "revise",
    "resolve": "revise",
    "link": "link",
    "stale": "stale",
}
"""By command, the tool that does what an error sends one for."""

_COMMAND = re.compile(
    r"`?pcpfs (?!(?:store|reads|wrote|does|with)\b)([a-z]+)"
    r"((?: (?:--?[a-z][a-z-]*|[A-Z]+\b|/[a-z]+|list|show))*)`?"
)


def for_a_model(message: str) -> str:
    """The message with tools in place of commands; what no tool does is the user's to do."""
    return _COMMAND.sub(_told, message)


def _told(found: re.Match[str]) -> str:
    tool = TOOLS.get(found[1])
    if tool is not None:
        return f"the tool {tool}"
    return f"`pcpfs {found[1]}{found[2]}` (the user can do that)"
