"""What the branches of a source say beside the line that decides what holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from pcpfs.model.ids import PageId, RevisionId
from pcpfs.model.instants import Instant

JsonObject = Mapping[str, Any]
_Value = TypeVar("_Value")


class Version(NamedTuple):
    """Bytes of a page, and the adapter that has looked at them."""

    revision: RevisionId
    adapter: str

    def to_json(self) -> dict[str, str]:
        return self._asdict()

    @classmethod
    def read(cls, value: JsonObject | None) -> Self | None:
        return None if value is None else cls(RevisionId(value["revision"]), value["adapter"])


@dataclass(frozen=True, slots=True)
class Beside:
    """What a commit beside the line did to a page: it held `was` before and `now` after it (None:
    nothing). It says nothing of what holds.

    Where nothing is left `reason` tells why, as in `Closed`; `to` is where the file moved, `of`
    where it came from. Which branches have the commit is said by the scope (`Branches`).
    """

    type: ClassVar[str] = "beside"
    commit: str
    author: str
    at: Instant
    was: Version | None = None
    now: Version | None = None
    reason: str | None = None
    to: PageId | None = None
    of: PageId | None = None

    @property
    def versions(self) -> tuple[Version, ...]:
        return tuple(filter(None, (self.was, self.now)))

    def to_json(self) -> dict[str, object]:
        return {
            "commit": self.commit,
            "author": self.author,
            "at": str(self.at),
            "was": self.was and self.was.to_json(),
            "now": self.now and self.now.to_json(),
            "reason": self.reason,
            "to": self.to,
            "of": self.of,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(
            value["commit"],
            value["author"],
            Instant.parse(value["at"]),
            Version.read(value.get("was")),
            Version.read(value.get("now")),
            value.get("reason"),
            PageId(value["to"]) if "to" in value else None,
            PageId(value["of"]) if "of" in value else None,
        )


class Aside(NamedTuple):
    """A commit beside the line: its first parent (None: it has none, or git does not have it here)
    and since when its branch was so."""

    parent: str | None
    at: Instant


class Fork(NamedTuple):
    """A commit on the line from which branches lead away: since when it holds, and the commits of
    the line up to it that hold since the same instant, itself the last."""

    at: Instant
    same: tuple[str, ...]


class Line(NamedTuple):
    """The line that branches were followed up to: its tip, and what `since` was asked for."""

    tip: str
    since: Instant | None = None


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of a source: the commit at the tip of each ref, the commits beside the line that
    lead to them, and where those leave the line.

    As a part of `Walked` what has changed: `gone` are refs, `left` commits, that are no longer
    among them; no `line` where it is the same.
    """

    tips: Mapping[str, str] = field(default_factory=dict)
    commits: Mapping[str, Aside] = field(default_factory=dict)
    forks: Mapping[str, Fork] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    line: Line | None = None

    def then(self, later: Branches) -> Branches:
        """What they are after a change."""
        return Branches(
            _changed(self.tips, later.gone, later.tips),
            _changed(self.commits, later.left, later.commits),
            _changed(self.forks, later.left, later.forks),
            line=later.line or self.line,
        )

    def to(self, later: Branches) -> Branches:
        """The change that leads to what they are later."""
        lost = {*self.commits, *self.forks} - {*later.commits, *later.forks}
        lost |= self.commits.keys() & later.forks.keys() | self.forks.keys() & later.commits.keys()
        before = self.then(Branches(left=tuple(lost)))
        return Branches(
            _new(before.tips, later.tips),
            _new(before.commits, later.commits),
            _new(before.forks, later.forks),
            tuple(sorted(self.tips.keys() - later.tips.keys())),
            tuple(sorted(lost)),
            None if later.line == self.line else later.line,
        )

    def to_json(self) -> dict[str, object]:
        members: dict[str, object] = {
            "tips": dict(self.tips),
            "commits": {
                commit: {"at": str(at)} | ({"parent": parent} if parent else {})
                for commit, (parent, at) in self.commits.items()
            },
            "forks": {
                commit: {"at": str(at), "same": list(same)}
                for commit, (at, same) in self.forks.items()
            },
            "gone": list(self.gone),
            "left": list(self.left),
        }
        if self.line is not None:
            tip, since = self.line
            members["line"] = {"tip": tip} | ({"since": str(since)} if since else {})
        return {name: value for name, value in members.items() if value}

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(
            {ref: str(tip) for ref, tip in value.get("tips", {}).items()},
            {
                commit: Aside(one.get("parent"), Instant.parse(one["at"]))
                for commit, one in value.get("commits", {}).items()
            },
            {
                commit: Fork(Instant.parse(one["at"]), tuple(one["same"]))
                for commit, one in value.get("forks", {}).items()
            },
            tuple(value.get("gone", ())),
            tuple(value.get("left", ())),
            _line(value["line"]) if "line" in value else None,
        )


def _line(value: JsonObject) -> Line:
    return Line(value["tip"], Instant.parse(value["since"]) if "since" in value else None)


def _changed(
    known: Mapping[str, _Value], gone: Iterable[str], new: Mapping[str, _Value]
) -> Mapping[str, _Value]:
    without = set(gone)
    return {name: value for name, value in known.items() if name not in without} | dict(new)


def _new(known: Mapping[str, _Value], later: Mapping[str, _Value]) -> Mapping[str, _Value]:
    return {name: value for name, value in later.items() if known.get(name) != value}
