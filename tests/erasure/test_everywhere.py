"""An erased page is nowhere (PCP DeletePage), and the proof that says so can fail."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from pcpfs.git.raw import process_of
from pcpfs.model.receipts import Receipt
from pcpfs.store.erasure import erase_job, erasing, proof
from pcpfs.store.erasure.erase_job import STEPS
from pcpfs.store.erasure.erasing import Erasure, delete
from pcpfs.store.upkeeping.fsck import fsck
from tests.erasure.hideouts import AGAIN, OTHER, SECRET, TEXT, TITLE, Hideouts, furnished, holds
from tests.merge.clones import run
from tests.store.workplace import ANNA, Workplace

WORDS = (SECRET, TITLE, "4711-blue-heron-0815", "key.md", "1848-red-stork-1871", "put aside yest")


@pytest.fixture
def scene(place: Workplace) -> Hideouts:
    return furnished(place)


def erased(scene: Hideouts) -> Erasure:
    return delete(scene.place.store, ANNA, scene.leak, "it was not ours to keep", proven=True)


def test_an_erased_page_is_in_no_file_and_in_no_object_of_git(scene: Hideouts) -> None:
    assert len(holds(scene.place.path, *WORDS)) > 20
    found = erased(scene)
    assert found.proof is not None
    assert found.proof.traces == ()
    assert found.proof.ok
    assert holds(scene.place.path, *WORDS) == []
    assert holds(scene.linked, *WORDS) == []


def test_what_belongs_to_others_stays(scene: Hideouts) -> None:
    config = (scene.place.path / ".git/config").read_bytes()
    erased(scene)
    place = scene.place
    assert place.session.payload(scene.other) == OTHER.encode()
    assert (place.path / ".git/config").read_bytes() == config
    assert (place.path / ".git/hooks/pre-commit").exists()
    assert scene.git("status", "--porcelain") == ""
    assert scene.git("-C", str(scene.linked), "status", "--porcelain") == ""
    assert fsck(place.store).problems == ()
    assert scene.git("fsck", "--full", "--no-dangling") == ""
    assert scene.git("show", "HEAD~1:own.txt") == "mine\n"
    assert "thrown away" in scene.git("log", "-p", "--reflog", "--", "own.txt")


def test_the_stash_is_rewritten_and_not_dropped(scene: Hideouts) -> None:
    erased(scene)
    assert scene.git("stash", "list").count("\n") == 1
    scene.git("stash", "pop", "-q")
    assert (scene.place.path / "own.txt").read_text() == "put aside\n"
    assert not scene.place.tree_file("notes/key.md").exists()


def test_notes_and_tags_follow_their_commits(scene: Hideouts) -> None:
    tagged = scene.git("log", "-1", "--format=%s", "v1~1").strip()
    erased(scene)
    assert scene.git("log", "-1", "--format=%s", "v1~1").strip() == tagged
    assert scene.git("notes", "--ref=kept", "show", "v1^{commit}") == "looked at\n"
    assert scene.git("notes", "list") == ""
    assert scene.git("merge-base", "v1", "HEAD") == scene.git("rev-parse", "v1^{commit}")


def test_commits_before_the_page_keep_their_names_and_messages(scene: Hideouts) -> None:
    before = scene.git("rev-parse", "HEAD~4", "HEAD~5").split()
    subjects = scene.git("log", "--format=%s").splitlines()
    erased(scene)
    after = scene.git("log", "--format=%H").split()
    assert set(before) <= set(after)
    kept = [subject for subject in subjects if TITLE not in subject]
    assert [s for s in scene.git("log", "--format=%s").splitlines() if s in kept] == kept


def test_the_receipt_says_who_when_why_and_by_which_commits(scene: Hideouts) -> None:
    old = scene.git("rev-parse", "HEAD").strip()
    found = erased(scene)
    raw = (scene.place.path / found.pages[0].receipt).read_bytes()
    receipt = Receipt.decode(raw, "receipt")
    assert (receipt.by, receipt.why, receipt.revisions) == (ANNA, "it was not ours to keep", 2)
    assert receipt.commits[old] == scene.git("rev-parse", "HEAD~1").strip()
    assert scene.git("status", "--porcelain") == ""
    assert not any(word.encode() in raw for word in WORDS)


def test_a_reader_finds_nothing_and_a_relation_says_that_it_is_erased(scene: Hideouts) -> None:
    place = scene.place
    place.session.link(scene.other, "cites", scene.leak)
    found = erased(scene)
    assert [name.page_id for name in found.citing] == [scene.other]
    assert place.session.search("combination heron").results == ()
    (relation,) = place.session.relations(scene.other)
    assert relation.status == "erased"
    assert fsck(place.store).problems == ()


@pytest.fixture
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


LEAVES_NOTHING_HERE = {"lay_receipts", "commit_receipts", "forget_rows"}


@pytest.mark.parametrize("left_out", sorted(STEPS.keys() - LEAVES_NOTHING_HERE))
def test_the_proof_fails_where_any_step_was_left_out(
    scene: Hideouts, left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = erase_job.run
    monkeypatch.setattr(erasing, "run", lambda work: run(work, without=[left_out]))
    found = erased(scene)
    assert found.proof is not None
    assert not found.proof.ok, left_out
    assert found.proof.traces


HIDING_PLACES = {
    "a loose object": lambda s: process_of(s.place.store.git).run(
        "hash-object", "-w", "--stdin", stdin=AGAIN.encode()
    ),
    "a file of the work tree": lambda s: (s.place.path / "copy.txt").write_text(TEXT),
    "a backup beside the page": lambda s: (s.place.path / ".key.md.swp").write_bytes(
        b"\0b0VIM" + SECRET.encode()
    ),
    "a reflog": lambda s: (s.place.path / ".git/logs/HEAD").open("a").write(f"{TITLE}\n"),
    "the name of a branch": lambda s: s.git("branch", "notes/key.md"),
    "the configuration": lambda s: s.git("config", "pcpfs.note", SECRET),
    "a disposable file": lambda s: (s.place.path / ".pcpfs/left").write_text(SECRET),
    "a message": lambda s: s.git("commit", "-q", "--allow-empty", "-m", f"on {TITLE}"),
    "a tag": lambda s: s.git("tag", "-a", "v2", "-m", f"on {TITLE}"),
    "a local table": lambda s: s.place.store.local._db.execute(
        "INSERT INTO value VALUES ('x', ?)", (SECRET,)
    ),
}


@pytest.mark.parametrize("where", HIDING_PLACES)
def test_the_proof_finds_what_hides_anywhere(
    scene: Hideouts, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove = proof.prove

    def after_hiding(*given: object) -> proof.Proof:
        HIDING_PLACES[where](scene)
        return prove(*given)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(erasing, "prove", after_hiding)
    found = erased(scene)
    assert found.proof is not None
    assert not found.proof.ok, where


def test_a_title_of_two_letters_is_found_where_titles_are_kept(place: Workplace) -> None:
    page = place.write("# It\nnothing much is said here\n", title="QZ").page_id
    place.write("the letters QZ are fine in a text\n", title="Other")
    run(place.path, "commit", "-q", "--allow-empty", "-m", "write: QZ")
    found = delete(place.store, ANNA, page, "it was not ours to keep", proven=True)
    assert found.proof is not None
    assert found.proof.ok, found.proof.traces
    assert any("'QZ'" in said for said in found.proof.unproven)
    assert holds(place.path, '"title":"QZ"', "write: QZ") == []


def test_a_short_title_that_another_page_has_too_is_no_trace(place: Workplace) -> None:
    page = place.write("# It\nnothing much is said here\n", title="QZ").page_id
    kept = place.write("something else is said here\n", title="QZ", path="kept.md").page_id
    found = delete(place.store, ANNA, page, "it was not ours to keep", proven=True)
    assert found.proof is not None
    assert found.proof.ok, found.proof.traces
    assert place.session.manifest(kept).title == "QZ"
    assert "write: QZ" in run(place.path, "log", "--format=%s")
