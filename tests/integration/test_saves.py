"""Versions of a source told by what changed: whoever reads them sees what was there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pcpfs.errors import Corrupt
from pcpfs.model.changes import Change, Observed
from pcpfs.model.frames import Extraction
from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.reextract import reextract
from pcpfs.store.erasure.erasing import delete
from pcpfs.store.exchanges.exchange import export, import_store
from pcpfs.store.registry import installed_registry
from pcpfs.store.sightings import Sightings
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.store.upkeeping.repair import repair
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA, Workplace, paths_of, truth

FUNCTIONS = 12


def module(save: int, more: str = "") -> str:
    """A dozen functions, one of which says which save it is; some lines come and go before it."""
    at = save % FUNCTIONS
    return (
        "".join(
            f"def tide{number}():\n    return {save if number == at else 'None'}\n\n\n"
            + ("# more\n" * (save % 3) if number == at - 1 else "")
            for number in range(FUNCTIONS)
        )
        + more
    )


@pytest.fixture
def saved(app: SourceTree) -> SourceTree:
    """A file that was saved five times."""
    app.write("a.py", module(0))
    app.add()
    save(app, *map(module, range(1, 6)))
    return app


def save(app: SourceTree, *texts: str, path: str = "a.py") -> None:
    with app.sources() as sources:
        for text in texts:
            app.write(path, text)
            sources.sync()


def observed(place: Workplace) -> list[tuple[Path, Observed]]:
    """All observations, with the change files that tell of them."""
    found = []
    for file in paths_of(place.path, "chg_*.json"):
        for event in Change.decode(file.read_bytes(), file.name).events:
            if isinstance(event, Observed):
                found.append((file, event))
    return sorted(found, key=lambda one: one[1].valid_from)


def seen(place: Workplace) -> list[tuple[str, Extraction]]:
    """What every observation of the store shows, read from the files alone."""
    sightings, catalog = Sightings(place.store.objects), place.store.catalog
    rows = catalog.query("SELECT revision_id, digest FROM revision")
    digests = {revision: Digest(digest) for revision, digest in rows}
    return [
        (digests[span.revision_id], sightings.of_span(page.scope, span, digests[span.revision_id]))
        for page in catalog.pages("is_source")
        for span in catalog.spans(page.page_id)
    ]


def extracted(place: Workplace) -> list[tuple[str, Extraction]]:
    """The same, looked at again."""
    python = installed_registry().for_source("a.py", b"")
    payload = place.store.objects.payload
    return [
        (digest, python.extract(payload(Namespace("project:a"), Digest(digest))))
        for digest, _ in seen(place)
    ]


def sound(place: Workplace) -> None:
    assert fsck(place.store).problems == ()


def test_the_first_version_has_a_frames_file_and_each_save_says_what_changed(
    saved: SourceTree,
) -> None:
    place = saved.place
    assert len(list(frames_files(place))) == 1
    first, *others = [event for _, event in observed(place)]
    assert first.difference is None
    assert all(event.difference is not None for event in others)
    assert seen(place) == extracted(place)
    sound(place)


def frames_files(place: Workplace) -> Iterator[Path]:
    return (file for file in paths_of(place.path, "*.json") if file.parents[2].name == "frames")


def test_a_catalog_built_anew_and_each_reader_of_a_version_say_the_same(
    saved: SourceTree,
) -> None:
    place = saved.place
    rows = place.store.catalog.frames("1")
    place.store.reindex()
    assert sorted(place.store.catalog.frames("1")) == sorted(rows)
    old = place.session.log("a.py")[2].revision_id
    diff = place.session.diff(old, place.session.log("a.py")[0].revision_id)
    assert sorted(diff.symbols["changed"]) == ["tide3", "tide5"]


def test_after_so_many_differences_there_is_a_frames_file_again(
    saved: SourceTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcpfs.store.sightings.MOST_STEPS", 6)
    save(saved, *map(module, range(6, 9)))
    assert len(list(frames_files(saved.place))) == 2
    assert [event.difference is None for _, event in observed(saved.place)][6:] == [
        False,
        True,
        False,
    ]
    assert seen(saved.place) == extracted(saved.place)


def test_bytes_that_come_back_and_a_file_that_comes_back_are_told_as_well(
    saved: SourceTree,
) -> None:
    save(saved, module(3))
    (saved.path / "a.py").unlink()
    saved.report()
    save(saved, module(4))
    assert len(list(frames_files(saved.place))) == 1
    assert seen(saved.place) == extracted(saved.place)
    sound(saved.place)


def test_of_much_that_changed_there_is_a_file(saved: SourceTree) -> None:
    save(saved, module(6).replace("tide", "wave"))
    assert len(list(frames_files(saved.place))) == 2
    sound(saved.place)


def test_fsck_names_a_difference_that_was_changed_and_one_that_starts_from_other_frames(
    saved: SourceTree,
) -> None:
    place = saved.place
    file, _ = observed(place)[3]
    raw = file.read_bytes()
    file.write_bytes(
        raw.replace(b'"count":1,', b'"count":2,').replace(b'"count":2}', b'"count":3}')
    )
    assert file.read_bytes() != raw
    found = fsck(place.store).problems
    path = file.relative_to(place.path).as_posix()
    assert ("corrupt", path) in {(problem.code, problem.path) for problem in found}
    assert repair(place.store).ok
    assert file.read_bytes() == raw
    (first,) = frames_files(place)
    was = first.read_bytes()
    first.write_bytes(was.replace(b'"name":"tide9"', b'"name":"tide7"'))
    assert any("not what they were" in p.message for p in fsck(place.store).problems)
    with pytest.raises(Corrupt, match="not what they were"):
        seen(place)
    assert repair(place.store).ok
    assert first.read_bytes() == was


def test_a_lost_frames_file_comes_back_with_all_that_starts_from_it(
    saved: SourceTree, tmp_path: Path
) -> None:
    place = saved.place
    (first,) = frames_files(place)
    first.unlink()
    assert "frames" in {problem.code for problem in fsck(place.store).problems}
    Store.init(tmp_path / "copy", owner=ANNA).close()
    copy = Workplace.at(tmp_path / "copy", place.clock)
    with pytest.raises(Corrupt, match="missing"):
        import_store(copy.session, place.path)
    copy.close()
    with ExtractionPool(installed_registry, workers=0) as pool:
        report = reextract(place.store, ANNA, installed_registry(), pool)
    assert report.restored == 1
    assert seen(place) == extracted(place)
    sound(place)


def test_a_copy_of_the_store_has_the_same_files(saved: SourceTree, tmp_path: Path) -> None:
    place = saved.place
    export(place.session, (), tmp_path / "e.tar")
    Store.init(tmp_path / "copy", owner=ANNA).close()
    copy = Workplace.at(tmp_path / "copy", place.clock)
    import_store(copy.session, tmp_path / "e.tar")
    kinds = ("/frames/", "/pages/", "/payloads/")
    mine, theirs = (
        {path: raw for path, raw in truth(one.path).items() if any(k in path for k in kinds)}
        for one in (place, copy)
    )
    assert mine == theirs
    sound(copy)
    save(saved, module(7))
    import_store(copy.session, place.path)
    assert seen(copy) == extracted(copy)
    copy.close()


@pytest.mark.parametrize("first", ["a.py", "b.py"])
def test_erasing_a_page_leaves_a_page_of_equal_bytes_whole(saved: SourceTree, first: str) -> None:
    save(saved, module(3), module(4, "# mine\n"), path="b.py")
    before = seen(saved.place)
    (kept,) = saved.place.store.catalog.pages("is_source AND path <> ?", (first,))
    (row,) = saved.place.store.catalog.pages("path = ?", (first,))
    found = delete(saved.place.store, ANNA, row.page_id, "gone for good", proven=True)
    assert found.proof is not None
    assert found.proof.ok, found.proof.traces
    after = seen(saved.place)
    assert len(after) == len(saved.place.store.catalog.spans(kept.page_id))
    assert all(one in before for one in after)
    sound(saved.place)
    saved.place.store.reindex()
    assert seen(saved.place) == after
