"""Changes of a scope that tell of the source trees that feed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pcpfs.model.branches import Branches
from pcpfs.model.ids import CloneId, RootId
from pcpfs.model.instants import Instant

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RootAdded:
    """A source tree feeds this scope. The latest event of a root_id holds.

    `fingerprint` is the first commit of the source's history (empty where it has none), `observer`
    the one clone that writes observations. `include` are patterns as in a `.gitignore` file.
    """

    type: ClassVar[str] = "root"
    root_id: RootId
    name: str
    kind: str
    observer: CloneId
    fingerprint: str = ""
    include: tuple[str, ...] = ()
    max_bytes: int = 1_048_576

    def to_json(self) -> dict[str, object]:
        return {
            "root_id": self.root_id,
            "name": self.name,
            "kind": self.kind,
            "observer": self.observer,
            "fingerprint": self.fingerprint,
            "include": list(self.include),
            "max_bytes": self.max_bytes,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(
            RootId(value["root_id"]),
            value["name"],
            value["kind"],
            CloneId(value["observer"]),
            value["fingerprint"],
            tuple(value["include"]),
            value["max_bytes"],
        )


@dataclass(frozen=True, slots=True)
class Walked:
    """The git history of a root is recorded. The latest event of a root_id holds.

    All that the commits on the first-parent line from `start` to `tip` say is in the pages; `tip`
    is None while a walk is not finished. `tip_at` and `start_at` are since when they hold. `branch`
    is the ref that is followed (None: HEAD was detached), `since` what was asked for. `cut` tells
    why nothing is known of what lies before `start`: `shallow`, `since`, or empty where the history
    begins there. With `all_branches` the other branches are followed too; `branches` is what has
    changed of them since the event before.
    """

    type: ClassVar[str] = "walked"
    root_id: RootId
    branch: str | None = None
    tip: str | None = None
    tip_at: Instant | None = None
    start: str | None = None
    start_at: Instant | None = None
    cut: str = ""
    since: Instant | None = None
    all_branches: bool = False
    branches: Branches | None = None

    def to_json(self) -> dict[str, object]:
        members = {
            "root_id": self.root_id,
            "branch": self.branch,
            "tip": self.tip,
            "tip_at": None if self.tip_at is None else str(self.tip_at),
            "start": self.start,
            "start_at": None if self.start_at is None else str(self.start_at),
            "cut": self.cut,
            "since": None if self.since is None else str(self.since),
            "all_branches": self.all_branches or None,
            "branches": None if self.branches is None else self.branches.to_json(),
        }
        return {name: value for name, value in members.items() if value is not None}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(
            RootId(value["root_id"]),
            value.get("branch"),
            value.get("tip"),
            Instant.parse(value["tip_at"]) if "tip_at" in value else None,
            value.get("start"),
            Instant.parse(value["start_at"]) if "start_at" in value else None,
            value["cut"],
            Instant.parse(value["since"]) if "since" in value else None,
            value.get("all_branches", False),
            Branches.from_json(value["branches"]) if "branches" in value else None,
        )
