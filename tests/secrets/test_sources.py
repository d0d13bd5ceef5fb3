"""Source files that hold a secret are withheld: never stored, never served, and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Skipped
from pcpfs.sources.status import status
from tests.integration.source_tree import SourceTree
from tests.secrets.test_writing import KEY, TOKEN, nowhere
from tests.store.workplace import Workplace

SETTINGS = f'def connect():\n    """Of the harbour."""\n    return "{TOKEN}"\n'
SAFE = 'def harbour():\n    return "redis://user:password@host/0"\n'


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    folder = tmp_path / "app"
    folder.mkdir()
    return SourceTree(folder, place)


def withheld(app: SourceTree) -> list[Skipped]:
    return [s for s in status(app.place.session).skipped if s.reason == "withheld"]


def test_a_file_with_a_secret_is_not_taken_in_and_listed(app: SourceTree) -> None:
    app.write("settings.py", SETTINGS)
    app.write("safe.py", SAFE)
    app.add()
    assert withheld(app) == [
        Skipped("settings.py", "withheld", app.path.name, "github-token, line 3")
    ]
    assert status(app.place.session).stale == ()
    session = app.place.session
    assert session.search("connect").results == session.symbol("connect").results == ()
    assert [hit.path for hit in session.search("harbour").results] == ["safe.py"]
    with pytest.raises(NotFound):
        session.manifest("settings.py")
    nowhere(app.place, TOKEN)


def test_a_file_that_gets_a_secret_closes(app: SourceTree) -> None:
    app.write("settings.py", SETTINGS.replace(TOKEN, "none"))
    app.add()
    (hit,) = app.place.session.symbol("connect").results
    app.write("settings.py", SETTINGS)
    report = app.sync()
    assert (report.roots[0].closed, len(withheld(app))) == (1, 1)
    assert app.place.session.symbol("connect").results == ()
    (span,) = app.place.store.catalog.query(
        "SELECT ended_by FROM span WHERE page_id = ?", [hit.page_id]
    )
    assert span == ("withheld",)
    nowhere(app.place, TOKEN)


def test_it_comes_back_when_the_secret_is_gone(app: SourceTree) -> None:
    app.write("settings.py", SETTINGS)
    app.add()
    app.write("settings.py", SETTINGS.replace(TOKEN, "none"))
    app.sync()
    assert withheld(app) == []
    assert len(app.place.session.symbol("connect").results) == 1


def test_a_person_may_accept_one_file(app: SourceTree) -> None:
    app.write("settings.py", SETTINGS)
    app.write("other.py", SETTINGS.replace(TOKEN, KEY))
    app.add()
    name = app.path.name
    with app.sources() as sources:
        with pytest.raises(NotFound):
            sources.sync(allow_secrets=["nowhere/settings.py"])
        sources.sync(allow_secrets=[f"{name}/settings.py"])
        with pytest.raises(UsageError, match="no secret"):
            sources.sync(allow_secrets=[f"{name}/settings.py"])
    assert [skip.path for skip in withheld(app)] == ["other.py"]
    (hit,) = app.place.session.symbol("connect").results
    assert hit.path == "settings.py"
    nowhere(app.place, KEY)


def test_what_was_taken_in_by_an_older_version_is_looked_at_again(app: SourceTree) -> None:
    """Files that are known by their times are read once more: the cache is of a new kind."""
    app.write("settings.py", SETTINGS)
    app.add()
    with app.sources() as sources:
        root = sources.roots.all()[0]
        file = sources.roots.cache_file(root)
        file.write_bytes(file.read_bytes().replace(b"statcache-2", b"statcache-1"))
        assert len(sources.roots.cache(root)) == 0
