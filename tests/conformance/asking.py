"""What a walk asks: the same of a store and of the store in memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from pcpfs_conformance.memory_model import ModelArchive, ModelSession

from pcpfs.errors import PcpfsError
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.model.requests import Filters
from pcpfs.store.session import Session
from tests.store.workplace import Workplace

BEN = Principal("user:ben")
WORDS = ("apple", "pear", "plum", "quince", "medlar")
SCOPES = ("project:a", "project:a:b", "thread:x")
TYPES = ("depends_on", "contradicts", "our.own:type")
INSTANTS = tuple(map(Instant.read, ("2001-01-01", "2002-01-01", "2003-01-01")))


class Asking:
    """Questions. Pages and revisions are known as pairs of ids, ours and the model's."""

    chance: random.Random
    place: Workplace
    archive: ModelArchive
    model: ModelSession
    pages: dict[str, str]
    revisions: dict[str, str]

    def page(self) -> tuple[str, str]:
        return self.chance.choice(list(self.pages.items()))

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
