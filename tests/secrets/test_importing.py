"""An import is looked through as a write is; what was accepted can be taken back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pcpfs.errors import NotFound, NotPermitted, SecretFound
from pcpfs.model.names import Namespace
from pcpfs.model.requests import EventDraft
from pcpfs.store.exchanges.exchange import export, import_store
from pcpfs.store.exchanges.import_secrets import Looking
from pcpfs.store.merges.remote import pull, push
from pcpfs.store.session import Session
from pcpfs.store.upkeeping.fsck import fsck
from tests.access.world import BEN
from tests.integration.source_tree import SourceTree
from tests.merge.clones import Family
from tests.secrets.test_writing import KEY, TOKEN, URL, nowhere
from tests.store.workplace import ANNA, SCOPE, Workplace

SETTINGS = f'def connect():\n    return "{TOKEN}"\n'


@pytest.fixture
def other(empty_store: Path, tmp_path: Path) -> Iterator[Workplace]:
    """Another store."""
    shutil.copytree(empty_store, tmp_path / "other")
    workplace = Workplace.at(tmp_path / "other")
    yield workplace
    workplace.close()


def refused(into: Workplace, source: Path, secret: str = TOKEN) -> list[dict[str, object]]:
    """What an import is refused for; nothing of it is kept anywhere."""
    with pytest.raises(SecretFound) as error:
        import_store(into.session, source)
    assert secret not in error.value.message + str(error.value.fields)
    assert not into.store.catalog.pages()
    nowhere(into, secret)
    found: list[dict[str, object]] = error.value.fields["findings"]  # type: ignore[assignment]
    return found


def test_a_store_with_secrets_is_refused_with_kind_and_position(
    place: Workplace, other: Workplace
) -> None:
    plain = place.write("fine\n", path="fine.md").page_id
    given = {"title": f"use {KEY}", "source_refs": (URL,), "allow_secret": True}
    page = place.write(f"one\n  use {TOKEN}\n", **given).page_id
    found = refused(other, place.path)
    assert [tuple(one.values()) for one in found if "payload" in str(one["where"])] == [
        ("github-token", f"payload of {page}", 2, 7)
    ]
    assert {(one["kind"], one["where"]) for one in found} >= {
        ("aws-key", f"facets.title of {page}"),
        ("password", f"source_refs of {page}"),
    }
    report = import_store(other.session, place.path, allow_secret=True)
    assert report.pages == 2
    assert other.session.payload(page) == place.session.payload(page)
    assert other.session.payload(plain) == b"fine\n"
    assert import_store(other.session, place.path).files == 0  # what is here is not asked about
    other.revise(page, f"again {TOKEN}\n")  # and what was accepted neither
    with pytest.raises(SecretFound):
        other.write(f"{TOKEN}\n", scope="project:b")
    assert fsck(other.store).ok


def test_an_import_looks_at_every_revision_event_reason_and_name(
    place: Workplace, other: Workplace
) -> None:
    page = place.write("one\n", path=f"{KEY}.md", allow_secret=True).page_id
    old = place.revise(page, f"{TOKEN}\n", allow_secret=True)
    place.revise(page, "clean again\n")
    looked = {str(one["where"]) for one in refused(other, place.path)}
    assert f"payload of {page}" in looked
    assert f"events.path of {page}" in looked
    assert old.revision_id
    place.session.tombstone(page, "over")
    place.session.ingest(SCOPE, [EventDraft(b"said " + TOKEN.encode())])  # withheld by ingest
    report = import_store(other.session, place.path, allow_secret=True)
    assert report.events == 1


def test_an_event_with_a_secret_from_elsewhere_is_refused(place: Workplace) -> None:
    looking = Looking(place.store.catalog)
    looking.document(
        Namespace(SCOPE), "pg_x", b'{"event": {"about": {"tool": "' + TOKEN.encode() + b'"}}}'
    )
    (finding,) = looking.findings
    assert (finding.kind, finding.where) == ("github-token", "event.about.tool of pg_x")


def test_sources_are_looked_through_as_when_they_are_added(
    place: Workplace, other: Workplace, tmp_path: Path
) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    app = SourceTree(folder, place)
    app.write("safe.py", 'URL = "redis://user:password@host/0"\n')
    app.add()
    assert import_store(other.session, place.path).pages == 1


def test_an_export_carries_what_was_accepted_along(place: Workplace, tmp_path: Path) -> None:
    page = place.write(f"{TOKEN}\n", allow_secret=True).page_id
    export(place.session, [], tmp_path / "out")
    exported = Workplace.at(tmp_path / "out")
    exported.revise(page, f"{TOKEN} too\n")
    (one,) = exported.session.accepted.listed().items
    assert (one.kind, one.scope) == ("github-token", SCOPE)
    exported.close()


def test_what_was_accepted_is_listed_and_can_be_taken_back(place: Workplace) -> None:
    page = place.write(f"{TOKEN} {KEY}\n", allow_secret=True).page_id
    far = place.write(f"{TOKEN}\n", scope="project:b", allow_secret=True).page_id
    accepted = place.session.accepted
    views = accepted.listed().items
    assert [(v.scope, v.pages, v.actor) for v in views] == [
        (SCOPE, (page,), "user:anna"),
        (SCOPE, (page,), "user:anna"),
        ("project:b", (far,), "user:anna"),
    ]
    token = next(v for v in views if v.kind == "github-token" and v.scope == SCOPE)
    first = accepted.listed(limit=2)
    assert accepted.listed(limit=2, cursor=first.cursor).items == views[2:]
    assert accepted.take_back([token.accepted_id[:8]]) == (token,)
    assert token not in accepted.listed().items
    place.store.reindex()
    with pytest.raises(SecretFound):
        place.write(f"{TOKEN}\n")
    place.write(f"{KEY}\n")
    place.write(f"{TOKEN}\n", scope="project:b")
    assert place.session.payload(page) == f"{TOKEN} {KEY}\n".encode()
    for unknown in (token.accepted_id, "", "zz" * 8):
        with pytest.raises(NotFound):
            accepted.take_back([unknown])
    place.write(f"{TOKEN}\n", allow_secret=True)  # and it can be accepted again
    place.write(f"{TOKEN} more\n")


def test_only_who_administers_a_scope_hears_what_was_accepted_there(place: Workplace) -> None:
    place.write(f"{TOKEN}\n", allow_secret=True)
    (view,) = place.session.accepted.listed().items
    place.session.governing.grant(SCOPE, BEN, ["read", "write"])
    ben = Session(place.store, BEN)
    assert ben.accepted.listed().items == ()
    with pytest.raises(NotPermitted):
        ben.accepted.listed([SCOPE])
    with pytest.raises(NotFound):
        ben.accepted.take_back([view.accepted_id])
    place.session.governing.grant(SCOPE, BEN, ["administer"])
    assert ben.accepted.take_back([view.accepted_id]) == (view,)


def test_a_source_file_is_withheld_again_although_it_did_not_change(
    place: Workplace, tmp_path: Path
) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    app = SourceTree(folder, place)
    app.write("settings.py", SETTINGS)
    app.write("safe.py", "x = 1\n")
    app.add()
    with app.sources() as sources:
        sources.sync(allow_secrets=[f"{folder.name}/settings.py"])
    assert len(place.session.symbol("connect").results) == 1
    (view,) = place.session.accepted.listed().items
    place.session.accepted.take_back([view.accepted_id])
    (root,) = app.sync().roots
    assert (root.closed, root.unchanged) == (1, 1)
    assert place.session.symbol("connect").results == ()


def test_taking_back_holds_in_every_clone(empty_store: Path, tmp_path: Path) -> None:
    family = Family(tmp_path, empty_store)
    (one,) = family.clones
    one.write(f"{TOKEN}\n", allow_secret=True)
    push(one.store, ANNA)
    two = family.clone()
    (view,) = one.session.accepted.listed().items
    one.session.accepted.take_back([view.accepted_id])
    two.session.governing.set(SCOPE, title="Tides")
    push(one.store, ANNA)
    pull(two.store, ANNA)
    with pytest.raises(SecretFound):
        two.write(f"two {TOKEN}\n")
    for clone in family.clones:
        clone.close()
