"""Operations that a crash may cut short, on a store with a little of everything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pcpfs_conformance.broken_disks import PowerWentOut

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.requests import EventDraft
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.fsck import fsck
from tests.ports import CountingEntropy, SteppingClock
from tests.store.workplace import ANNA, START, Workplace

APPLE = "def apple():\n    return 1\n" + "".join(
    f"\n\ndef seed{number}():\n    return {number}\n" for number in range(5)
)
"""Long enough that a later version is told by its difference."""
PEAR = "def pear():\n    return 1\n"


@dataclass(frozen=True)
class Scene:
    """A folder with a store (`store`) and a source tree (`app`). It can be kept and laid again, at
    the same place: a clone and its sources know where they lie."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def app(self) -> Path:
        return self.folder / "app"

    @property
    def _kept(self) -> Path:
        return self.folder.with_name(self.folder.name + "-kept")

    def keep(self) -> None:
        """Remember the scene as it is."""
        shutil.rmtree(self._kept, ignore_errors=True)
        shutil.copytree(self.folder, self._kept, symlinks=True)

    def again(self) -> None:
        """Lay it as it was kept."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder, symlinks=True)

    @contextmanager
    def opened(self, disk: Disk | None = None) -> Iterator[Workplace]:
        place = Workplace.at(self.store, SteppingClock(START), disk=disk or Disk())
        try:
            yield place
        except PowerWentOut:
            place.store.catalog.close()  # only for this process to go on; the dead one does nothing
            place.store.local.close()
            raise
        except BaseException:
            place.close()
            raise
        place.close()


@dataclass(frozen=True)
class Operation:
    """What somebody does in a scene, after something that nobody interrupts."""

    name: str
    run: Callable[[Workplace, Scene], object]
    before: Callable[[Workplace, Scene], object] = lambda place, scene: None
    lags: bool = False
    """Git's index may lag behind until the next writer comes."""


def furnished(folder: Path) -> Scene:
    """Two pages, one of them revised, and a source tree that nobody has added."""
    scene = Scene(folder)
    Store.init(
        scene.store, owner=ANNA, clock=SteppingClock(START), entropy=CountingEntropy()
    ).close()
    scene.app.mkdir()
    (scene.app / "apple.py").write_text(APPLE)
    (scene.app / "pear.py").write_text(PEAR)
    with scene.opened() as place:
        page = place.write("# One\nfirst\n", path="one.md").page_id
        place.revise(page, "# One\nsecond\n")
        place.write("# Two\n", path="notes/two.md")
        place.session.flush_indexes()
    return scene


def named(place: Workplace, title: str) -> str:
    (row,) = place.store.catalog.pages("title = ?", (title,))
    return str(row.page_id)


def add(place: Workplace, scene: Scene) -> object:
    with Sources(place.store, ANNA) as sources:
        return sources.add(Wanted(scene.app, Namespace("project:app")))


def write_late(place: Workplace, scene: Scene) -> object:
    """As a server does: git's index lags behind until it ends."""
    place.store.commit_late()
    return place.write("# New\n", path="late.md")


def change_the_sources(place: Workplace, scene: Scene) -> None:
    """A file changes, one moves, one goes, one comes."""
    add(place, scene)
    (scene.app / "apple.py").write_text(APPLE + "\n\ndef more():\n    return 2\n")
    (scene.app / "pear.py").rename(scene.app / "fruit.py")
    (scene.app / "new.py").write_text("def new():\n    return 3\n")
    for file in scene.app.iterdir():
        moment = Instant(place.clock.time.microseconds + 500_000).microseconds * 1000
        os.utime(file, ns=(moment, moment))


class InParts(Sources):
    """Two files a part, and nobody else who reads meanwhile."""

    def _index_beside(self) -> None: ...


def add_in_parts(place: Workplace, scene: Scene) -> object:
    with InParts(place.store, ANNA, batch_files=2) as sources:
        return sources.add(Wanted(scene.app, Namespace("project:app")))


def many_sources(place: Workplace, scene: Scene) -> None:
    for number in range(5):
        (scene.app / f"fruit{number}.py").write_text(f"def fruit{number}(): ...\n")


def ingest(place: Workplace, scene: Scene) -> object:
    said = (f"# Event {n}\nnew apple {n}" for n in range(3))
    events = [EventDraft(text.encode(), "text/markdown", key=text) for text in said]
    return place.session.ingest("project:new", events)


def sync(place: Workplace, scene: Scene) -> object:
    with Sources(place.store, ANNA) as sources:
        return sources.sync()


OPERATIONS = (
    Operation("write", lambda p, s: p.write("# New\n", path="deep/er/new.md")),
    Operation("write-elsewhere", lambda p, s: p.write("# New\n", scope="project:new")),
    Operation("write-with-a-key", lambda p, s: p.write("# New\n", key="k", tags=("t",))),
    Operation("revise", lambda p, s: p.revise(named(p, "One"), "# One\nthird\n")),
    Operation("rename-by-title", lambda p, s: p.revise(named(p, "Two"), "# Zwei\n", title="Zwei")),
    Operation("link", lambda p, s: p.session.link(named(p, "Two"), "supports", named(p, "One"))),
    Operation("tombstone", lambda p, s: p.session.tombstone(named(p, "Two"), "wrong")),
    Operation("archive", lambda p, s: p.session.archive(named(p, "Two"), "old")),
    Operation(
        "restore",
        lambda p, s: p.session.restore(named(p, "Two"), "right"),
        lambda p, s: p.session.tombstone(named(p, "Two"), "wrong"),
    ),
    Operation("ingest", ingest),
    Operation("write-late", write_late, lags=True),
    Operation("add", add),
    Operation("sync", sync, change_the_sources),
    Operation("reindex", lambda p, s: p.store.reindex()),
    Operation(
        "flush-indexes",
        lambda p, s: p.session.flush_indexes(),
        lambda p, s: [p.write(f"# Page {n}\napple {n}\n") for n in range(3)],
    ),
)


IN_PARTS = Operation("add-in-parts", add_in_parts, many_sources)

State = dict[str, object]


def state(place: Workplace) -> State:
    """All that a store says, without what differs from run to run."""
    session, catalog = place.session, place.store.catalog
    names = {row.page_id: f"{row.scope} {row.path}" for row in catalog.pages()}
    said: State = {
        name: (
            catalog.page(page).title,  # type: ignore[union-attr]
            session.manifest(page).lifecycle_status,
            [session.payload(entry.revision_id) for entry in session.log(page)],
            [entry.operation for entry in session.log(page)],
            sorted(
                (view.relation.type, view.direction, view.title, view.status)
                for view in session.relations(page)
            ),
        )
        for page, name in names.items()
    }
    said["roots"] = sorted(row.name for row in catalog.roots())
    said["scopes"] = [row.scope for row in catalog.scopes()]
    said["symbols"] = sorted(
        (frame.qualified_name, frame.valid_to is None) for frame in catalog.frames("1")
    )
    for scope in ("a", "new"):
        said[f"tree {scope}"] = place.tree(f"project:{scope}")
    found = session.search("one new apple", limit=50).results
    said["found"] = sorted(f"{hit.title} {hit.qualified_name}" for hit in found)
    return said


def ailments(place: Workplace, *, lags: bool = False) -> list[str]:
    """What is wrong with a store that has recovered; where git's index `lags`, after a write."""
    if lags:
        place.write("# More\n")
    wrong = [f"fsck: {problem.message}" for problem in fsck(place.store).problems]
    wrong += [f"git status: {line}" for line in place.git("status", "--porcelain").splitlines()]
    wrong += [f"litter: {path}" for path in litter(place.path)]
    if (place.path / ".git/pcpfs/intent.json").exists():
        wrong.append("an intent is left")
    try:
        written = place.write("# Next\n", path="next.md")
    except PcpfsError as error:
        return [*wrong, f"the next write fails: {error.message}"]
    if (place.path / str(written.path)).read_bytes() != b"# Next\n":
        wrong.append("the next write is not in tree/")
    return wrong


def litter(store: Path) -> list[str]:
    """Unfinished files where people or git would see them."""
    found = [path for path in store.rglob(".tmp-*") if ".git" not in path.parts]
    return [str(path) for path in found if ".pcpfs" not in path.parts]
