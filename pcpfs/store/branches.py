"""What the store knows of the branches of its sources beside their lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pcpfs.errors import NotFound
from pcpfs.model.branches import Branches, Fork
from pcpfs.model.instants import Instant
from pcpfs.model.names import escaped
from pcpfs.model.roots import Walked
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import BesideRow

_PREFIXES = ("refs/heads/", "refs/remotes/")


class Held(NamedTuple):
    """Bytes that a branch has at a path; `commit` gave it to them, since `at`."""

    revision: str
    adapter: str
    at: int
    commit: str
    author: str


def recorded_branches(catalog: Catalog, root_id: str) -> Branches:
    """The branches of a root beside its line; none where they are not followed."""
    rows = catalog.query("SELECT body FROM branches WHERE root_id = ?", (root_id,))
    return Branches.from_json(json.loads(rows[0][0])) if rows else Branches()


def short_name(ref: str) -> str:
    """`main`, `origin/main`: as people call a ref."""
    return next((ref[len(p) :] for p in _PREFIXES if ref.startswith(p)), ref)


def by_name(ref: str) -> tuple[bool, str]:
    """The order of refs: local branches first."""
    return not ref.startswith(_PREFIXES[0]), ref


@dataclass(slots=True)
class RootBranches:
    """The branches of one root; `walked` tells of its line."""

    catalog: Catalog
    branches: Branches
    walked: Walked | None
    _names: Mapping[str, tuple[str, ...]] | None = field(default=None, init=False)

    @classmethod
    def of(cls, catalog: Catalog, root_id: str | None) -> RootBranches:
        rows = catalog.query("SELECT walked FROM root WHERE root_id = ?", (root_id,))
        walked = Walked.from_json(json.loads(rows[0][0])) if rows and rows[0][0] else None
        return cls(catalog, recorded_branches(catalog, root_id or ""), walked)

    def __contains__(self, commit: object) -> bool:
        """Whether a branch has this commit, beside the line."""
        return commit in self.branches.commits

    @property
    def line(self) -> str | None:
        """The ref of the line."""
        return escaped(self.walked.branch) if self.walked and self.walked.branch else None

    def names(self, commit: str) -> tuple[str, ...]:
        """The branches that have a commit beside the line, local ones first."""
        if self._names is None:
            found: dict[str, list[str]] = {}
            for ref in sorted(self.branches.tips, key=by_name):
                for one in self.commits(ref):
                    found.setdefault(one, []).append(short_name(ref))
            self._names = {one: tuple(names) for one, names in found.items()}
        return self._names.get(commit, ())

    def find(self, name: str) -> str | None:
        """The ref that is meant by a name, or by the whole ref: that of the line too."""
        refs = sorted({*self.branches.tips, *filter(None, [self.line])}, key=by_name)
        spelt = (name, escaped(name))
        return next((ref for ref in refs if ref in spelt or short_name(ref) in spelt), None)

    def commits(self, ref: str) -> Iterator[str]:
        """The commits of a branch beside the line, the last one first."""
        at: str | None = self.branches.tips.get(ref)
        while at is not None and (aside := self.branches.commits.get(at)) is not None:
            yield at
            at = aside.parent

    def held(self, page: str, ref: str, until: Instant | None = None) -> Held | None:
        """What a branch has of a page, or had at an instant as it is now; None for nothing.
        NotFound where that is not recorded."""
        told = {row.commit_id: row for row in self.catalog.besides("page_id = ?", (page,))}
        for commit in self.commits(ref):
            if commit in told and (until is None or self.branches.commits[commit].at <= until):
                return _held(told[commit])
        if ref == self.line:
            return self._on_line(page, None, until)
        base = self._base(ref)
        if base is None:
            return None
        if base not in self.branches.forks or self._is_before_line(self.branches.forks[base]):
            raise NotFound(
                f"what {short_name(ref)} had of this file before {base[:12]} is not recorded: the "
                "recorded history begins later"
            )
        return self._on_line(page, self.branches.forks[base], until)

    def _base(self, ref: str) -> str | None:
        """The commit that the commits of a branch lead to; None if they lead to a first one."""
        *_, last = (None, *self.commits(ref))
        return self.branches.tips[ref] if last is None else self.branches.commits[last].parent

    def _is_before_line(self, fork: Fork) -> bool:
        start = self.walked.start_at if self.walked else None
        return start is not None and fork.at < start

    def _on_line(self, page: str, fork: Fork | None, moment: Instant | None) -> Held | None:
        """What commits of the line up to a fork (None: all) have left of a page at a moment."""
        limits = [limit.microseconds for limit in (fork and fork.at, moment) if limit]
        until = min(limits, default=None)
        rows = self.catalog.query(
            "SELECT valid_from, place, commit_id, author, revision_id, adapter FROM span "
            "WHERE page_id = ?1 AND commit_id IS NOT NULL AND (?2 IS NULL OR valid_from <= ?2) "
            "UNION ALL SELECT valid_to, place, commit_id, NULL, NULL, NULL FROM closing "
            "WHERE page_id = ?1 AND commit_id IS NOT NULL AND (?2 IS NULL OR valid_to <= ?2) "
            "ORDER BY 1, 2",
            (page, until),
        )
        if fork is not None:
            rows = [r for r in rows if r[0] < fork.at.microseconds or r[2] in fork.same]
        if not rows or rows[-1][4] is None:
            return None
        at, _, commit, author, revision, adapter = rows[-1]
        return Held(revision, adapter, at, commit, author)


def _held(row: BesideRow) -> Held | None:
    if row.revision_id is None:
        return None
    return Held(row.revision_id, row.adapter or "", row.at, row.commit_id, row.author)


def branch_of(catalog: Catalog, root_id: str | None, name: str) -> tuple[RootBranches, str]:
    """A branch of a source by its name; NotFound, with those that there are."""
    found = RootBranches.of(catalog, root_id)
    ref = found.find(name)
    if ref is None:
        raise NotFound(unknown_branch(name, found))
    return found, ref


def unknown_branch(name: str, *roots: RootBranches) -> str:
    """What to say of a branch that no root has, and what to do."""
    refs = {ref for root in roots for ref in root.branches.tips}
    if not refs:
        return (
            f"no other branch is recorded here, so not {name!r}; see sync --history --all-branches"
        )
    names = ", ".join(map(short_name, sorted(refs, key=by_name)[:10]))
    return f"no branch {name!r} is recorded here, but {names}"
