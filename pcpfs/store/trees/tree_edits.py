"""Which changes the edits in `tree/` mean. Pure: from what was laid, what is there and what the
store knows to a plan; nothing is read but texts that are compared, nothing is written.

CASES, section `tree/`, is the specification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace, with_mark
from pcpfs.store.layout import tree_file
from pcpfs.store.local import Base
from pcpfs.store.trees.tree import Wanted
from pcpfs.store.trees.tree_moves import moves, removed_at_once
from pcpfs.store.trees.tree_state import (
    Create,
    Edit,
    Knowledge,
    Plan,
    Rename,
    Restore,
    Revise,
    Situation,
    Tombstone,
    TreePage,
    are_similar,
    has_markers,
    is_older,
    lines_of,
    parted,
    sibling_of,
)

REVISED_SINCE = "the page was revised since"
OLDER_TEXT = "it held a text that the page has had before"
MARKERS = "it holds the marks of a conflict that git has not merged"
IN_THE_WAY = "a page of this name, or of one of its folders, is in the way"
DAMAGED = "its page cannot be read; see pcpfs fsck"


def plan(now: Situation, store: Knowledge, *, accept_removals: bool = False) -> Plan:
    """The changes that bring store and `tree/` together, with nothing lost on either side."""
    return _Planner(now, store, accept_removals).run()


@dataclass(slots=True)
class _Slot:
    """One file of a page: what we laid (None: cannot be told) and what is there (None: nothing)."""

    path: str
    base: Base | None
    digest: Digest | None

    @property
    def is_edited(self) -> bool:
        return self.digest is not None and (self.base is None or self.digest != self.base.digest)


@dataclass(slots=True)
class _Planner:
    """Collects a plan; used once."""

    now: Situation
    store: Knowledge
    accept_removals: bool
    slots: dict[PageId, list[_Slot]] = field(default_factory=dict)
    touched: dict[PageId, TreePage] = field(default_factory=dict)
    new: dict[str, Digest] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    adopted: list[Base] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    reverted: list[tuple[str, str]] = field(default_factory=list)
    held_back: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    relaid: set[PageId] = field(default_factory=set)
    anew: set[str] = field(default_factory=set)

    def run(self) -> Plan:
        self.left += sorted(self.now.problems.items())
        self.compare()
        self.recognise_siblings()
        self.pair()
        self.hold_back()
        for path in sorted(self.new):
            self.recognise(path, self.new[path])
        for page in sorted(self.touched):
            self.conclude(self.touched[page])
        self.keep_names_apart()
        return Plan(
            tuple(self.edits),
            tuple(self.adopted),
            tuple(self.dropped),
            tuple(self.reverted),
            tuple(sorted(self.held_back)),
            tuple(sorted(self.left)),
            frozenset(self.relaid),
            frozenset(self.anew),
        )

    # What is there, against what was laid and what should be there.

    def compare(self) -> None:
        wanted, files, bases = self.now.wanted, self.now.files, self.now.bases
        for path, goal in wanted.items():
            base = bases.get(path)
            if files.get(path) == goal.digest:
                self.adopt(path, goal.page, goal.digest, goal.revision)
            elif base is None and path not in files and not self.now.is_blocked(path):
                self.relaid.add(goal.page)  # it was never laid here
        for path, base in bases.items():
            if path not in wanted or files.get(path) != wanted[path].digest:
                self.compare_base(path, base)
        for path, page in self.now.unknown.items():
            if path in files and files[path] != wanted[path].digest and path not in bases:
                self.slot(page, _Slot(path, None, files[path]))
        settled = {slot.path for slots in self.slots.values() for slot in slots}
        self.new = {
            path: digest
            for path, digest in files.items()
            if path not in settled
            and path not in bases
            and not (path in wanted and digest == wanted[path].digest)
        }

    def compare_base(self, path: str, base: Base) -> None:
        digest, goal = self.now.files.get(path), self.now.wanted.get(path)
        page = self.store.page(base.page_id)
        if self.now.is_blocked(path):
            return
        if page is None:
            self.dropped += [] if digest else [path]
            self.left += [(path, DAMAGED)] if digest not in (None, base.digest) else []
            return
        is_wanted = goal is not None and goal.page == base.page_id
        if digest == base.digest:
            self.relaid.add(base.page_id)
        elif digest is not None:
            self.touch(page, _Slot(path, base, digest))
        elif not is_wanted:
            self.dropped.append(path)
        elif self.now.absence:
            self.touch(page, _Slot(path, base, None))

    def slot(self, page_id: PageId, slot: _Slot) -> None:
        page = self.store.page(page_id)
        if page is None:
            self.left.append((slot.path, DAMAGED))
        else:
            self.touch(page, slot)

    def touch(self, page: TreePage, slot: _Slot) -> None:
        self.touched[page.page] = page
        self.slots.setdefault(page.page, []).append(slot)

    def adopt(self, path: str, page: PageId, digest: Digest, revision: RevisionId) -> None:
        """Take it that we laid this."""
        base = self.now.bases.get(path)
        if base is None or base.page_id != page:
            self.adopted.append(Base(path, page, digest, revision))
        elif base.revision != revision or base.digest != digest:
            self.adopted.append(base.followed_by(path, digest, revision))

    def revert(self, slot: _Slot, page: TreePage, why: str) -> None:
        """Let what should be at a path replace what is there, a text that the page has."""
        self.reverted.append((slot.path, why))
        self.relaid.add(page.page)
        self.anew.add(slot.path)
        known = None if slot.digest is None else page.newest(slot.digest)
        if slot.digest is not None and known is not None:
            self.adopt(slot.path, page.page, slot.digest, known)

    # Files that we did not lay.

    def recognise_siblings(self) -> None:
        """`x~<rev8>.md` with the bytes of that revision is a sibling, never a new page."""
        for path, digest in sorted(self.new.items()):
            found = self.sibling_page(path)
            if found is not None and found[0].digests.get(found[1]) == digest:
                del self.new[path]
                self.revert(_Slot(path, None, digest), found[0], OLDER_TEXT)

    def sibling_page(self, path: str) -> tuple[TreePage, RevisionId] | None:
        """The page and the revision that a name speaks of."""
        scope, name = parted(path)
        parts = sibling_of(name)
        for page in self.store.claiming(scope, parts[0]) if parts else ():
            for revision in page.digests:
                if parts and revision[4:12] == parts[1]:
                    return page, revision
        return None

    def pair(self) -> None:
        """Find out which new file is a page's file that was moved."""
        gone = {
            slot.path: slot.base
            for slots in self.slots.values()
            for slot in slots
            if slot.digest is None and slot.base is not None and self.is_main(slot)
        }
        for was, path in moves(gone, self.new, self.store):
            base, (scope, name) = gone[was], parted(path)
            if parted(was)[0] == scope:
                self.move_name(base, was, path, name)
            else:
                digest = self.new.pop(path)
                self.edits.append(Create(scope, path, name, digest, base.page_id))

    def is_main(self, slot: _Slot) -> bool:
        """Whether a file has the name of its page, and not that of a sibling."""
        goal = self.now.wanted.get(slot.path)
        return goal is None or self.touched[goal.page].heads[:1] == (goal.revision,)

    def move_name(self, base: Base, was: str, path: str, name: str) -> None:
        self.edits.append(Rename(base.page_id, path, name, was, base))
        for slot in self.slots[base.page_id]:
            if slot.path == was:
                slot.path, slot.digest = path, self.new.pop(path)
        scope, _ = parted(path)
        for slot in self.slots[base.page_id]:
            if slot.digest is None and slot.base is not None:
                moved = tree_file(scope, with_mark(name, slot.base.revision[4:12]))
                if moved in self.new:
                    slot.path, slot.digest = moved, self.new.pop(moved)

    def hold_back(self) -> None:
        """Many files removed at once may be a mishap."""
        moved = {edit.instead_of for edit in self.edits if isinstance(edit, Create)}
        gone = [
            slot.path
            for page, slots in self.slots.items()
            for slot in slots
            if slot.digest is None and page not in moved
        ]
        held = () if self.accept_removals else removed_at_once(gone, self.now.bases)
        self.held_back += held
        self.anew |= set(held)
        for page, slots in self.slots.items():
            if any(slot.path in held for slot in slots if slot.digest is None):
                self.relaid.add(page)
                slots[:] = [s for s in slots if s.digest is not None or s.path not in held]

    def recognise(self, path: str, digest: Digest) -> None:
        """A new file: something of a page that we know, or a page of its own."""
        scope, name = parted(path)
        sibling, former = self.sibling_page(path), self.former(path)
        if sibling is not None:
            page, revision = sibling
            base = former or Base(path, page.page, page.digests[revision], revision)
            self.touch(page, _Slot(path, base, digest))
        elif former is not None and self.is_left_over(path, digest, former):
            pass
        elif former is not None and self.goes_on(path, digest, former):
            self.slot(former.page_id, _Slot(path, former, digest))
        elif (back := self.returned(scope, name, digest)) is not None:
            self.touch(back, _Slot(path, None, digest))
        else:
            self.edits.append(Create(scope, path, name, digest))

    def former(self, path: str) -> Base | None:
        """What we had laid there before, for a page that is still known."""
        former = self.now.formers.get(path)
        page = former and self.store.page(former.page_id)
        return former if former and page and former.revision in page.digests else None

    def is_left_over(self, path: str, digest: Digest, former: Base) -> bool:
        """Whether git brought back a text of a page that is elsewhere by now; it is then undone."""
        page = self.store.page(former.page_id)
        if page is None or page.newest(digest) is None or not self.now.moved:
            return False
        self.revert(_Slot(path, None, digest), page, OLDER_TEXT)
        return True

    def goes_on(self, path: str, digest: Digest, former: Base) -> bool:
        """Whether somebody saved a file again that we had moved or taken away."""
        page = self.store.page(former.page_id)
        if page is None or page.newest(digest) is not None:
            return False
        old = self.store.payload(page.scope, former.digest)
        return are_similar(lines_of(self.store.text(path)), lines_of(old))

    def returned(self, scope: Namespace, name: str, digest: Digest) -> TreePage | None:
        """The tombstoned page that had this name and text."""
        fitting = (
            page
            for page in reversed(self.store.claiming(scope, name))
            if page.lifecycle == "tombstoned" and page.name == name
            if digest in [page.digests[head] for head in page.heads]
        )
        return next(fitting, None)

    # What became of one page.

    def conclude(self, page: TreePage) -> None:
        slots = self.slots[page.page]
        gone = [slot for slot in slots if slot.digest is None]
        here = [slot for slot in slots if slot.digest is not None]
        if page.lifecycle == "tombstoned":
            self.conclude_tombstoned(page, here)
        elif gone and not here and not self.shown_elsewhere(page, slots):
            self.remove(page, gone)
        else:
            self.resolve(page, gone, self.shown_elsewhere(page, slots) + here)

    def shown_elsewhere(self, page: TreePage, slots: Sequence[_Slot]) -> list[_Slot]:
        """The files of a page that hold what they should."""
        own = {slot.path for slot in slots} | {slot.base.path for slot in slots if slot.base}
        return [
            _Slot(path, Base(path, page.page, goal.digest, goal.revision), goal.digest)
            for path, goal in self.wanted_by(page)
            if path not in own and self.now.files.get(path) == goal.digest
        ]

    def wanted_by(self, page: TreePage) -> Iterable[tuple[str, Wanted]]:
        return ((path, w) for path, w in self.now.wanted.items() if w.page == page.page)

    def conclude_tombstoned(self, page: TreePage, here: Sequence[_Slot]) -> None:
        for slot in here:
            if slot.base is None and not self.now.moved:
                self.edits.append(Restore(page.page, slot.path))
            elif slot.digest is not None and page.newest(slot.digest) is not None:
                self.revert(slot, page, OLDER_TEXT)
            else:
                self.edits.append(Restore(page.page, slot.path))
                self.revise(page, slot)

    def remove(self, page: TreePage, gone: Sequence[_Slot]) -> None:
        """All files of a page are gone: a tombstone, if these were all of its heads."""
        instead = [e for e in self.edits if isinstance(e, Create) and e.instead_of == page.page]
        known = {r for slot in gone if slot.base for r in page.parents(slot.base.revision)}
        if instead or known >= set(page.heads):
            self.edits.append(Tombstone(page.page, gone[0].path))
        else:
            for slot in gone:
                self.revert(slot, page, REVISED_SINCE)

    def resolve(self, page: TreePage, gone: Sequence[_Slot], here: Sequence[_Slot]) -> None:
        """Edits revise the heads of their files; heads whose files are gone are resolved."""
        target = min(here, key=lambda slot: self.rank(page, slot), default=None)
        is_current = target is not None and (target.is_edited or self.is_head(page, target))
        discarded = [slot for slot in gone if is_current and self.is_head(page, slot)]
        self.anew |= {slot.path for slot in discarded}
        for slot in gone:
            if slot not in discarded:
                self.revert(slot, page, REVISED_SINCE)
        for slot in here:
            if slot is target and discarded:
                self.revise(page, slot, discarded)
            elif slot.is_edited:
                self.revise(page, slot)

    def is_head(self, page: TreePage, slot: _Slot) -> bool:
        return slot.base is not None and slot.base.revision in page.equals

    def rank(self, page: TreePage, slot: _Slot) -> tuple[int, str]:
        """First the file that has the page's own name."""
        heads = [page.parents(head) for head in page.heads]
        own = (n for n, h in enumerate(heads) if slot.base and slot.base.revision in h)
        return next(own, len(heads)), slot.path

    def revise(self, page: TreePage, slot: _Slot, discarded: Sequence[_Slot] = ()) -> None:
        """The text of a file becomes a revision, unless it is one that the page has had; with the
        heads of `discarded` files as further parents."""
        assert slot.digest is not None, "there is a file"
        heads = [other.base.revision for other in discarded if other.base]
        is_known = page.newest(slot.digest) is not None
        is_chosen = not slot.is_edited or slot.digest in [page.digests[head] for head in heads]
        if slot.path in self.now.unmerged and has_markers(self.store.text(slot.path)):
            self.left.append((slot.path, MARKERS))
        elif is_known and not is_chosen and not self.is_meant(page, slot):
            self.revert(slot, page, OLDER_TEXT)
        else:
            start = self.start(page, slot, is_known=is_known)
            operation = "resolved" if discarded else "revised"
            parents = page.parents(*start, *heads)
            self.edits.append(Revise(page.page, slot.path, slot.digest, parents, operation))

    def is_meant(self, page: TreePage, slot: _Slot) -> bool:
        """Whether an older text is an edit: it was put over the current one, and not by git."""
        return self.is_head(page, slot) and not self.now.moved

    def start(self, page: TreePage, slot: _Slot, *, is_known: bool) -> tuple[RevisionId, ...]:
        """The revision that an edited text goes on from; none if that cannot be told."""
        base = slot.base
        if base is None or base.revision not in page.digests:
            return ()
        if is_known or not slot.is_edited:
            return (base.revision,)
        return (self.in_buffer(page, base, lines_of(self.store.text(slot.path))),)

    def in_buffer(self, page: TreePage, base: Base, text: Counter[bytes]) -> RevisionId:
        """The revision that an editor had when it saved this: what we laid last, unless the text
        goes on from one that the file held before; of several the most like it."""
        current = lines_of(self.store.payload(page.scope, base.digest))
        found: dict[RevisionId, int] = {}
        for revision in reversed(base.before):
            digest = page.digests.get(revision)
            if digest is not None and digest != base.digest:
                before = lines_of(self.store.payload(page.scope, digest))
                if is_older(text, before, current):
                    found[revision] = (text - before).total() + (before - text).total()
        return min(found, key=found.__getitem__, default=base.revision)

    def keep_names_apart(self) -> None:
        """A file cannot be a page while a folder on its way is one; that waits, and is named."""
        ended = {e.page for e in self.edits if isinstance(e, Tombstone | Rename)}
        claimed = {path for path, goal in self.now.wanted.items() if goal.page not in ended}
        folders = {path.rsplit("/", n)[0] for path in claimed for n in range(1, path.count("/"))}
        for edit in list(self.edits):
            if isinstance(edit, Create | Rename):
                above = {edit.path.rsplit("/", n)[0] for n in range(1, edit.path.count("/"))}
                if above & claimed or edit.path in folders:
                    self.withdraw(edit)

    def withdraw(self, edit: Create | Rename) -> None:
        self.left.append((edit.path, IN_THE_WAY))
        page = edit.instead_of if isinstance(edit, Create) else edit.page
        self.edits = [e for e in self.edits if e is not edit and (page is None or _of(e) != page)]


def _of(edit: Edit) -> PageId | None:
    return None if isinstance(edit, Create) else edit.page
