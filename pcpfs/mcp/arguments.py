"""What a tool takes: told to models in as few words as will do, and read leniently but checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pcpfs.errors import UsageError
from pcpfs.mcp.quoting import DEFAULT_BUDGET, LEAST_BUDGET, MOST_BUDGET
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant

TEXT, NUMBER, LIST = "string", "integer", "array"
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `about` is what its name does not say; `least` and `most` bound a number."""

    name: str
    about: str = ""
    kind: str = TEXT
    required: bool = False
    least: int = 1
    most: int = 1_000_000

    def schema(self) -> dict[str, Any]:
        """As JSON Schema."""
        made: dict[str, Any] = {"type": self.kind}
        if self.kind == LIST:
            made["items"] = {"type": TEXT}
        if self.about:
            made["description"] = self.about
        return made

    def read(self, value: Any) -> Any:
        """The value; UsageError, with what would do, for another kind of thing."""
        if self.kind == LIST:
            return self._list(value)
        if self.kind == NUMBER:
            return self._number(value)
        if not isinstance(value, str):
            raise UsageError(f"{self.name} is a text, not {_shown(value)}")
        return value

    def _list(self, value: Any) -> tuple[str, ...]:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise UsageError(f"{self.name} is a list of texts, not {_shown(value)}")
        return tuple(items)

    def _number(self, value: Any) -> int:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(f"{self.name} is a whole number, not {_shown(value)}")
        if not self.least <= value <= self.most:
            raise UsageError(f"{self.name} is between {self.least} and {self.most}, not {value}")
        return value


BUDGET = Argument("budget", kind=NUMBER, least=LEAST_BUDGET, most=MOST_BUDGET)
AS_OF = Argument("as_of")
LIMIT = Argument("limit", kind=NUMBER, most=200)
CURSOR = Argument("cursor")
"""These four are explained once, by the instructions of the server."""


class Given(Mapping[str, Any]):
    """The arguments of one call, checked; those that were not given are not there."""

    def __init__(self, arguments: Sequence[Argument], given: Mapping[str, Any] | None) -> None:
        known = {argument.name: argument for argument in arguments}
        values = {name: value for name, value in (given or {}).items() if value is not None}
        if unknown := sorted(values.keys() - known.keys()):
            raise UsageError(
                f"there is no argument {_shown(unknown[0])}; there are {', '.join(known)}"
            )
        if missing := [a.name for a in arguments if a.required and a.name not in values]:
            raise UsageError(f"{missing[0]} is missing")
        self._values = {name: known[name].read(value) for name, value in values.items()}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def budget(self) -> int:
        """How many tokens the answer may have."""
        return int(self.get("budget", DEFAULT_BUDGET))

    @property
    def pins(self) -> Pins:
        as_of = self.get("as_of")
        return Pins(None if as_of is None else Instant.read(as_of))

    def only(self, *names: str) -> dict[str, Any]:
        """Those of these arguments that were given, by name."""
        return {name: self._values[name] for name in names if name in self._values}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
