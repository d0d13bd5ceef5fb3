"""An erased source page: its file stays where it is, and is not taken in again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.erasure.erasing import delete
from pcpfs.store.upkeeping.fsck import fsck
from tests.erasure.hideouts import holds
from tests.store.workplace import ANNA, Workplace

WHY = "not ours to keep"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "keys.py").write_text("KEY = 'deadbeef-is-the-key-of-the-harbour'\n")
    (folder / "tides.py").write_text("def tides():\n    return 2\n")
    return folder


def synced(place: Workplace) -> list[str | None]:
    with Sources(place.store, ANNA) as sources:
        sources.sync()
    return sorted(str(row.path) for row in place.store.catalog.pages("is_source AND is_open"))


def test_an_erased_source_is_not_taken_in_again(place: Workplace, app: Path) -> None:
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(app, Namespace("project:app")))
    (row,) = place.store.catalog.pages("path = 'keys.py'")
    found = delete(place.store, ANNA, row.page_id, WHY, proven=True)
    assert found.proof is not None
    assert found.proof.ok, found.proof.traces
    assert holds(place.path, "deadbeef-is-the-key", "keys.py") == []
    assert synced(place) == ["tides.py"]
    (app / "keys.py").write_text("KEY = 'another-key-of-the-harbour-altogether'\n")
    assert synced(place) == ["tides.py"]
    with Sources(place.store, ANNA) as sources:
        report = sources.add(Wanted(app, Namespace("project:app"))).roots[0]
    assert [(skip.path, skip.reason) for skip in report.skipped] == [("keys.py", "excluded")]
    place.store.reindex()
    assert synced(place) == ["tides.py"]
    assert fsck(place.store).problems == ()


def test_the_paths_that_it_was_renamed_to_are_not_taken_in_either(
    place: Workplace, app: Path
) -> None:
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(app, Namespace("project:app")))
    (row,) = place.store.catalog.pages("path = 'keys.py'")
    (app / "keys.py").rename(app / "secrets.py")
    assert synced(place) == ["secrets.py", "tides.py"]
    found = delete(place.store, ANNA, row.page_id, WHY, cascade=True)
    assert len(found.pages) == 2
    assert synced(place) == ["tides.py"]
    assert holds(place.path, "deadbeef-is-the-key") == []
    os.rename(app / "secrets.py", app / "keys.py")
    assert synced(place) == ["tides.py"]


def test_a_citation_of_a_symbol_keeps_its_digest_and_that_is_said(
    place: Workplace, app: Path
) -> None:
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(app, Namespace("project:app")))
    (frame,) = place.store.catalog.frames("qualified_name = 'tides'")
    note = place.write("# Note\nI cite a function.\n", cites=(frame.frame_id,)).page_id
    found = delete(place.store, ANNA, frame.page_id, WHY, proven=True)
    assert found.proof is not None
    assert found.proof.ok
    said = [text for text in found.proof.unproven if note in text]
    assert len(said) == 1
    assert set(said) <= set(found.warnings)
    delete(place.store, ANNA, note, WHY)
    assert holds(place.path, frame.digest.removeprefix("sha256:")) == []


@pytest.fixture
def erased(place: Workplace, app: Path) -> str:
    """The page of `keys.py`, which is gone."""
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(app, Namespace("project:app")))
    (row,) = place.store.catalog.pages("path = 'keys.py'")
    delete(place.store, ANNA, row.page_id, WHY)
    return row.page_id


def test_its_file_is_not_taken_in_under_another_name(
    place: Workplace, app: Path, erased: str
) -> None:
    (app / "keys.py").rename(app / "plain.py")
    assert synced(place) == ["tides.py"]
    place.store.reindex()
    (app / "deep").mkdir()
    (app / "plain.py").rename(app / "deep" / "keys.py")
    assert synced(place) == ["tides.py"]
    (app / "deep" / "keys.py").write_text("KEY = 'another-key-of-the-harbour-altogether'\n")
    assert synced(place) == ["tides.py"]
    assert holds(place.path, "deadbeef-is-the-key", "another-key-of-the-harbour") == []
    assert len(place.store.objects.erased(Namespace("project:app"))) == 3
    assert fsck(place.store).problems == ()


def test_nor_by_another_root_nor_over_another_file(
    place: Workplace, app: Path, erased: str
) -> None:
    other = app.with_name("other")
    other.mkdir()
    (app / "keys.py").rename(other / "keys.py")
    (other / "boats.py").write_text("def boats():\n    return 3\n")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(other, Namespace("project:other")))
    assert synced(place) == ["boats.py", "tides.py"]
    (other / "keys.py").rename(app / "tides.py")
    assert synced(place) == ["boats.py"]
    assert holds(place.path, "deadbeef-is-the-key") == []


def test_a_copy_and_what_was_changed_on_the_way_are_other_files(
    place: Workplace, app: Path, erased: str
) -> None:
    shutil.copy(app / "keys.py", app / "copy.py")
    (app / "keys.py").rename(app / "changed.py")
    (app / "changed.py").write_text("KEY = None\n")
    assert synced(place) == ["changed.py", "copy.py", "tides.py"]


def test_a_watcher_that_was_there_before_leaves_it_alone(place: Workplace, app: Path) -> None:
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(app, Namespace("project:app")))
        (root,) = sources.roots.all()
        (row,) = place.store.catalog.pages("path = 'keys.py'")
        delete(place.store, ANNA, row.page_id, WHY)
        for path in ("keys.py", "plain.py"):
            (app / "keys.py").rename(app / path)
            sources.look(root, ["keys.py", "plain.py"])
            (app / path).write_text("KEY = 'another-key-of-the-harbour-altogether'\n")
            sources.look(root, [path])
    assert [row.path for row in place.store.catalog.pages("is_source")] == ["tides.py"]
    assert holds(place.path, "deadbeef-is-the-key", "another-key-of-the-harbour") == []
    assert fsck(place.store).problems == ()
