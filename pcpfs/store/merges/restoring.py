"""Files of the truth that git's merges got wrong: found, and put in place as their names say.

git takes a removed file of `tree/` and a similar new payload for one file that was moved, and then
merges a person's edit into the payload; a merge may also drop what one side had added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pcpfs.errors import PcpfsError
from pcpfs.git import CommitId, Content, LogEntry, ObjectId, Stored, TreeChange
from pcpfs.store import layout
from pcpfs.store.folding.kinds import Kind, fits, kind_of
from pcpfs.store.merges.union import Contents, erased_pages, may_go
from pcpfs.store.workshop import Workshop

MOST_MERGES = 200
"""So many of the newest merges are checked; what is older was looked at by other clones."""

_MOST_COMMITS = 50


@dataclass(frozen=True, slots=True)
class Restoring:
    """Puts files of the truth in place in one store."""

    shop: Workshop

    def put_in_place(self, truth: Contents) -> dict[str, Content]:
        """Bring these files into the work tree, durably, changes last; what to commit for each.

        Where a blob is not what the name says, the one that is comes from the history.
        """
        found: dict[str, Content] = {}
        wanted: list[tuple[str, Stored]] = []
        for path, stored in truth.items():
            raw = self._read(path)
            if stored is None:
                found[path] = None
            elif raw is not None and fits(path, raw) and not layout.receipt_of(path):
                is_same = self.shop.git.name_of(raw) == stored.blob
                found[path] = stored if is_same else self.shop.root / path
            else:
                wanted.append((path, stored))
        wanted.sort(key=lambda item: (layout.is_change(item[0]), item[0]))
        self._write(wanted, found)
        for path in (path for path, content in found.items() if content is None):
            self.shop.disk.remove(self.shop.root / path)
        return found

    def mistakes(self, before: CommitId | None, after: CommitId) -> dict[str, Stored | None]:
        """Files of the truth that merges between two commits dropped or changed, and files that
        are not what their names say; with the blobs that they had."""
        wrong: dict[str, Stored | None] = {}
        for change in self._changes(before, after):
            raw = self._read(change.path)
            if change.after is not None and (raw is None or not fits(change.path, raw)):
                wrong[change.path] = change.stored
        since = [before] if before else []
        for merge in self.shop.git.merges(since, after, MOST_MERGES):
            for path, blob in self._dropped(merge):
                raw = self._read(path)
                if path not in wrong and (raw is None or not fits(path, raw)):
                    wrong[path] = Stored(blob)
        return wrong

    def _write(self, wanted: Iterable[tuple[str, Stored]], found: dict[str, Content]) -> None:
        wanted = list(wanted)
        contents = self.shop.git.contents([stored.blob for _, stored in wanted])
        with self.shop.disk.batch(self.shop.local_folder) as batch:
            is_object = True
            for (path, stored), raw in zip(wanted, contents, strict=True):
                if is_object and layout.is_change(path):
                    is_object = False
                    batch.barrier()
                right = raw if raw is not None and fits(path, raw) else self._search(path)
                found[path] = stored if right in (raw, None) else right
                if (content := right or raw) is not None:
                    batch.write(self.shop.root / path, content)

    def _search(self, path: str) -> bytes | None:
        """The bytes that fit a name, from any commit that touches it."""
        git = self.shop.git
        blobs: dict[ObjectId, None] = {}
        for commit in git.touching(path)[:_MOST_COMMITS]:
            for parent in commit.parents or (None,):
                changes = git.diff_tree(parent, commit.commit)
                own = [c for c in changes if c.path == path]
                for change in (*own, *changes):
                    both = (change.before, change.after)
                    blobs.update(dict.fromkeys(blob for blob in both if blob))
        found = git.contents(list(blobs))
        return next((raw for raw in found if raw is not None and fits(path, raw)), None)

    def _changes(self, before: CommitId | None, after: CommitId) -> Iterator[TreeChange]:
        """Nothing where everything is new: then the catalog has just read it all."""
        if before is None:
            return
        for change in self.shop.git.diff_tree(before, after):
            if kind_of(change.path) is Kind.TRUTH and not self._is_erased(change.path):
                yield change

    def _dropped(self, merge: LogEntry) -> Iterator[tuple[str, ObjectId]]:
        """What one of its parents had and a merge has not, or otherwise; with the parent's blob."""
        git, parents = self.shop.git, merge.parents
        for parent in parents:
            try:
                changes = git.diff_tree(parent, merge.commit)
            except PcpfsError:
                continue  # history is cut off there
            lost = [
                c
                for c in changes
                if c.before and kind_of(c.path) is Kind.TRUTH and not self._is_erased(c.path)
            ]
            if not lost:
                continue
            erased = erased_pages(changes)
            for other in (other for other in parents if other != parent):
                base = git.merge_base(parent, other)
                names = [change.path for change in lost]
                had = git.blobs_at(base, names) if base else [None] * len(names)
                have = git.blobs_at(other, names)
                for change, old, new in zip(lost, had, have, strict=True):
                    is_removal = old is not None and new is None and may_go(change.path, erased)
                    if change.before and not is_removal:
                        yield change.path, change.before

    def _is_erased(self, path: str) -> bool:
        """A receipt outranks every object of its page."""
        of = layout.page_of(path)
        return of is not None and self.shop.objects.is_erased(*of)

    def _read(self, path: str) -> bytes | None:
        try:
            return self.shop.disk.read(self.shop.root / path)
        except (FileNotFoundError, PcpfsError):
            return None
