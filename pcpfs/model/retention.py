"""How long the pages of a scope are kept, whatever else is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pcpfs.model.instants import Instant


@dataclass(frozen=True, slots=True)
class RetentionSet:
    """From now on nothing of the scope is erased before `hold_until`, nor any page before
    `keep_days` days after it was last changed; None for no such hold."""

    type: ClassVar[str] = "retention"
    hold_until: Instant | None = None
    keep_days: int | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "hold_until": None if self.hold_until is None else str(self.hold_until),
            "keep_days": self.keep_days,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        until, days = value.get("hold_until"), value.get("keep_days")
        return cls(
            None if until is None else Instant.parse(until), None if days is None else int(days)
        )
