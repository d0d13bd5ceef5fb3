"""Writing and revising pages (PCP WritePage, RevisePage, LinkPages, TombstonePage)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pcpfs.errors import Conflict, InvalidName, KeyReused, NotFound, PcpfsError, UsageError
from pcpfs.model.instants import Instant
from tests.store.workplace import Workplace, as_of, draft, truth


class TestWrite:
    def test_a_page_is_written_and_read(self, place: Workplace) -> None:
        written = place.write("# Compactness\n\ntext\n", tags=("topology",))
        assert (written.scope, written.created) == ("project:a", True)
        assert written.path == "scopes/project/a/tree/compactness.md"
        manifest = place.session.manifest(written.page_id)
        assert manifest.title == "Compactness"
        assert manifest.heads == (written.revision_id,)
        assert (manifest.kind, manifest.lifecycle_status) == ("page", "active")
        assert (str(manifest.created_by), manifest.owner_id) == ("user:anna", "user:anna")
        assert manifest.facets.tags == ("topology",)
        assert manifest.provenance[0].operation == "write"
        assert place.session.payload(written.page_id) == b"# Compactness\n\ntext\n"

    def test_the_first_write_creates_the_scope(self, place: Workplace) -> None:
        assert place.session.scopes() == ()
        place.write()
        (scope,) = place.session.scopes()
        assert (scope.scope, scope.kind, scope.pages) == ("project:a", "project", 1)

    def test_the_path_comes_from_the_option_else_the_title_else_the_text_else_the_id(
        self, place: Workplace
    ) -> None:
        assert place.write(path="notes/x.md").path.endswith("/tree/notes/x.md")
        assert place.write(title="A Title!").path.endswith("/tree/a-title.md")
        assert place.write("---\ntitle: Front\n---\n# Head\n").path.endswith("/tree/front.md")
        nameless = place.write("!!!")
        assert nameless.path.endswith(f"/tree/{nameless.page_id}.md")
        blob = place.write(b"\0\1", media_type="application/octet-stream")
        assert blob.path.endswith(f"/tree/{blob.page_id}.bin")

    @pytest.mark.parametrize(
        "title", ["con", "NUL", "com1", "aux", "Prn", "com¹", "..", "~", "4913"]
    )
    def test_no_title_keeps_a_page_from_being_written(self, place: Workplace, title: str) -> None:
        for written in (place.write(title=title), place.write(f"{title}\n")):
            assert place.tree()[written.path.rpartition("/tree/")[2]]

    def test_given_times_and_epistemic_answers_are_kept(self, place: Workplace) -> None:
        start, end = Instant.read("2020-01-01"), Instant.read("2021-01-01")
        written = place.write(
            valid_from=start,
            valid_to=end,
            observed_at=start,
            epistemic={"authority": "primary", "sensitivity": "low"},
            source_refs=("https://example.org/x",),
        )
        manifest = place.session.manifest(written.page_id)
        assert (manifest.valid_from, manifest.valid_to) == (start, end)
        assert manifest.observed_at == start
        assert manifest.epistemic == {"authority": "primary", "sensitivity": "low"}
        assert manifest.source_refs == ("https://example.org/x",)

    def test_a_derived_page_names_its_inputs(self, place: Workplace) -> None:
        source = place.write("source")
        derived = place.write("summary", derived_from=(source.revision_id,))
        manifest = place.session.manifest(derived.page_id)
        assert manifest.provenance[0].operation == "derive"
        assert manifest.provenance[0].inputs == (source.revision_id,)
        (relation,) = place.session.relations(derived.page_id, direction="out")
        assert (relation.relation.type, relation.relation.to_page) == (
            "derived_from",
            source.page_id,
        )

    @pytest.mark.parametrize(
        "given",
        [
            {"title": ""},
            {"title": " "},
            {"title": "a\nb"},
            {"title": "a\0"},
            {"title": "\x1b[31m"},
            {"title": "x" * 1001},
            {"title": "\udcff"},
            {"tags": ("ok", "")},
            {"tags": ("a\x07",)},
            {"source_refs": ("a\nb",)},
            {"media_type": "text"},
            {"media_type": "text/plain\n"},
            {"epistemic": {"trust": "high"}},
            {"valid_from": Instant(1), "valid_to": Instant(0)},
            {"derived_from": ("rev_" + "0" * 64,)},
            {"cites": ("fr_" + "0" * 26,)},
            {"path": "../x.md"},
            {"path": "/etc/passwd"},
            {"path": "..\\x.md"},
            {"path": "%2e%2e/x.md"},
            {"path": "a\0.md"},
            {"path": "con.md"},
            {"path": ".git/config"},
            {"path": ""},
            {"scope": "../x"},
            {"scope": "a:..:b"},
            {"scope": ""},
            {"scope": "a\0b"},
            {"scope": "%2e%2e"},
            {"scope": "/abs"},
            {"scope": "a" * 300},
            {"scope": "é" * 60},
            {"key": ""},
            {"key": "x" * 501},
        ],
        ids=repr,
    )
    def test_what_is_refused_leaves_nothing_behind(
        self, place: Workplace, given: dict[str, Any]
    ) -> None:
        kept = place.write("kept\n")
        files, commits = truth(place.path), place.commits()
        with pytest.raises((UsageError, NotFound)):
            place.write(**given)
        assert truth(place.path) == files
        assert place.commits() == commits
        assert place.session.payload(kept.page_id) == b"kept\n"
        assert place.reopened().write("after\n").created

    def test_a_file_and_a_folder_cannot_share_a_name(self, place: Workplace) -> None:
        place.write(path="notes/x.md")
        with pytest.raises(InvalidName, match=r"notes/x\.md is in the way"):
            place.write(path="Notes")
        place.write(path="plain")
        with pytest.raises(InvalidName, match="plain is in the way"):
            place.write(path="plain/x.md")


class TestKey:
    def test_a_retry_with_the_same_key_writes_once(self, place: Workplace) -> None:
        first = place.write("text", key="k")
        commits = place.commits()
        again = place.write("text", key="k")
        assert (again.page_id, again.revision_id) == (first.page_id, first.revision_id)
        assert (first.created, again.created) == (True, False)
        assert place.commits() == commits

    def test_a_retry_answers_the_first_revision_also_after_later_ones(
        self, place: Workplace
    ) -> None:
        first = place.write("one", key="k")
        place.revise(first.page_id, "two")
        again = place.write("one", key="k")
        assert again.revision_id == first.revision_id
        with pytest.raises(KeyReused):
            place.write("two", key="k")

    def test_the_same_key_with_other_bytes_is_refused(self, place: Workplace) -> None:
        first = place.write("one", key="k")
        with pytest.raises(KeyReused) as refused:
            place.write("two", key="k")
        assert refused.value.code == "key_reused"
        assert refused.value.fields["page_id"] == first.page_id
        with pytest.raises(KeyReused):
            place.write("one", key="k", media_type="text/plain")

    def test_a_retry_without_a_media_type_is_a_retry(self, place: Workplace) -> None:
        first = place.write("x", key="k", media_type=None)
        assert place.write("x", key="k", media_type=None).page_id == first.page_id

    def test_keys_belong_to_their_scope(self, place: Workplace) -> None:
        one = place.write("one", key="k")
        other = place.write("two", key="k", scope="project:b")
        assert one.page_id != other.page_id

    def test_a_key_names_the_same_page_in_every_store(
        self, place: Workplace, empty_store: Any, tmp_path: Any
    ) -> None:
        import shutil  # noqa: PLC0415

        shutil.copytree(empty_store, tmp_path / "other")
        other = Workplace.at(tmp_path / "other")
        assert other.write("x", key="k").page_id == place.write("y", key="k").page_id
        other.close()


class TestRevise:
    def test_a_revision_follows_what_the_writer_read(self, place: Workplace) -> None:
        first = place.write("one", title="T", tags=("t",))
        second = place.revise(first.page_id, "two", first.revision_id)
        assert second.page_id == first.page_id
        assert second.path == first.path
        manifest = place.session.manifest(first.page_id)
        assert manifest.heads == (second.revision_id,)
        assert (manifest.title, manifest.facets.tags) == ("T", ("t",))
        assert manifest.provenance[0].operation == "revise"
        assert place.session.payload(f"{first.page_id}@{first.revision_id}") == b"one"

    def test_what_is_given_replaces_what_is_inherited(self, place: Workplace) -> None:
        first = place.write("one", title="T", tags=("t",), epistemic={"authority": "x"})
        place.revise(first.page_id, "two", title="New", tags=())
        manifest = place.session.manifest(first.page_id)
        assert (manifest.title, manifest.facets.tags) == ("New", ())
        assert manifest.epistemic == {"authority": "x"}
        assert manifest.path == "scopes/project/a/tree/t.md"

    def test_an_expectation_that_is_no_head_is_a_conflict_that_names_the_heads(
        self, place: Workplace
    ) -> None:
        first = place.write("one")
        second = place.revise(first.page_id, "two")
        with pytest.raises(Conflict) as refused:  # PCP-R3
            place.revise(first.page_id, "three", first.revision_id)
        assert refused.value.fields["heads"] == [second.revision_id]
        assert second.revision_id in refused.value.message
        assert place.session.payload(first.page_id) == b"two"

    def test_a_branch_from_an_older_revision_makes_a_second_head(self, place: Workplace) -> None:
        first = place.write("one")
        second = place.revise(first.page_id, "two")
        third = place.revise(first.page_id, "three", branch=first.revision_id)
        manifest = place.session.manifest(first.page_id)
        assert manifest.heads == (third.revision_id, second.revision_id)
        assert manifest.revision_id == third.revision_id
        (conflict,) = place.session.conflicts()
        assert set(conflict.heads) == set(manifest.heads)
        with pytest.raises(Conflict) as refused:
            place.revise(first.page_id, "four", first.revision_id)
        assert set(refused.value.fields["heads"]) == set(manifest.heads)

    def test_a_revision_with_both_heads_as_parents_resolves(self, place: Workplace) -> None:
        first = place.write("one")
        second = place.revise(first.page_id, "two")
        third = place.revise(first.page_id, "three", branch=first.revision_id)
        merged = place.revise(first.page_id, "merged", second.revision_id, third.revision_id)
        assert place.session.manifest(first.page_id).heads == (merged.revision_id,)
        assert place.session.conflicts() == ()

    def test_a_revision_on_one_of_two_heads_leaves_the_other(self, place: Workplace) -> None:
        first = place.write("one")
        second = place.revise(first.page_id, "two")
        third = place.revise(first.page_id, "three", branch=first.revision_id)
        fourth = place.revise(first.page_id, "four", second.revision_id)
        heads = place.session.manifest(first.page_id).heads
        assert set(heads) == {third.revision_id, fourth.revision_id}

    def test_heads_that_say_the_same_are_one_and_are_all_parents_of_what_follows(
        self, place: Workplace
    ) -> None:
        first = place.write("one")
        twins = {
            place.revise(first.page_id, "same", branch=first.revision_id).revision_id
            for _ in range(2)
        }
        assert len(twins) == 2
        (head,) = place.session.manifest(first.page_id).heads
        assert place.session.conflicts() == ()
        place.revise(first.page_id, "next", head)
        assert set(place.session.log(first.page_id)[0].parents) == twins

    def test_the_same_words_again_are_no_revision(self, place: Workplace) -> None:
        first = place.write("one", title="T")
        commits = place.commits()
        same = place.revise(first.page_id, "one")
        assert (same.created, same.revision_id) == (False, first.revision_id)
        assert place.commits() == commits
        assert place.revise(first.page_id, "one", title="U").created

    def test_a_revision_needs_to_say_what_it_follows(self, place: Workplace) -> None:
        first = place.write("one")
        with pytest.raises(UsageError, match="--expect"):
            place.session.revise(first.page_id, draft("two"))

    def test_another_pages_revision_is_not_found(self, place: Workplace) -> None:
        first, other = place.write("one"), place.write("two")
        with pytest.raises(NotFound):
            place.revise(first.page_id, "three", other.revision_id)
        with pytest.raises(NotFound):
            place.revise(first.page_id, "three", branch=other.revision_id)

    def test_a_published_revision_is_never_changed(self, place: Workplace) -> None:
        first = place.write("one")
        before = truth(place.path)
        place.revise(first.page_id, "two")  # PCP-R1
        after = truth(place.path)
        assert {name: after[name] for name in before} == before


class TestLifecycle:
    def test_a_tombstone_hides_a_page_and_a_restore_brings_it_back(self, place: Workplace) -> None:
        page = place.write("apple").page_id
        place.session.tombstone(page, "wrong")
        assert place.session.search("apple").results == ()
        assert place.session.manifest(page).lifecycle_status == "tombstoned"
        assert place.session.payload(page) == b"apple"
        with pytest.raises(Conflict, match="restore"):
            place.revise(page, "new", place.session.manifest(page).revision_id)
        place.session.restore(page, "right after all")
        assert place.session.manifest(page).lifecycle_status == "active"
        assert len(place.session.search("apple").results) == 1

    def test_an_archived_page_is_readable_but_not_found(self, place: Workplace) -> None:
        page = place.write("apple").page_id
        place.session.archive(page, "done")
        assert place.session.search("apple").results == ()
        assert place.session.payload(page) == b"apple"
        assert place.revise(page, "still revised").created

    def test_an_older_revision_reads_as_superseded(self, place: Workplace) -> None:
        first = place.write("one")
        place.revise(first.page_id, "two")
        old = place.session.manifest(f"{first.page_id}@{first.revision_id}")
        assert old.lifecycle_status == "superseded"  # PCP-T2

    def test_the_same_state_again_changes_nothing(self, place: Workplace) -> None:
        page = place.write("one").page_id
        place.session.archive(page, "done")
        commits = place.commits()
        assert not place.session.archive(page, "done").created
        assert place.commits() == commits

    def test_every_change_of_state_says_why(self, place: Workplace) -> None:
        page = place.write("one").page_id
        for why in ("", " \n"):
            with pytest.raises(UsageError):
                place.session.tombstone(page, why)
        assert place.session.manifest(page).lifecycle_status == "active"

    @pytest.mark.parametrize("why", ["bad\udcff", "nul\0", "bell\x07"])
    def test_a_reason_that_cannot_be_shown_is_refused(self, place: Workplace, why: str) -> None:
        page = place.write("one").page_id
        with pytest.raises(UsageError):
            place.session.tombstone(page, why)


class TestLink:
    def test_a_relation_keeps_both_ends_author_and_time(self, place: Workplace) -> None:
        one, other = place.write("one"), place.write("other", scope="project:b")
        made = place.session.link(one.page_id, "supports", other.page_id)
        assert made.relation.from_revision == one.revision_id
        assert made.relation.to_revision == other.revision_id
        assert str(made.relation.created_by) == "user:anna"
        (out,) = place.session.relations(one.page_id)
        (into,) = place.session.relations(other.page_id)
        assert (out.direction, into.direction) == ("out", "in")
        assert (out.title, into.title) == ("other", "one")
        assert out.relation == into.relation == made.relation

    def test_a_relation_may_name_older_revisions(self, place: Workplace) -> None:
        one, other = place.write("one"), place.write("other")
        place.revise(other.page_id, "newer")
        made = place.session.link(one.revision_id, "contradicts", other.revision_id)
        assert made.relation.to_revision == other.revision_id

    def test_the_type_of_a_relation_is_open_but_readable(self, place: Workplace) -> None:
        one, other = place.write("one"), place.write("other")
        assert (
            place.session.link(one.page_id, "x:is_like", other.page_id).relation.type == "x:is_like"
        )
        for wrong in ("", "Has", "a b", "a\n", "é", "x" * 65):
            with pytest.raises(InvalidName):
                place.session.link(one.page_id, wrong, other.page_id)

    def test_an_end_that_is_not_there_is_not_found(self, place: Workplace) -> None:
        one = place.write("one")
        for target in ("pg_" + "0" * 26, "nothing", f"{one.page_id}#fr_" + "0" * 26):
            with pytest.raises(NotFound):
                place.session.link(one.page_id, "supports", target)

    def test_a_relation_says_whether_its_far_end_still_holds(self, place: Workplace) -> None:
        one, other = place.write("one"), place.write("other")
        place.session.link(one.page_id, "supports", other.page_id)
        place.session.tombstone(other.page_id, "wrong")
        (relation,) = place.session.relations(one.page_id)
        assert relation.status == "tombstoned"


class TestTime:
    def test_a_revision_holds_until_its_child(self, place: Workplace) -> None:
        first = place.write("one")
        between = place.clock.now()
        place.revise(first.page_id, "two")
        assert place.session.payload(first.page_id, as_of(between)) == b"one"
        assert place.session.payload(first.page_id) == b"two"
        newest, oldest = place.session.log(first.page_id)
        assert oldest.valid_to == newest.valid_from
        assert newest.valid_to is None

    def test_the_moment_of_the_change_belongs_to_the_new(self, place: Workplace) -> None:
        first = place.write("one")
        second = place.revise(first.page_id, "two")
        edge = place.session.manifest(second.page_id).valid_from
        assert edge is not None
        assert place.session.payload(first.page_id, as_of(edge)) == b"two"
        just_before = as_of(Instant(edge.microseconds - 1))
        assert place.session.payload(first.page_id, just_before) == b"one"

    def test_before_a_page_was_there_it_is_not_found(self, place: Workplace) -> None:
        before = place.clock.now()
        page = place.write("one").page_id
        with pytest.raises(NotFound):
            place.session.payload(page, as_of(before))

    def test_a_given_start_is_when_it_holds_whatever_the_recording(self, place: Workplace) -> None:
        page = place.write("one", valid_from=Instant.read("2020-01-01")).page_id
        assert place.session.payload(page, as_of("2020-06-01")) == b"one"
        with pytest.raises(NotFound):
            place.session.payload(page, as_of("2019-12-31T23:59:59Z"))

    def test_a_given_end_is_honoured_only_under_a_pin(self, place: Workplace) -> None:
        end = Instant.read("2021-01-01")
        page = place.write("one", valid_from=Instant.read("2020-01-01"), valid_to=end).page_id
        assert place.session.payload(page) == b"one"
        with pytest.raises(NotFound):
            place.session.payload(page, as_of(end))


def test_ids_have_the_shape_that_the_design_names(place: Workplace) -> None:
    written = place.write()
    assert re.fullmatch(r"pg_[0-9a-hjkmnp-tv-z]{26}", written.page_id)
    assert re.fullmatch(r"rev_[0-9a-f]{64}", written.revision_id)


def test_equal_texts_have_other_ids_each_time(place: Workplace) -> None:
    one, other = place.write("secret"), place.write("secret")
    assert one.page_id != other.page_id
    assert one.revision_id != other.revision_id


def test_every_error_has_a_stable_code_and_a_message_for_people(place: Workplace) -> None:
    with pytest.raises(PcpfsError) as error:
        place.session.manifest("nothing-here")
    assert error.value.code == "not_found"
    assert "pcpfs" in error.value.message
