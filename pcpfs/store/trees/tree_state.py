"""What a look at `tree/` compares, and the edits that it finds: values only.

Paths are relative to the store (`scopes/…/tree/x.md`), `name` is relative to `tree/`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.store.layout import namespace_of
from pcpfs.store.local import Base
from pcpfs.store.trees.tree import Wanted

_TREE = re.compile(r"(scopes/.+?)/tree/(.+)", re.DOTALL)
_SIBLING = re.compile(r"(.*)~([0-9a-f]{8})(\.[^./]*)?", re.DOTALL)
_MARKERS = (b"<<<<<<< ", b"=======", b">>>>>>> ")


@dataclass(frozen=True, slots=True)
class TreePage:
    """A page as far as its files are concerned.

    `heads` are in the order of their names; `equals` gives for each revision that is nobody's
    parent all heads that say the same. `digests` are the payloads of all revisions, oldest first.
    """

    page: PageId
    scope: Namespace
    name: str
    lifecycle: str
    heads: tuple[RevisionId, ...]
    equals: Mapping[RevisionId, tuple[RevisionId, ...]]
    digests: Mapping[RevisionId, Digest]

    def newest(self, digest: Digest) -> RevisionId | None:
        """The revision with this text, a head rather than an older one."""
        known = [revision for revision, found in self.digests.items() if found == digest]
        heads = [revision for revision in known if revision in self.equals]
        return next(iter(reversed(heads or known)), None)

    def parents(self, *revisions: RevisionId) -> tuple[RevisionId, ...]:
        """These as parents of a new revision: heads with all that say the same."""
        found = [r for revision in revisions for r in self.equals.get(revision, (revision,))]
        return tuple(dict.fromkeys(found))


class Knowledge(Protocol):
    """What the plan may ask of the store and of the files."""

    def page(self, page: PageId) -> TreePage | None:
        """None for what is no readable page with files in `tree/`."""
        ...

    def claiming(self, scope: Namespace, name: str) -> Sequence[TreePage]:
        """All pages that claim this name, tombstoned ones included, oldest first."""
        ...

    def payload(self, scope: Namespace, digest: Digest) -> bytes: ...

    def text(self, path: str) -> bytes:
        """What the file holds."""
        ...


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that was seen, and what should be there.

    `files` are the files that could be read; `problems` what is there otherwise, and why it is
    left alone. `bases` is what we know to have been laid; `unknown` are paths that some commit had,
    with the page that wants them, where it cannot be told what was laid. `moved`: HEAD or the stash
    moved since our last look. `absence`: whether a file that is not there was removed (it may be
    left out of the work tree by a setting of git).
    """

    files: Mapping[str, Digest]
    problems: Mapping[str, str]
    bases: Mapping[str, Base]
    wanted: Mapping[str, Wanted]
    unknown: Mapping[str, PageId] = field(default_factory=dict)
    formers: Mapping[str, Base] = field(default_factory=dict)
    unmerged: Collection[str] = ()
    moved: bool = False
    absence: bool = True

    def is_blocked(self, path: str) -> bool:
        """Something that we cannot see through stands there, or on the way."""
        parts = path.split("/")
        return any("/".join(parts[:count]) in self.problems for count in range(1, len(parts) + 1))


@dataclass(frozen=True, slots=True)
class Revise:
    """The text of a file becomes a revision; `operation` is `revised` or `resolved`."""

    page: PageId
    path: str
    digest: Digest
    parents: tuple[RevisionId, ...]
    operation: str = "revised"


@dataclass(frozen=True, slots=True)
class Create:
    """A file becomes a page; `instead_of` is one of another scope that it supersedes."""

    scope: Namespace
    path: str
    name: str
    digest: Digest
    instead_of: PageId | None = None


@dataclass(frozen=True, slots=True)
class Rename:
    """A page claims another name; its file is at `path` now and was at `was`."""

    page: PageId
    path: str
    name: str
    was: str
    base: Base


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The files of a page were removed."""

    page: PageId
    path: str


@dataclass(frozen=True, slots=True)
class Restore:
    """The file of a tombstoned page came back."""

    page: PageId
    path: str


Edit = Revise | Create | Rename | Tombstone | Restore


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. `adopted` are bases that hold without a change; what is at `reverted` is replaced
    by what should be there, `held_back` and `anew` are laid again, `left` stays. `relaid` are pages
    to lay beyond those that the edits change, `dropped` paths of which nothing is to be known."""

    edits: tuple[Edit, ...] = ()
    adopted: tuple[Base, ...] = ()
    dropped: tuple[str, ...] = ()
    reverted: tuple[tuple[str, str], ...] = ()
    held_back: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    relaid: frozenset[PageId] = frozenset()
    anew: frozenset[str] = frozenset()


def parted(path: str) -> tuple[Namespace, str]:
    """The scope of a file in `tree/`, and its name there."""
    match = _TREE.fullmatch(path)
    if match is None:
        raise ValueError(f"{path} is not in tree/")
    return _scope_in(match[1]), match[2]


@lru_cache(1000)
def _scope_in(folder: str) -> Namespace:
    return namespace_of(folder)


def sibling_of(name: str) -> tuple[str, str] | None:
    """`x.md` and `1a2b3c4d` of `x~1a2b3c4d.md`; None for other names."""
    folder, slash, last = name.rpartition("/")
    match = _SIBLING.fullmatch(last)
    return match and (f"{folder}{slash}{match[1]}{match[3] or ''}", match[2])


def has_markers(text: bytes) -> bool:
    """Whether a conflict as git writes it is in a text."""
    lines = text.splitlines()
    return all(any(line.startswith(marker) for line in lines) for marker in _MARKERS)


def lines_of(text: bytes) -> Counter[bytes]:
    """The lines that say something, without their ends; how often each is there."""
    return Counter(line.rstrip() for line in text.splitlines() if line.strip())


def are_similar(one: Counter[bytes], other: Counter[bytes]) -> bool:
    """At least 60 % equal lines, wherever they are."""
    longer = max(one.total(), other.total())
    return longer > 0 and (one & other).total() * 10 >= longer * 6


def is_older(text: Counter[bytes], before: Counter[bytes], after: Counter[bytes]) -> bool:
    """Whether a text goes on from `before` as if `after` had never been: it holds none of the
    lines that came and all that went."""
    came, went = after - before, before - after
    if not came and not went:
        return False
    return not any(line in text for line in came) and went <= text
