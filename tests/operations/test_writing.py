"""What a write can say: facets, relations, the five questions, payloads elsewhere or binary."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.errors import Conflict, InvalidName, KeyReused, Unavailable, UsageError
from pcpfs.model.ids import Digest
from pcpfs.model.pages import EPISTEMIC, ContentRef, Principal
from pcpfs.model.requests import Draft, Filters
from pcpfs.store.elsewhere import looked_up
from pcpfs.store.session import Session
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace


def reference(content: bytes, uri: str = "https://example.org/a.pdf") -> ContentRef:
    return ContentRef(uri, Digest.of(content), len(content), "application/pdf")


def test_the_five_questions_are_answered_apart(place: Workplace) -> None:
    """PCP-S6: settable, filterable, apart."""
    for name in EPISTEMIC:
        place.write(f"tide {name}", title=name, epistemic={name: "yes"})
    for name in EPISTEMIC:
        found = place.session.search("tide", filters=Filters(epistemic=((name, "yes"),)))
        assert [hit.title for hit in found.results] == [name]
        assert place.session.manifest(found.results[0].page_id).epistemic == {name: "yes"}
    with pytest.raises(UsageError, match="none of authority"):
        place.write("x", epistemic={"trust": "yes"})


def test_facets_are_kept_inherited_and_no_evidence(place: Workplace) -> None:
    """PCP-P5"""
    page = place.write("text", summary="short", keywords=("k1",), anchors=("a",)).page_id
    place.revise(page, "other text")
    facets = place.session.facets(page)
    assert (facets.summary, facets.keywords, facets.anchors) == ("short", ("k1",), ("a",))
    assert place.session.payload(page) == b"other text"
    assert [h.page_id for h in place.session.search("k1 short").results] == [page]


def test_initial_relations_come_with_the_page(place: Workplace) -> None:
    target = place.write("target").page_id
    page = place.write("x", relations=(("supports", target), ("our_type", target)))
    found = place.session.relations(page.page_id, direction="out")
    assert {(r.relation.type, r.relation.from_revision) for r in found} == {
        ("supports", page.revision_id),
        ("our_type", page.revision_id),
    }
    with pytest.raises(InvalidName):
        place.write("x", relations=(("no type", target),))


def test_a_payload_may_lie_elsewhere(place: Workplace) -> None:
    """PCP-P2"""
    draft = Draft(title="Scan of the chart", content_ref=reference(b"pdf"))
    page = place.session.write("project:a", draft).page_id
    manifest = place.session.manifest(page)
    assert manifest.payload is None
    assert manifest.content_ref == reference(b"pdf")
    assert place.tree() == {}
    assert [h.digest for h in place.session.search("chart").results] == [Digest.of(b"pdf")]
    with pytest.raises(Unavailable, match="elsewhere"):
        place.session.payload(page)
    place.store.reindex()
    assert place.session.manifest(page) == manifest
    assert fsck(place.store).problems == ()


def test_a_payload_elsewhere_is_checked_when_it_can_be_read(
    place: Workplace, tmp_path: Path
) -> None:
    file = tmp_path / "scan 1.pdf"
    file.write_bytes(b"pdf")
    found = looked_up(file.as_uri(), None, None, "application/pdf", place.store.disk)
    page = place.session.write("project:a", Draft(title="Scan", content_ref=found)).page_id
    assert place.session.payload(page) == b"pdf"
    file.write_bytes(b"PDF")
    with pytest.raises(Conflict, match="other bytes"):
        place.session.payload(page)
    file.unlink()
    with pytest.raises(Unavailable, match="not there now"):
        place.session.payload(page)
    for digest, size in ((None, None), (Digest.of(b"x"), None), (None, 4)):
        with pytest.raises(UsageError):
            looked_up(file.as_uri(), digest, size, "text/plain", place.store.disk)
    file.write_bytes(b"pdf")
    with pytest.raises(Conflict, match="not what you say"):
        looked_up(file.as_uri(), Digest.of(b"x"), 3, "text/plain", place.store.disk)


def test_only_the_owner_reads_files_of_this_machine_through_a_page(
    place: Workplace, tmp_path: Path
) -> None:
    """A page is data from anybody: another principal learns nothing of the owner's disk."""
    file = tmp_path / "secret"
    file.write_bytes(b"secret")
    page = place.session.write(
        "project:a", Draft(title="S", content_ref=reference(b"secret", file.as_uri()))
    )
    model = Session(place.store, Principal("model:local"))
    answers = []
    for content in (b"secret", b"other!", None):
        file.unlink() if content is None else file.write_bytes(content)
        with pytest.raises(Unavailable) as caught:
            model.payload(page.page_id)
        answers.append(caught.value.message)
    assert len(set(answers)) == 1
    model.close()


def test_a_page_of_source_refs_alone(place: Workplace) -> None:
    """PCP-P1"""
    draft = Draft(title="Only a pointer", source_refs=("doi:10.1/x",))
    page = place.session.write("project:a", draft, key="k").page_id
    assert place.session.manifest(page).source_refs == ("doi:10.1/x",)
    assert not place.session.write("project:a", draft, key="k").created
    with pytest.raises(KeyReused):
        place.session.write("project:a", Draft(source_refs=("doi:10.1/y",)), key="k")
    with pytest.raises(InvalidName, match="PCP-P1"):
        place.session.write("project:a", Draft(title="nothing"))


def test_a_reference_is_revised_to_bytes_and_back(place: Workplace) -> None:
    page = place.session.write("project:a", Draft(title="S", content_ref=reference(b"1"))).page_id
    head = place.session.manifest(page).revision_id
    there = place.session.revise(page, Draft(b"here now"), expect=[head])
    assert place.session.payload(page) == b"here now"
    again = Draft(content_ref=reference(b"2"))
    moved = place.session.revise(page, again, expect=[there.revision_id])
    assert not place.session.revise(page, again, expect=[moved.revision_id]).created
    assert place.session.manifest(page).content_ref is not None
    assert fsck(place.store).problems == ()


@pytest.mark.parametrize("uri", ["", "a.pdf", "/etc/passwd", "https://x y", "HTTPS://x", "x:\n"])
def test_a_reference_is_a_uri(uri: str) -> None:
    with pytest.raises(InvalidName):
        reference(b"x", uri)


@pytest.mark.parametrize("raw", [b"", b"\0", bytes(range(256)), b"\xff\xfeh\0", b"a\r\nb"])
def test_binary_payloads_come_back_as_they_were(place: Workplace, raw: bytes) -> None:
    page = place.write(raw, media_type="application/octet-stream", title="Bytes").page_id
    assert place.session.payload(page) == raw
    assert [h.page_id for h in place.session.search("bytes").results] == [page]
    (fragment,) = place.session.bundle([page]).fragments
    assert fragment.of == len(raw)
