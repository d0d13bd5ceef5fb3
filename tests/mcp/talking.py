"""Calling tools as a model does, and reading what they answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from pcpfs.mcp.quoting import DEFAULT_BUDGET
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import all_tools
from pcpfs.model.cgp import token_cost
from pcpfs.model.pages import Principal
from pcpfs.store.session import Session
from tests.store.workplace import Workplace

MODEL = Principal("model:local")
_FRAME = re.compile(r"^<frame ([^\n]*)>\n(.*?)\n</frame>$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Frame:
    """A quote in an answer: what is said of it, and its text."""

    members: dict[str, str]
    content: str


@dataclass(frozen=True, slots=True)
class Said:
    """An answer."""

    text: str
    is_error: bool

    @property
    def frames(self) -> list[Frame]:
        return [
            Frame({n: unescape(v) for n, v in re.findall(r'(\w+)="([^"]*)"', head)}, content)
            for head, content in _FRAME.findall(self.text)
        ]

    @property
    def frame(self) -> Frame:
        (frame,) = self.frames
        return frame

    @property
    def ours(self) -> str:
        """What stands outside of the frames."""
        return _FRAME.sub("", self.text)

    def named(self, name: str) -> str:
        """A value that an answer gives as `name=value`."""
        (found,) = re.findall(rf"\b{name}=(\S+)", self.text)
        return str(found)


class Talk:
    """Calls tools in the name of a model; every answer keeps its budget."""

    def __init__(self, place: Workplace, principal: Principal = MODEL) -> None:
        self.room = Room(lambda: Session(place.store, principal))
        self.tools = all_tools()

    def call(self, tool: str, /, **given: object) -> Said:
        text, is_error = self.tools[tool].call(self.room, given)
        budget = given.get("budget")
        assert token_cost(text) <= (budget if isinstance(budget, int) else DEFAULT_BUDGET)
        return Said(text, is_error)

    def does(self, tool: str, /, **given: object) -> Said:
        """A call that is answered."""
        said = self.call(tool, **given)
        assert not said.is_error, said.text
        return said

    def fails(self, tool: str, /, **given: object) -> Said:
        """A call that is refused."""
        said = self.call(tool, **given)
        assert said.is_error, said.text
        return said
