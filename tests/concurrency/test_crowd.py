"""Sixteen writers and everybody else at once: kept or refused, and the store is sound."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.upkeeping.fsck import fsck
from tests.concurrency.crowd import Told, crowd
from tests.store.workplace import ANNA, Workplace

WRITERS = 16
OPERATIONS = int(os.environ.get("PCPFS_CROWD", "6"))
"""A writer; 50 takes minutes."""
SECONDS = 4.0


@pytest.fixture
def sources(place: Workplace, tmp_path: Path) -> Path:
    """A folder of sources that the store observes."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "m0.py").write_text("def f0():\n    return 0\n")
    with Sources(place.store, ANNA) as held:
        held.add(Wanted(folder, Namespace("project:app")))
    return folder


def writers(place: Workplace, shared: list[str], count: int = WRITERS) -> list[tuple[str, dict]]:  # type: ignore[type-arg]
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    about = {"store": str(place.path), "count": OPERATIONS, "shared": shared}
    return [("writer", {**about, "name": n, "seed": seed + n}) for n in range(count)]


def shared_pages(place: Workplace) -> list[str]:
    return [place.write(f"page {n}\n", path=f"shared{n}.md").page_id for n in range(3)]


def trouble(place: Workplace, told: Told, shared: list[str]) -> list[str]:
    """What was lost, mixed or told wrong."""
    wrong = [f"{line['role']}: {line['what']} {line['trace']}" for line in told.of("error")]
    wrong += [f"torn: {line}" for line in told.of("torn")]
    wrong += lost(place, told)
    for page in shared:
        wrong += breaks(place, told, page)
    return wrong + soundness(place)


def lost(place: Workplace, told: Told) -> Iterator[str]:
    """What was acknowledged has its bytes; a key names one page; what was refused had changed."""
    for line in told.of("kept"):
        if Digest.of(place.session.payload(line["revision"])) != line["digest"]:
            yield f"{line['revision']} has other bytes"
    for line in told.of("refused"):
        if line["expected"] in line["heads"]:
            yield f"refused although current: {line}"
    firsts = {(line["key"], line["revision"]) for line in told.of("keyed")}
    if len(firsts) != len({key for key, _ in firsts}):
        yield f"a key names several pages: {sorted(firsts)}"


def breaks(place: Workplace, told: Told, page: str) -> Iterator[str]:
    """The revisions of a page that everybody revised are one line: each follows what its writer
    had read, and says so."""
    entries = place.session.log(page)
    kept = {line["revision"]: line["parent"] for line in told.of("kept") if line["page"] == page}
    if len(place.session.manifest(page).heads) != 1 or len(entries) != 1 + len(kept):
        yield f"{page} has {len(entries)} revisions, {len(kept)} were acknowledged"
    for newer, older in pairwise(entries):
        said = place.session.payload(newer.revision_id).decode().split()[-1]
        if not newer.parents == (older.revision_id,) == (kept[newer.revision_id],) == (said,):
            yield f"{newer.revision_id} does not follow {older.revision_id}"


def soundness(place: Workplace) -> list[str]:
    wrong = [f"fsck: {problem.message}" for problem in fsck(place.store).problems]
    return wrong + [f"git: {line}" for line in place.git("status", "--porcelain").splitlines()]


def test_sixteen_writers_beside_a_watcher_lose_nothing(place: Workplace, sources: Path) -> None:
    shared = shared_pages(place)
    told = crowd(
        *writers(place, shared),
        ("watcher", {"store": str(place.path), "folder": str(sources)}),
        ("saver", {"folder": str(sources), "seconds": SECONDS}),
        ("reader", {"store": str(place.path), "pages": shared, "seconds": SECONDS}),
    )
    assert trouble(place, told, shared) == []
    assert len(told.of("kept")) + len(told.of("refused")) >= WRITERS * OPERATIONS
    assert [line for line in told.of("watched") if line["what"] == "error"] == []
    place.clock.go_to("2041-01-01T00:00:00Z")
    for file in sources.iterdir():
        assert place.session.payload(file.name) == file.read_bytes()


def test_caches_may_be_built_and_flushed_by_several_while_others_write_and_read(
    place: Workplace,
) -> None:
    shared = shared_pages(place)
    path = str(place.path)
    told = crowd(
        *writers(place, shared, 3),
        *[("flusher", {"store": path, "seconds": SECONDS})] * 2,
        *[("reader", {"store": path, "pages": shared, "seconds": SECONDS})] * 2,
        ("reindexer", {"store": path, "count": 3}),
        ("reindexer", {"store": path, "count": 3}),
    )
    assert trouble(place, told, shared) == []
    assert len(told.of("reindexed")) == 6
    found = {hit.revision_id for hit in place.session.search("page", limit=200).results}
    own = {line["revision"] for line in told.of("kept") if "parent" not in line}
    assert own <= found


def test_a_person_who_commits_everything_all_the_time_takes_nothing_away(
    place: Workplace, sources: Path
) -> None:
    shared = shared_pages(place)
    path = str(place.path)
    told = crowd(
        *writers(place, shared, 4),
        ("committer", {"store": path, "seconds": SECONDS}),
        ("watcher", {"store": path, "folder": str(sources)}),
        ("watcher", {"store": path, "folder": str(sources)}),
        ("saver", {"folder": str(sources), "seconds": SECONDS}),
    )
    assert [line for line in told.of("watched") if line["what"] == "error"] == []
    place.git("-c", "user.name=me", "-c", "user.email=me@x", "add", "-A")
    place.store.refresh()
    unfinished = [line for line in soundness(place) if "mine.txt" not in line]
    assert unfinished == []
    (place.path / "mine.txt").unlink(missing_ok=True)
    place.git("-c", "user.name=me", "-c", "user.email=me@x", "commit", "-q", "-a", "-m", "end")
    assert trouble(place, told, shared) == []
    assert told.of("committed")
    everything = set(place.git("log", "--format=", "--name-only").splitlines())
    assert {
        f.relative_to(place.path).as_posix() for f in (place.path / "scopes").rglob("chg_*")
    } <= everything
