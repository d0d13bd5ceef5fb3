"""Reading the history of one root: which files its commits hold, and what is in them."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.errors import Unavailable
from pcpfs.git import ObjectId, Repository
from pcpfs.git.walk import CommitEdits
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.ports import Progress
from pcpfs.sources.past_plan import Contents, Held, Step, Told, blobs_of, told
from pcpfs.sources.past_rules import PastTree
from pcpfs.sources.reading import is_binary, too_large
from pcpfs.sources.roots import Root
from pcpfs.sources.rulefiles import GIT_RULES, OUR_RULES, RulesUnreadable, excluded_by_git
from pcpfs.sources.scanned import Reason, Skipped
from pcpfs.sources.withholding import withheld_for
from pcpfs.store.scopes.secrets import AllowList
from pcpfs.store.store import Store


@dataclass(slots=True)
class PastReading:
    """What the commits of a repository mean to a root in it. `paths` are those of the repository
    that say something of it (none: all), `lacking` the blobs of it that git does not have here."""

    store: Store
    root: Root
    repository: Repository
    progress: Progress | None = None
    prefix: str = field(init=False)
    paths: tuple[str, ...] = field(init=False)
    lacking: set[ObjectId] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.prefix = _prefix(self.root.path, self.repository.work_tree)
        self.paths = _paths(self.prefix)

    def tell(self, what: str, done: int, total: int) -> None:
        """Say how far it is."""
        if self.progress is not None:
            self.progress.step(f"{what} {self.root.name}", done, total)

    def tree(self) -> PastTree:
        """A tree without files yet."""
        repository = self.repository
        try:
            above = excluded_by_git(str(repository.work_tree))
        except RulesUnreadable as error:
            raise Unavailable(str(error)) from error
        is_partial = repository.is_partial()

        def read(blob: ObjectId) -> bytes | None:
            if is_partial and not repository.sizes([blob]):
                raise Unavailable(
                    f"{repository.work_tree} is a partial clone that lacks {blob}, "
                    "which says what belongs to a commit; git fetch --refetch --no-filter brings it"
                )
            return next(repository.show_blobs([blob]))

        return PastTree(self.prefix, self.root.options, above, read)

    def said(self, steps: Sequence[Step]) -> tuple[dict[str, list[Told]], Contents]:
        """What the steps say of each path, but for other names of files that were erased; and what
        the blobs hold that they speak of."""
        contents = self.contents(steps)
        said = told(steps, contents)
        for path in _once_erased(steps, self.root.options.exclusions):
            said.pop(path, None)
        return said, contents

    def contents(self, steps: Iterable[Step]) -> Contents:
        """What the blobs hold that the steps speak of, each read once."""
        repository, wanted = self.repository, blobs_of(steps)
        sizes = {ObjectId(blob): size for blob, size in repository.sizes(wanted).items()}
        limit = self.root.options.max_size
        found: dict[ObjectId, Held | Skipped] = {
            blob: too_large(wanted[blob], size, limit)
            for blob, size in sizes.items()
            if size > limit
        }
        to_read = [blob for blob in wanted if sizes.get(blob, limit + 1) <= limit]
        allowed = AllowList.of(self.store.catalog, self.root.namespace)
        for number, (blob, raw) in enumerate(
            zip(to_read, repository.show_blobs(to_read), strict=True)
        ):
            if raw is not None:
                found[blob] = _content(wanted[blob], raw, allowed)
            if number % 1000 == 0:
                self.tell("reading the history of", number, len(to_read))
        self.lacking |= wanted.keys() - found.keys()
        return found

    def step(self, edits: CommitEdits, at: Instant, tree: PastTree) -> Step:
        """What a commit means, given the tree of the one that it follows; the tree goes to it."""
        states = tree.change((edit.path, edit.after) for edit in edits.edits)
        cut = len(self.prefix) + 1 if self.prefix else 0
        renames = {
            edit.renamed_from[cut:]: edit.path[cut:]
            for edit in edits.edits
            if edit.renamed_from is not None
        }
        return Step(edits.commit, edits.author, at, states, renames)


def _once_erased(steps: Sequence[Step], exclusions: Container[str]) -> set[str]:
    """The other names, before and after, of files whose pages were erased."""
    names = [pair for step in steps for pair in step.renames.items()]
    found = {path for pair in names for path in pair if path in exclusions}
    while more := {p for pair in names if not found.isdisjoint(pair) for p in pair} - found:
        found |= more
    return found


def _prefix(root: Path, top: Path) -> str:
    """Where a root lies in its repository; empty for its top."""
    prefix = os.path.relpath(os.path.realpath(root), os.path.realpath(top))
    return "" if prefix == "." else prefix


def _paths(prefix: str) -> tuple[str, ...]:
    """What of a repository says something of a root: its files, and the rules above it."""
    if not prefix:
        return ()
    above = ["", *(prefix[:n] + "/" for n, c in enumerate(prefix) if c == "/")]
    return (prefix, *(folder + name for folder in above for name in (GIT_RULES, OUR_RULES)))


def _content(path: str, raw: bytes, allowed: AllowList) -> Held | Skipped:
    """As `read_stable` and `without_secrets` judge a file."""
    if is_binary(raw):
        return Skipped(path, Reason.BINARY)
    return withheld_for(path, raw, allowed) or Held(Digest.of(raw), len(raw))
