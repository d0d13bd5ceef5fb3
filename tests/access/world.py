"""A store with scopes that Ben may read and scopes that he may not, full of the same words; and the
same store without the latter."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.requests import EventDraft
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.session import Session
from tests.store.workplace import ANNA, Workplace

BEN = Principal("user:ben")
OPEN, SHARED, HIDDEN, INNER, TALK = (
    "project:open",
    "project:shared",
    "project:hidden",
    "project:open:inner",
    "thread:hidden",
)
FORBIDDEN = (HIDDEN, INNER, TALK)
CODE = '''\
def harbour(tide):
    """Where the {word} is kept."""
    return tide


class Pier{n}:
    def harbour(self):
        return {n}
'''


@dataclass(slots=True)
class World:
    """What was written, and ids and paths of all of it to ask for."""

    place: Workplace
    open_ids: list[str] = field(default_factory=list)
    hidden_ids: list[str] = field(default_factory=list)

    def fill(self, texts: Sequence[str], folder: Path) -> None:
        """The same pages, events and sources here and there; links both ways; Ben reads some."""
        session = self.place.session
        for scope in (OPEN, SHARED, HIDDEN, INNER):
            ids = self.hidden_ids if scope in FORBIDDEN else self.open_ids
            for number, text in enumerate(texts):
                path = f"notes/{number}.md"
                written = self.place.write(text, scope, title=f"Note {number}", path=path)
                ids += [written.page_id, written.revision_id]
                revised = self.place.revise(written.page_id, f"{text} harbour\n")
                ids.append(revised.revision_id)
            self.place.revise(written.page_id, "another head\n", branch=written.revision_id)
            gone = self.place.write("harbour gone\n", scope, tags=("old",))
            session.tombstone(gone.page_id, "over")
            ids.append(gone.page_id)
            self._add(folder / scope.replace(":", "-"), scope, ids)
        for scope, ids in ((OPEN, self.open_ids), (TALK, self.hidden_ids)):
            drafts = [EventDraft(f"harbour {n}".encode(), "text/plain") for n in range(3)]
            ids += [e.page_id for e in session.ingest(scope, drafts)]
        session.suppress("a task", [self.open_ids[0], self.hidden_ids[0]], "not now")
        session.link(self.open_ids[0], "depends_on", self.hidden_ids[0])
        session.link(self.hidden_ids[0], "depends_on", self.open_ids[0])
        frames = [hit.frame_id for hit in session.symbol("harbour").results if hit.frame_id]
        self.place.write("harbour cited\n", OPEN, cites=tuple(frames[:4]))
        session.governing.grant(OPEN, BEN, ["read"])
        session.governing.set(SHARED, visibility="shared", link=(HIDDEN, OPEN))
        session.governing.set(OPEN, link=(*FORBIDDEN, SHARED))
        session.governing.set(HIDDEN, link=(OPEN,))

    def _add(self, folder: Path, scope: str, ids: list[str]) -> None:
        folder.mkdir(parents=True)
        for number, word in enumerate(("tide", "ferry")):
            (folder / f"pier{number}.py").write_text(CODE.format(word=word, n=number))
        with Sources(self.place.store, ANNA) as sources:
            sources.add(Wanted(folder, Namespace(scope), f"src-{folder.name}"))
            (folder / "pier0.py").write_text(CODE.format(word="mole", n=0))
            sources.sync()
        (folder / "pier1.py").write_text("changed = 1\n")
        rows = self.place.store.catalog.query(
            "SELECT DISTINCT frame_id FROM frame JOIN page USING (page_id) WHERE scope = ?",
            (scope,),
        )
        ids += [frame for (frame,) in rows]

    def ids(self) -> Iterator[str]:
        """What Ben may ask for: ids, beginnings of ids, paths."""
        for given in (*self.open_ids, *self.hidden_ids):
            yield given
            yield given[:10]
        for base in ("", "scopes/project/open/tree/", "scopes/project/hidden/tree/"):
            yield f"{base}notes/0.md"
        yield from ("pier0.py", "src-project-hidden/pier0.py", "src-project-open/pier0.py", "pg_")

    def ben(self) -> Session:
        return Session(self.place.store, BEN)

    def without_what_is_forbidden(self) -> None:
        """Take the forbidden scopes out of the files, as if they had never been there."""
        place = self.place
        moment = Instant(place.clock.time.microseconds)
        place.close()
        for scope in FORBIDDEN:
            folder = Namespace(scope).folder
            place.git("rm", "-r", "-q", "--ignore-unmatch", folder)
            shutil.rmtree(place.path / folder, ignore_errors=True)
        place.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "without")
        shutil.rmtree(place.path / ".pcpfs")
        place.clock.time = moment
        self.place = place.reopened()
