"""Export and import of stores: ids are kept, nothing is taken twice, both sides stay."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pcpfs.errors import Conflict, Corrupt, NotFound, NotPermitted, PcpfsError
from pcpfs.model.pages import Principal
from pcpfs.model.requests import EventDraft, Filters
from pcpfs.store.exchanges.exchange import export, import_store
from pcpfs.store.session import Session
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace, contents, paths_of, truth


@pytest.fixture
def full(place: Workplace) -> Workplace:
    """Pages of all kinds in one scope, another page in a second one, events in a third."""
    a = place.write("# A\ntide\n", path="a.md")
    place.revise(a.page_id, "# A\nspring tide\n")
    b = place.write(b"\x00binary", path="b.bin", relations=(("uses", "a.md"),))
    place.session.archive(b.page_id, "old")
    gone = place.write("gone", path="gone.md")
    place.session.tombstone(gone.page_id, "wrong")
    place.write("other", scope="project:b", path="o.md")
    events = [EventDraft(f"said {n}".encode(), "text/plain", key=f"k{n}") for n in range(3)]
    done = place.session.ingest("conversation:c", [*events, EventDraft(b"x" * 2_000_000)])
    place.session.archive(done[1].page_id, "noise")
    return place


@pytest.fixture
def other(empty_store: Path, tmp_path: Path) -> Iterator[Workplace]:
    """Another store, with other ids."""
    path = tmp_path / "other"
    shutil.copytree(empty_store, path)
    workplace = Workplace.at(path)
    yield workplace
    workplace.close()


def told(place: Workplace, scopes: tuple[str, ...]) -> dict[str, object]:
    """What readers see of the pages of some scopes."""
    session = place.session
    rows = [row for row in place.store.catalog.pages() if row.scope in scopes]
    return {
        row.page_id: (
            session.manifest(row.page_id),
            session.payload(row.page_id),
            session.relations(row.page_id),
            session.log(row.page_id),
        )
        for row in rows
    }


@pytest.mark.parametrize("name", ["exported", "exported.tar", "exported.tar.gz"])
def test_an_export_is_a_store_with_the_same_pages(
    full: Workplace, tmp_path: Path, name: str
) -> None:
    """PCP-U1"""
    scopes = ("project:a", "conversation:c")
    report = export(full.session, scopes, tmp_path / name)
    assert (report.pages, report.events) == (3, 4)
    folder = tmp_path / name
    if name.endswith(("tar", "gz")):
        with tarfile.open(folder) as tar:
            tar.extractall(tmp_path / "unpacked", filter="data")
        folder = tmp_path / "unpacked/exported"
    exported = Workplace.at(folder)
    assert told(exported, scopes) == told(full, scopes)
    assert exported.tree() == full.tree()
    found = exported.session.search("tide", filters=Filters()).results
    assert [hit.title for hit in found] == ["A"]
    assert {view.scope for view in exported.session.scopes()} == set(scopes)
    found = fsck(exported.store)
    assert (found.ok, found.problems) == (True, ())
    assert {one.code for one in found.dangling} <= {"relation"}
    assert exported.git("status", "--porcelain") == ""
    exported.close()


def test_an_import_keeps_ids_and_a_second_one_changes_nothing(
    full: Workplace, other: Workplace, tmp_path: Path
) -> None:
    export(full.session, (), tmp_path / "e.tar")
    first = import_store(other.session, tmp_path / "e.tar")
    scopes = ("project:a", "project:b", "conversation:c")
    assert (first.pages, first.events, first.conflicts) == (4, 4, ())
    assert told(other, scopes) == told(full, scopes)
    assert other.tree() == full.tree()
    before, commits = truth(other.path), other.commits()
    again = import_store(other.session, tmp_path / "e.tar")
    assert (again.pages, again.events, again.files, again.commit) == (0, 0, 0, None)
    assert (truth(other.path), other.commits()) == (before, commits)
    assert fsck(other.store).problems == ()
    assert other.git("status", "--porcelain") == ""


def test_an_import_straight_from_a_folder_takes_one_scope(
    full: Workplace, other: Workplace
) -> None:
    report = import_store(other.session, full.path, ["project:b"])
    assert (report.scopes, report.pages) == (("project:b",), 1)
    assert [view.scope for view in other.session.scopes()] == ["project:b"]
    with pytest.raises(NotFound, match="project:nowhere"):
        import_store(other.session, full.path, ["project:nowhere"])


def test_what_both_sides_wrote_meanwhile_becomes_two_heads(
    full: Workplace, other: Workplace
) -> None:
    import_store(other.session, full.path)
    full.revise("a.md", "# A\nhere\n")
    other.revise("a.md", "# A\nthere\n")
    full.write("new", path="n.md")
    report = import_store(other.session, full.path)
    assert report.pages == 2
    ((clash),) = report.conflicts
    assert len(clash.heads) == 2
    texts = {other.session.payload(head) for head in clash.heads}
    assert texts == {b"# A\nhere\n", b"# A\nthere\n"}
    other.session.resolve_conflict(clash.page_id, _draft(b"# A\nboth\n"))
    back = import_store(full.session, other.path)
    assert back.conflicts == ()
    assert full.session.payload("a.md") == b"# A\nboth\n"


def _draft(raw: bytes) -> object:
    from pcpfs.model.requests import Draft  # noqa: PLC0415

    return Draft(raw)


def test_grants_do_not_come_with_the_files(full: Workplace, other: Workplace) -> None:
    import_store(other.session, full.path)
    for view in other.session.scopes():
        assert view.visibility == "private"
    folders = [p for p in paths_of(other.path, "chg_*.json") if p.parent.name == "scope"]
    assert all(b'"titled"' in path.read_bytes() for path in folders)


def test_what_is_erased_here_does_not_come_back(full: Workplace, other: Workplace) -> None:
    page = full.session.manifest("a.md").page_id
    receipt = other.path / f"scopes/project/a/erased/{page}.json"
    receipt.parent.mkdir(parents=True)
    receipt.write_bytes(b"{}\n")
    report = import_store(other.session, full.path)
    assert (page, "erased") in report.left
    assert other.store.catalog.page(page) is None
    assert not list(other.path.rglob(f"{page}/*"))


def test_only_the_owner_imports(full: Workplace, other: Workplace) -> None:
    stranger = Session(other.store, Principal("model:local"))
    with pytest.raises(NotPermitted):
        import_store(stranger, full.path)
    stranger.close()


@pytest.mark.parametrize("kind", ["rev_*.json", "chg_*.json", "*.jsonl", "payload", "gone"])
def test_a_damaged_file_stops_an_import_before_anything_is_written(
    full: Workplace, other: Workplace, kind: str
) -> None:
    if kind in ("payload", "gone"):
        victim = next(p for p in sorted((full.path / "scopes").rglob("payloads/*/*/*")))
    else:
        victim = paths_of(full.path, kind)[0]
    victim.unlink() if kind == "gone" else victim.write_bytes(victim.read_bytes() + b" ")
    before = contents(other.path / "scopes")
    with pytest.raises(Corrupt):
        import_store(other.session, full.path)
    assert contents(other.path / "scopes") == before


def test_a_page_that_is_known_in_another_scope_is_refused(
    full: Workplace, other: Workplace, tmp_path: Path
) -> None:
    page = full.session.manifest("o.md").page_id
    import_store(other.session, full.path, ["project:a"])
    forged = tmp_path / "forged"
    shutil.copytree(other.path, forged)
    import_store(other.session, full.path, ["project:b"])
    moved = Workplace.at(forged)
    row = full.store.catalog.page(page)
    assert row is not None
    moved.store.entropy.time_ordered = lambda: _raw_of(page)  # type: ignore[method-assign]
    moved.write("forged", path="f.md")
    with pytest.raises(Conflict, match="known here in project:b"):
        import_store(other.session, forged)
    moved.close()


def _raw_of(page: str) -> bytes:
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    number = 0
    for character in page[3:]:
        number = number * 32 + alphabet.index(character)
    return number.to_bytes(16, "big")


def test_an_export_overwrites_nothing(full: Workplace, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/file").write_text("mine")
    (tmp_path / "there.tar").write_text("mine")
    for name in ("there", "there.tar"):
        with pytest.raises(Conflict):
            export(full.session, (), tmp_path / name)
    assert (tmp_path / "there.tar").read_text() == "mine"
    with pytest.raises(NotFound):
        export(full.session, ["project:nowhere"], tmp_path / "x")
    assert [p for p in tmp_path.iterdir() if p.name.startswith(".pcpfs-export")] == []


HOSTILE = {
    "absolute": "/scopes/x",
    "parent": "../scopes/x",
    "inner parent": "scopes/a/../../../x",
    "backslash": "scopes\\..\\x",
    "drive": "c:/scopes/x",
    "device": "scopes/con/x",
    "device with ending": "scopes/a/NUL.json",
    "empty part": "scopes//x",
}


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


@pytest.mark.parametrize("kind", list(HOSTILE))
def test_a_tar_with_a_hostile_name_is_refused(other: Workplace, tmp_path: Path, kind: str) -> None:
    refused(other, tmp_path, _member(HOSTILE[kind]))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_a_tar_with_a_link_or_a_device_is_refused(
    other: Workplace, tmp_path: Path, kind: bytes
) -> None:
    for link in ("/etc/passwd", "pcpfs.toml"):
        refused(other, tmp_path, _member("scopes/a/tree/x", kind, link))


def refused(other: Workplace, tmp_path: Path, member: tarfile.TarInfo) -> None:
    file = tmp_path / "hostile.tar"
    with tarfile.open(file, "w") as tar:
        raw = (other.path / "pcpfs.toml").read_bytes()
        config = _member("pcpfs.toml")
        config.size = len(raw)
        tar.addfile(config, io.BytesIO(raw))
        tar.addfile(member, io.BytesIO(b""))
    before = contents(tmp_path)
    with pytest.raises(Corrupt, match="in the tar"):
        import_store(other.session, file)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("raw", [b"", b"no tar", b"\x1f\x8b\x08broken"])
def test_what_is_no_tar_is_told(other: Workplace, tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "x.tar").write_bytes(raw)
    with pytest.raises(PcpfsError):
        import_store(other.session, tmp_path / "x.tar")


@pytest.mark.parametrize(
    ("raw", "told"), [(b"format = 99\n", "format 99"), (b"a = " + b"[" * 50_000, "cannot be read")]
)
def test_a_store_of_another_format_is_refused(
    other: Workplace, tmp_path: Path, raw: bytes, told: str
) -> None:
    """Format §1: a reader that does not know the format refuses the store, and names it."""
    (tmp_path / "new").mkdir()
    (tmp_path / "new/pcpfs.toml").write_bytes(raw)
    with tarfile.open(tmp_path / "new.tar", "w") as tar:
        tar.add(tmp_path / "new/pcpfs.toml", "pcpfs.toml")
    for name in ("new", "new.tar"):
        with pytest.raises(Corrupt, match=told):
            import_store(other.session, tmp_path / name)


def test_a_cut_tar_is_told_and_takes_nothing(
    full: Workplace, other: Workplace, tmp_path: Path
) -> None:
    export(full.session, (), tmp_path / "e.tar")
    whole = (tmp_path / "e.tar").read_bytes()
    (tmp_path / "e.tar").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Corrupt):
        import_store(other.session, tmp_path / "e.tar")
    assert list(other.session.scopes()) == []


def test_a_link_in_a_folder_is_refused(full: Workplace, other: Workplace) -> None:
    (full.path / "scopes/project/a/payloads/link").symlink_to("/etc/passwd")
    with pytest.raises(Corrupt, match="link"):
        import_store(other.session, full.path)
