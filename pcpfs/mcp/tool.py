"""What a tool is, and where the tools are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pcpfs.errors import NotPermitted, PcpfsError
from pcpfs.mcp import tools
from pcpfs.mcp.arguments import Argument, Given
from pcpfs.mcp.quoting import Quote, answer
from pcpfs.mcp.room import Room
from pcpfs.mcp.wording import for_a_model
from pcpfs.model.grants import WRITE

Refusal = Callable[[Room, Given, PcpfsError], tuple[str, list[Quote]] | None]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: `run` answers with text within the budget that was given.

    `refuse` says more of an error than what its code alone tells one to do: a line, and quotes.
    """

    name: str
    about: str
    arguments: tuple[Argument, ...]
    run: Callable[[Room, Given], str]
    reads: bool = True
    refuse: Refusal | None = None

    def schema(self) -> dict[str, Any]:
        """Its arguments as JSON Schema."""
        made: dict[str, Any] = {
            "type": "object",
            "properties": {argument.name: argument.schema() for argument in self.arguments},
        }
        required = [argument.name for argument in self.arguments if argument.required]
        return {**made, "required": required} if required else made

    def call(self, room: Room, given: Mapping[str, Any] | None) -> tuple[str, bool]:
        """The answer, and whether it is an error that the model can do something about."""
        checked = None
        try:
            checked = Given(self.arguments, given)
            return self.run(room, checked), False
        except PcpfsError as error:
            return self._refused(room, checked, error), True

    def _refused(self, room: Room, given: Given | None, error: PcpfsError) -> str:
        told = None
        if given is not None and self.refuse is not None:
            told = self.refuse(room, given, error)
        next_step, quotes = told or (_next(room, error), [])
        budget = given.budget if given is not None else 500
        return answer(
            f"{error.code}: {for_a_model(error.message)}", quotes, budget, lambda _: next_step
        )


def _next(room: Room, error: PcpfsError) -> str:
    if isinstance(error, NotPermitted) and "scope" in error.fields:
        writable = [s.scope for s in room.session.scopes() if WRITE in s.permissions]
        if writable and error.fields.get("permission") == WRITE:
            return (
                f"You may write in {', '.join(writable[:8])}. A new scope or thread begins with a "
                "write of its owner: ask the user for one."
            )
    return NEXT.get(error.code, "")


NEXT: Mapping[str, str] = {
    "usage": "Call again with that put right.",
    "invalid_name": "Call again with another name.",
    "invalid_instant": "Call again with a time such as 2026-03-01T12:00:00Z.",
    "not_found": "Look for it first: search or symbol give the ids that there are.",
    "not_permitted": "Nothing was done; the user can ask the owner of the store.",
    "secret_found": "Take it out of the text and call again. Nothing was written.",
    "busy": "Nothing was written; call again in some seconds.",
    "unavailable": "If nothing else is said, call again in some seconds.",
    "read_only": "Nothing was written, and nothing can be.",
    "storage_full": "Nothing was written; tell the user that the disk is full.",
    "corrupt": "Tell the user to run `pcpfs fsck`.",
}
"""What to do about an error, by its code."""


def all_tools() -> dict[str, Tool]:
    """Every tool, by name, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(tools.__path__))
    found = [importlib.import_module(f"{tools.__name__}.{name}").TOOL for name in names]
    return {tool.name: tool for tool in found}
