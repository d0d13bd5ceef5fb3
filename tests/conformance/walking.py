"""One walk: the same operations on a store and on the store in memory, and the same questions.

A walk is a seed. Every step is drawn from it alone, so that a walk is the same wherever it runs.
What changes something costs a commit, what opens the store anew much more, and what rewrites
history most: they come as often as `WEIGHTS` says.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pcpfs_conformance.broken_disks import PowerCut, PowerWentOut
from pcpfs_conformance.memory_model import ModelArchive, ModelSession, taking_back
from pcpfs_conformance.stores import OWNER

from pcpfs.disk import Disk, SystemCalls
from pcpfs.model.answers import Written
from pcpfs.model.grants import LINK, LIST, READ, WRITE
from pcpfs.model.pages import EPISTEMIC
from pcpfs.model.requests import Draft, EventDraft
from pcpfs.store.exchanges.exchange import import_store
from pcpfs.store.merges.remote import pull
from pcpfs.store.session import Session
from pcpfs.store.undo import undo
from pcpfs.store.upkeeping.fsck import fsck
from tests.conformance.asking import BEN, INSTANTS, SCOPES, TYPES, WORDS, Asking, answer
from tests.store.workplace import ANNA, Workplace

QUESTIONS = 88
"""So many of a hundred steps only ask."""

WEIGHTS = {
    "write": 20,
    "revise": 22,
    "revise_anything": 12,
    "put_away": 12,
    "close_at": 6,
    "link": 16,
    "ingest": 10,
    "suppress": 6,
    "undo": 14,
    "govern": 12,
    "write_as_ben": 8,
    "go_on": 6,
    "crash_and_try_again": 3,
    "take_over_a_copy": 3,
    "pull_from_a_clone": 3,
    "delete": 2,
}
ASKED = (
    *("read_a_page", "read_a_page", "read_a_page", "read_a_revision", "read_as_of", "follow"),
    *("look_back", "search", "search", "related", "bundle", "ask_as_ben"),
)


class Walk(Asking):
    """A store, the store in memory, and what both were told."""

    def __init__(self, template: Path, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.seed, self.number = seed, 0
        self.done: list[str] = []
        path = folder / f"store{seed}"
        shutil.copytree(template, path)
        self.place = Workplace.at(path)
        self.archive = ModelArchive()
        self.model = ModelSession(self.archive, OWNER)
        self.pages: dict[str, str] = {}
        self.revisions: dict[str, str] = {}
        self.take_back: Callable[[], None] | None = None

    def run(self, steps: int) -> None:
        """So many steps, and at the end everything again, also rebuilt. An error says which walk it
        was and what came before."""
        kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
        try:
            for _ in range(steps):
                self.number += 1
                if self.pages and self.chance.randrange(100) < QUESTIONS:
                    self.step(self.chance.choice(ASKED))
                else:
                    self.step(self.chance.choices(kinds, weights)[0] if self.pages else "write")
            self.finish()
        except Exception as error:
            told = "\n  ".join(self.done[-25:])
            raise AssertionError(
                f"walk {self.seed}, step {self.number}; the last:\n  {told}"
            ) from error

    def step(self, name: str) -> None:
        self.done.append(name)
        if name in WEIGHTS and name not in ("undo", "suppress"):
            self.take_back = None
        getattr(self, name)()

    def finish(self) -> None:
        self.compare_everything()
        self.place.close()
        shutil.rmtree(self.place.path / ".pcpfs")
        self.place = Workplace.at(self.place.path, self.place.clock)
        self.compare_everything()
        assert fsck(self.place.store).problems == ()
        assert self.place.git("status", "--porcelain") == ""
        self.place.close()
        shutil.rmtree(self.place.path)

    # what is drawn

    def draft(self) -> Draft:
        pick = self.chance.choice
        tag, name = pick([None, "red"]), pick([None, *EPISTEMIC])
        return Draft(
            f"{pick(WORDS)}\n".encode(),
            "text/plain",
            title=pick([None, "one", "two"]),
            tags=(tag,) if tag else None,
            valid_from=pick([None, *INSTANTS[:2]]),
            epistemic={name: "told"} if name else None,
        )

    def scope(self) -> str:
        return self.chance.choice(SCOPES)

    def path(self) -> str:
        return f"{self.number}.txt"

    # what changes something

    def write(self) -> None:
        scope, draft, key = self.scope(), self.draft(), self.chance.choice([None, None, "k1", "k2"])
        written = self.both(
            lambda: self.place.session.write(scope, draft, key=key, path=self.path()),
            lambda: self.model.write(scope, draft, key=key),
        )
        if written is not None:
            page = self.model.page(written.page_id)
            self.take_back = lambda: setattr(page, "lifecycle", "tombstoned")

    def revise(self) -> None:
        (ours, theirs), draft = self.page(), self.draft()
        heads = self.place.session.manifest(ours).heads
        written = self.both(
            lambda: self.place.session.revise(ours, draft, expect=heads),
            lambda: self.model.revise(theirs, draft, expect=[self.revisions[h] for h in heads]),
        )
        self.remember_revision(written)

    def revise_anything(self) -> None:
        """Beside a revision, or on it whether or not it is a head."""
        ours, theirs = self.chance.choice(list(self.revisions.items()))
        page, draft = self.place.session.manifest(ours).page_id, self.draft()
        expect = self.chance.random() < 0.5
        how: Any = (lambda r: {"expect": [r]}) if expect else (lambda r: {"branch": r})
        written = self.both(
            lambda: self.place.session.revise(page, draft, **how(ours)),
            lambda: self.model.revise(self.pages[page], draft, **how(theirs)),
        )
        self.remember_revision(written)

    def remember_revision(self, written: Written | None) -> None:
        """It can be taken back where it is plain which text comes back."""
        if written is None or len(self.model.page(written.page_id).all_heads) > 2:
            return

        def put_back() -> None:
            new = self.model.undo_revision(written.page_id, written.revision_id)
            ours = next(our for our, their in self.pages.items() if their == written.page_id)
            self.revisions[self.place.session.manifest(ours).revision_id] = new

        self.take_back = put_back

    def put_away(self) -> None:
        (ours, theirs) = self.page()
        state = self.chance.choice(["archive", "tombstone", "restore", "restore"])
        back = taking_back(self.model.page(theirs))
        if self.both(
            lambda: getattr(self.place.session, state)(ours, "because"),
            lambda: getattr(self.model, state)(theirs, "because"),
        ):
            self.take_back = back

    def close_at(self) -> None:
        (ours, theirs), at = self.page(), self.chance.choice(INSTANTS)
        back = taking_back(self.model.page(theirs))
        if self.both(
            lambda: self.place.session.close_at(ours, at, "over"),
            lambda: self.model.close_at(theirs, at, "over"),
        ):
            self.take_back = back

    def link(self) -> None:
        (ours, theirs), (our_end, their_end) = self.page(), self.page()
        kind = self.chance.choice(TYPES)
        if self.place.session.manifest(ours).lifecycle_status == "tombstoned":
            assert isinstance(answer(lambda: self.place.session.link(ours, kind, our_end)), str)
            return
        self.place.session.link(ours, kind, our_end)
        relation = self.model.link(theirs, kind, their_end).relation
        self.take_back = taking_back(self.model.page(theirs), relation)

    def ingest(self) -> None:
        scope = self.scope()
        keys = [
            self.chance.choice(["e1", "e2", "e3", None]) for _ in range(self.chance.randrange(4))
        ]
        given = [EventDraft(f"plum {key}".encode(), "text/plain", key=key) for key in keys]
        ours = self.place.session.ingest(scope, given)
        for one, other in zip(ours, self.model.ingest(scope, given), strict=True):
            self.note(one, other)

    def suppress(self) -> None:
        (ours, theirs), task = self.page(), self.chance.choice(["t1", "t2"])
        self.place.session.suppress(task, [ours], "seen")
        self.model.suppress(task, [theirs], "seen")

    def undo(self) -> None:
        """Take back what was done last, if that was something that can be."""
        if self.take_back is not None:
            undo(self.place.store, ANNA)
            self.take_back()
            self.take_back = None

    def govern(self) -> None:
        """Grants, visibility and links come and go."""
        scope = self.chance.choice(sorted({page.scope for page in self.archive.pages.values()}))
        governing, grants = self.place.session.governing, self.archive.grants
        match self.chance.choice(["read", "write", "revoke", "shared", "private", "link"]):
            case "revoke":
                governing.revoke(scope, BEN)
                grants -= {grant for grant in grants if grant[0] == scope}
            case "shared" | "private" as visibility:
                governing.set(scope, visibility=visibility)
                (
                    self.archive.shared.add
                    if visibility == "shared"
                    else self.archive.shared.discard
                )(scope)
            case "link":
                others = [view.scope for view in self.place.session.scopes() if view.scope != scope]
                governing.set(scope, link=others) if others else None
            case more:
                given = (LIST, READ, WRITE, LINK) if more == "write" else (LIST, READ)
                governing.grant(scope, BEN, given)
                grants |= {(scope, BEN, permission) for permission in given}

    def write_as_ben(self) -> None:
        """What he may he does, and else the error is the same."""
        (ours, theirs), draft, scope = self.page(), self.draft(), self.scope()
        ben, model = Session(self.place.store, BEN), ModelSession(self.archive, BEN)
        if self.chance.random() < 0.5:
            self.both(
                lambda: ben.write(scope, draft, path=self.path()), lambda: model.write(scope, draft)
            )
        else:
            heads = self.place.session.manifest(ours).heads
            self.both(
                lambda: ben.revise(ours, draft, expect=heads),
                lambda: model.revise(theirs, draft, expect=[self.revisions[h] for h in heads]),
            )
        ben.close()

    def delete(self) -> None:
        ours, theirs = self.page()
        gone = set(self.model.page(theirs).revisions)
        assert answer(lambda: self.place.session.delete(ours, "it leaked")) is not None
        self.model.delete(theirs, "it leaked")
        del self.pages[ours]
        self.revisions = {o: t for o, t in self.revisions.items() if t not in gone}
        assert answer(lambda: self.place.session.manifest(ours)) == "not_found"

    # what changes nothing

    def go_on(self) -> None:
        match self.chance.choice(["reopen", "flush", "rebuild", "reindex"]):
            case "flush":
                self.place.session.flush_indexes()
            case "reindex":
                self.place.store.reindex()
            case "rebuild":
                self.place.close()
                shutil.rmtree(self.place.path / ".pcpfs")
                self.place = Workplace.at(self.place.path, self.place.clock)
            case _:
                self.place = self.place.reopened()

    def crash_and_try_again(self) -> None:
        """Whatever a power cut left: a retry with the same key makes one page."""
        scope, draft, key = self.scope(), self.draft(), f"crash {self.number}"
        power = PowerCut(SystemCalls(), 1_000_000)
        self.place = self.place.reopened(disk=Disk(power))
        power.arm(self.chance.randint(1, 40))
        with suppress(PowerWentOut):
            self.place.session.write(scope, draft, key=key, path=self.path())
        power.arm(1_000_000)
        self.place = self.place.reopened()
        again = self.place.session.write(scope, draft, key=key, path=self.path())
        self.note(again, self.model.write(scope, draft, key=key))

    def take_over_a_copy(self) -> None:
        self.part_and(lambda copy: import_store(self.place.session, copy))

    def pull_from_a_clone(self) -> None:
        """As the copy, by git; what was erased here meanwhile does not come back."""
        gone = self.chance.random() < 0.3 and len(self.pages) > 1

        def unite(copy: Path) -> None:
            if gone:
                self.delete()
            pull(self.place.store, ANNA, str(copy))

        self.part_and(unite)

    def part_and(self, unite: Callable[[Path], object]) -> None:
        """A copy and this store both go on from one head, and come together again."""
        ours, theirs = self.page()
        shown = self.place.session.manifest(ours)
        if shown.lifecycle_status != "active" or shown.kind == "event" or len(shown.heads) > 1:
            return
        self.place.close()
        copy = self.place.path.with_name(self.place.path.name + "-copy")
        shutil.copytree(self.place.path, copy)
        clone = Workplace.at(copy, self.place.clock)
        self.place = Workplace.at(self.place.path, self.place.clock)
        other = self.revisions[shown.revision_id]
        for place in (clone, self.place):
            draft = self.draft()
            written = place.session.revise(ours, draft, expect=shown.heads)
            if written.created:
                self.note(written, self.model.revise(theirs, draft, branch=other))
        clone.close()
        unite(copy)
        shutil.rmtree(copy)

    # inside

    def both(self, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Written | None:
        """The same happens, or the same kind of error; the model's answer if that wrote."""
        mine, model = answer(ours), answer(theirs)
        if isinstance(mine, str) or isinstance(model, str):
            assert mine == model
            return None
        assert mine.created == model.created
        self.note(mine, model)
        return model if model.created else None

    def note(self, ours: Written, theirs: Written) -> None:
        """These are the same page and revision."""
        page = self.pages.setdefault(ours.page_id, theirs.page_id)
        revision = self.revisions.setdefault(ours.revision_id, theirs.revision_id)
        assert (page, revision) == (theirs.page_id, theirs.revision_id)
