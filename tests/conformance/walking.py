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
from pcpfs.errors import PcpfsError
from pcpfs.model.answers import Pins, Written
from pcpfs.model.grants import LINK, LIST, READ, WRITE
from pcpfs.model.instants import Instant
from pcpfs.model.pages import EPISTEMIC, Principal
from pcpfs.model.requests import Draft, EventDraft, Filters
from pcpfs.store.exchange import import_store
from pcpfs.store.fsck import fsck
from pcpfs.store.remote import pull
from pcpfs.store.session import Session
from pcpfs.store.undo import undo
from tests.store.workplace import ANNA, Workplace

BEN = Principal("user:ben")
WORDS = ("apple", "pear", "plum", "quince", "medlar")
SCOPES = ("project:a", "project:a:b", "thread:x")
TYPES = ("depends_on", "contradicts", "our.own:type")
INSTANTS = tuple(map(Instant.read, ("2001-01-01", "2002-01-01", "2003-01-01")))
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


class Walk:
    """Pages and revisions are known as pairs of ids, ours and the model's."""

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

    def page(self) -> tuple[str, str]:
        return self.chance.choice(list(self.pages.items()))

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

    # what is asked

    def read_a_page(self) -> None:
        self.compare_page(*self.page())

    def read_a_revision(self) -> None:
        ours, theirs = self.chance.choice(list(self.revisions.items()))
        assert self.place.session.payload(ours) == self.model.payload(theirs)
        assert self.place.session.facets(ours) == self.model.facets(theirs)

    def read_as_of(self) -> None:
        (ours, theirs), pins = self.page(), Pins(as_of=self.chance.choice(INSTANTS))
        mine = answer(lambda: self.place.session.payload(ours, pins))
        assert mine == answer(lambda: self.model.payload(theirs, pins))

    def follow(self) -> None:
        (ours, theirs), direction = self.page(), self.chance.choice(["in", "out", "both"])
        mine = {
            (v.relation.type, self.revisions[v.relation.from_revision], v.direction, v.status)
            for v in self.place.session.relations(ours, direction=direction)
        }
        assert mine == {
            (v.relation.type, v.relation.from_revision, v.direction, v.status)
            for v in self.model.relations(theirs, direction=direction)
            if direction != "both"
            or v.relation.to_page != theirs
            or v.from_page_id != theirs
            or v.direction == "out"
        }

    def look_back(self) -> None:
        ours, theirs = self.page()
        mine = {self.revisions[entry.revision_id] for entry in self.place.session.log(ours)}
        assert mine == {entry.revision_id for entry in self.model.log(theirs)}

    def search(self) -> None:
        pick = self.chance.choice
        known = {view.scope for view in self.model.scopes()}
        where = [scope for scope in pick([(), SCOPES[:1], SCOPES[1:]]) if scope in known]
        status = pick([(), ("archived",), ("active", "tombstoned")])
        asked: Any = {
            "mode": pick(["text", "temporal", "exact"]),
            "scopes": where,
            "filters": Filters(lifecycle=status),
            "task": pick([None, "t1"]),
        }
        word, limit = pick(WORDS), pick([1, 3, 200])
        cursor, found = None, []
        while True:
            part = self.place.session.search(word, limit=limit, cursor=cursor, **asked)
            found += [self.pages[hit.page_id] for hit in part.results]
            cursor = part.cursor
            if cursor is None:
                break
        expected = [h.page_id for h in self.model.search(word, limit=200, **asked).results]
        assert sorted(found) == sorted(expected)

    def related(self) -> None:
        ours, theirs = self.page()
        direction, depth = self.chance.choice(["in", "out", "both"]), self.chance.randint(1, 3)
        types = self.chance.choice([(), TYPES[:1], TYPES[1:]])
        asked: Any = {"direction": direction, "types": types, "depth": depth}
        near = self.place.session.related(ours, limit=200, **asked).items
        assert {self.pages[n.page_id]: n.depth for n in near} == self.model.related(theirs, **asked)

    def bundle(self) -> None:
        """All of it, and with less room a beginning of that."""
        names = [self.page() for _ in range(3)]
        whole = self.place.session.bundle([ours for ours, _ in names])
        mine = [(self.revisions[f.revision_id], (f.text or "").encode()) for f in whole.fragments]
        expected = self.model.bundle([theirs for _, theirs in names]).fragments
        assert mine == [(f.revision_id, f.content) for f in expected]
        budget = self.chance.randint(1, 20)
        part = self.place.session.bundle([ours for ours, _ in names], budget=budget)
        assert sum(len(f.text or "") for f in part.fragments) == part.size <= budget

    def ask_as_ben(self) -> None:
        """He sees what he may, and of the rest hears what one hears of nothing."""
        (ours, theirs), word = self.page(), self.chance.choice(WORDS)
        ben, model = Session(self.place.store, BEN), ModelSession(self.archive, BEN)
        mine = answer(lambda: ben.payload(ours))
        assert mine == answer(lambda: model.payload(theirs))
        hits = ben.search(word, limit=200).results
        expected = {hit.page_id for hit in model.search(word, limit=200).results}
        assert {self.pages[hit.page_id] for hit in hits} == expected
        ben.close()

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

    def compare_everything(self) -> None:
        for ours, theirs in self.pages.items():
            self.compare_page(ours, theirs)
        assert {row.page_id for row in self.place.store.catalog.pages()} == set(self.pages)
        for scope in SCOPES:
            expected = [
                page.payloads[head]
                for page in self.archive.pages.values()
                if page.scope == scope and not page.is_event and page.lifecycle != "tombstoned"
                for head in page.heads
            ]
            assert sorted(self.place.tree(scope).values()) == sorted(expected)

    def compare_page(self, ours: str, theirs: str) -> None:
        mine, model = self.place.session.manifest(ours), self.model.manifest(theirs)
        assert {self.revisions[head] for head in mine.heads} == set(model.heads)
        for name in ("scope", "kind", "lifecycle_status"):
            assert getattr(mine, name) == getattr(model, name), name
        if len(mine.heads) > 1:
            return
        for name in ("facets", "epistemic", "source_refs", "payload"):
            assert getattr(mine, name) == getattr(model, name), name
        past = INSTANTS[-1]
        for one, other in ((mine.valid_from, model.valid_from), (mine.valid_to, model.valid_to)):
            if one is None or one <= past or other is None or other <= past:
                assert one == other


def answer(ask: Callable[[], Any]) -> Any:
    """What comes, or the code of the error."""
    try:
        return ask()
    except PcpfsError as error:
        return error.code
