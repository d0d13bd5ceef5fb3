"""Reading: what a person types, projections, logs, differences, and looking back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound, PcpfsError, UsageError
from pcpfs.model.answers import Pins, plain
from pcpfs.model.instants import Instant
from tests.store.workplace import Workplace, as_of, draft, recorded

FAST = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class TestResolve:
    def test_a_page_is_named_by_id_prefix_path_and_revision(self, place: Workplace) -> None:
        written = place.write(path="notes/x.md")
        page, revision = written.page_id, written.revision_id
        resolve = place.session.resolve
        for name in (
            page,
            page[:-1],
            "notes/x.md",
            "scopes/project/a/tree/notes/x.md",
        ):
            assert resolve(name).page == page
            assert resolve(name).revision is None
        for name in (revision, revision[:12], revision[4:], revision[4:12]):
            assert (resolve(name).page, resolve(name).revision) == (page, revision)
        for name in (f"{page}@{revision}", f"{page}@{revision[4:12]}"):
            assert resolve(name).revision == revision

    def test_the_path_that_a_write_answers_is_a_name(self, place: Workplace) -> None:
        one, other = place.write("one", path="x.md"), place.write("other", path="x.md")
        assert place.session.resolve(str(one.path)).page == one.page_id
        assert place.session.resolve(str(other.path)).page == other.page_id

    def test_a_prefix_that_several_share_is_refused_with_the_candidates(
        self, place: Workplace
    ) -> None:
        pages = [place.write(str(n)).page_id for n in range(3)]
        with pytest.raises(UsageError, match="more characters") as refused:
            place.session.resolve(pages[0][:9])
        assert refused.value.fields["candidates"] == pages

    def test_a_path_that_several_have_is_refused_with_the_candidates(
        self, place: Workplace
    ) -> None:
        pages = [place.write(path="x.md", scope=s).page_id for s in ("project:a", "project:b")]
        with pytest.raises(UsageError, match="give an id") as refused:
            place.session.resolve("x.md")
        assert refused.value.fields["candidates"] == pages
        assert place.session.resolve("scopes/project/b/tree/x.md").page == pages[1]

    def test_of_pages_with_one_path_the_one_that_is_not_withdrawn_is_meant(
        self, place: Workplace
    ) -> None:
        old = place.write("old\n", path="x.md").page_id
        before = place.clock.time
        new = place.session.move(old, "project:b").page_id
        for called in ("x.md", "scopes/project/b/tree/x.md"):
            assert place.session.resolve(called).page == new
        assert place.session.resolve("x.md", Pins(recorded_as_of=before)).page == old
        assert place.session.resolve("x.md", Pins(as_of=before)).page == new  # it held as well
        place.session.delete("x.md", "wrong")
        assert place.session.resolve("x.md").page == old
        assert place.session.restore("x.md", "back").page_id == old

    def test_looking_back_a_path_means_the_page_that_held(self, place: Workplace) -> None:
        old = place.write("old\n", path="x.md").page_id
        before = place.clock.time
        place.session.tombstone(old, "over")
        new = place.write("new\n", path="x.md").page_id
        assert place.session.payload("x.md") == b"new\n"
        assert place.session.payload("x.md", Pins(as_of=before)) == b"old\n"
        place.session.tombstone(new, "over too")
        with pytest.raises(UsageError, match="path of 2 pages"):
            place.session.resolve("x.md")

    def test_of_two_pages_of_one_title_each_is_called_as_its_file(self, place: Workplace) -> None:
        first, second = (place.session.write("project:a", draft(f"# Note\n\n{n}\n")) for n in "12")
        assert place.session.conflicts() == ()
        assert place.session.resolve("note.md").page == first.page_id
        assert second.path == f"scopes/project/a/tree/note~{second.page_id[-6:]}.md"
        for called in (str(second.path), f"note~{second.page_id[-6:]}.md"):
            assert place.session.resolve(called).page == second.page_id

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "x",
            "x.md/",
            "../x.md",
            "pg_" + "0" * 26,
            "rev_" + "0" * 64,
            "fr_" + "0" * 26,
            "00000000",
            "a" * 100_000,
            "%",
            "%.md",
            "_.md",
            "x_md",
            "X.MD",
            "\0",
            "' OR 1=1 --",
            "\udcff",
            "pg_%%%%%%%%%",
            "@",
            "🙂",
        ],
    )
    def test_what_is_not_there_is_not_found(self, place: Workplace, name: str) -> None:
        place.write(path="x.md")
        with pytest.raises(NotFound):
            place.session.resolve(name)

    @pytest.mark.parametrize("name", ["pg_", "pg_01", "rev_abc", "fr_"])
    def test_what_is_too_short_is_refused(self, place: Workplace, name: str) -> None:
        place.write()
        with pytest.raises(UsageError):
            place.session.resolve(name)

    @pytest.mark.parametrize("revision", ["%%%%%%%%", "________", "", "0", "0000000", "' OR 1=1"])
    def test_a_revision_of_a_page_is_named_exactly(self, place: Workplace, revision: str) -> None:
        page = place.write().page_id
        with pytest.raises(PcpfsError):
            place.session.resolve(f"{page}@{revision}")

    @FAST
    @given(name=st.text(max_size=40))
    def test_nothing_that_is_typed_makes_it_stumble(self, place: Workplace, name: str) -> None:
        if not place.session.scopes():
            place.write(path="x.md")
        with pytest.raises(PcpfsError):
            place.session.resolve(name)


class TestLog:
    def test_a_log_is_newest_first_with_everybodys_part(self, place: Workplace) -> None:
        first = place.write("one", title="Old")
        second = place.revise(first.page_id, "two", title="New")
        newest, oldest = place.session.log(first.page_id)
        assert (newest.revision_id, oldest.revision_id) == (second.revision_id, first.revision_id)
        assert newest.parents == (first.revision_id,)
        assert (newest.operation, oldest.operation) == ("revise", "write")
        assert (newest.title, oldest.title) == ("New", "Old")
        assert (newest.size, str(newest.created_by)) == (3, "user:anna")
        assert oldest.created_at < newest.created_at

    def test_a_log_of_branches_shows_all_of_them(self, place: Workplace) -> None:
        first = place.write("one")
        place.revise(first.page_id, "two")
        place.revise(first.page_id, "three", branch=first.revision_id)
        entries = place.session.log(first.page_id)
        assert [entry.parents for entry in entries] == [
            (first.revision_id,),
            (first.revision_id,),
            (),
        ]


class TestDiff:
    def test_by_default_it_is_the_last_step(self, place: Workplace) -> None:
        first = place.write("a\nb\nc\n", path="x.md")
        second = place.revise(first.page_id, "a\nB\nc\n")
        diff = place.session.diff(first.page_id)
        assert (diff.before, diff.after) == (first.revision_id, second.revision_id)
        assert "-b\n+B\n" in diff.text
        assert diff.text.startswith("--- a/x.md\n+++ b/x.md\n")
        assert not diff.binary
        assert diff.symbols is None

    def test_any_two_revisions_can_be_compared(self, place: Workplace) -> None:
        first = place.write("one\n")
        place.revise(first.page_id, "two\n")
        third = place.revise(first.page_id, "three\n")
        diff = place.session.diff(first.page_id, first.revision_id, third.revision_id[4:12])
        assert (diff.before, diff.after) == (first.revision_id, third.revision_id)
        assert "-one\n+three\n" in diff.text

    def test_a_first_revision_is_all_new(self, place: Workplace) -> None:
        page = place.write("one\n").page_id
        diff = place.session.diff(page)
        assert diff.before is None
        assert "+one\n" in diff.text

    def test_a_missing_last_line_feed_shows(self, place: Workplace) -> None:
        page = place.write("one").page_id
        place.revise(page, "one\n")
        assert "\\ No newline at end of file" in place.session.diff(page).text

    def test_line_ends_show_and_do_not_split_lines(self, place: Workplace) -> None:
        page = place.write(b"a\r\nb\x0bc\x85d\n").page_id
        place.revise(page, b"a\nb\x0bc\x85d\n")
        text = place.session.diff(page).text
        assert "-a\r\n" in text
        assert "+a\n" in text

    def test_what_is_not_text_is_not_shown(self, place: Workplace) -> None:
        page = place.write(b"a\0b").page_id
        place.revise(page, b"a\0c")
        diff = place.session.diff(page)
        assert (diff.binary, diff.text) == (True, "")

    def test_another_pages_revision_cannot_be_compared(self, place: Workplace) -> None:
        one, other = place.write("one"), place.write("other")
        with pytest.raises(NotFound) as refused:
            place.session.diff(one.page_id, other.revision_id, one.revision_id)
        assert "fsck" not in refused.value.message


class TestRecorded:
    """`recorded_as_of`: what this store knew then, whatever was true."""

    def test_a_later_revision_is_not_known_yet(self, place: Workplace) -> None:
        first = place.write("one apple\n", title="Old")
        then = place.clock.now()
        place.revise(first.page_id, "two pears\n", title="New")
        place.session.archive(first.page_id, "done")
        pins = recorded(then)
        assert place.session.payload(first.page_id, pins) == b"one apple\n"
        manifest = place.session.manifest(first.page_id, pins)
        assert (manifest.title, manifest.heads) == ("Old", (first.revision_id,))
        assert (manifest.valid_to, manifest.lifecycle_status) == (None, "active")
        assert manifest.recorded_as_of == then
        assert len(place.session.log(first.page_id, pins)) == 1
        assert len(place.session.search("apple", pins=pins).results) == 1
        assert place.session.search("pears", pins=pins).results == ()
        assert place.session.search("apple").results == ()

    def test_what_came_later_is_not_there(self, place: Workplace) -> None:
        place.write("one\n")
        then = place.clock.now()
        page = place.write("two\n", scope="project:b").page_id
        other = place.write("three\n").page_id
        for name in (page, other, "two.md"):
            with pytest.raises(NotFound):
                place.session.manifest(name, recorded(then))
        assert place.session.search("two", pins=recorded(then)).scopes == ("project:a",)

    def test_before_anything_everything_is_empty(self, place: Workplace) -> None:
        page = place.write("apple\n").page_id
        pins = recorded("2000-01-01")
        assert place.session.search("apple", pins=pins).results == ()
        assert place.session.symbol("apple", pins=pins).results == ()
        with pytest.raises(NotFound):
            place.session.manifest(page, pins)

    def test_the_moment_of_the_change_knows_it(self, place: Workplace) -> None:
        page = place.write("one\n").page_id
        edge = place.session.log(page)[0].created_at
        assert place.session.payload(page, recorded(edge)) == b"one\n"
        with pytest.raises(NotFound):
            place.session.payload(page, recorded(Instant(edge.microseconds - 1)))

    def test_a_relation_that_came_later_is_not_shown(self, place: Workplace) -> None:
        one, other = place.write("one"), place.write("other")
        then = place.clock.now()
        place.session.link(one.page_id, "supports", other.page_id)
        assert place.session.relations(one.page_id, recorded(then)) == ()
        assert len(place.session.relations(one.page_id)) == 1

    def test_both_pins_are_independent(self, place: Workplace) -> None:
        old = Instant.read("2020-01-01")
        first = place.write("old belief\n", valid_from=old)
        then = place.clock.now()
        place.revise(first.page_id, "new belief\n", valid_from=Instant.read("2021-01-01"))
        early, late = Instant.read("2020-06-01"), Instant.read("2022-01-01")
        payload = place.session.payload
        assert payload(first.page_id, as_of(early)) == b"old belief\n"
        assert payload(first.page_id, as_of(late)) == b"new belief\n"
        assert payload(first.page_id, Pins(late, then)) == b"old belief\n"

    def test_several_pins_in_turn_do_not_disturb_each_other(self, place: Workplace) -> None:
        page = place.write("0\n").page_id
        moments = []
        for number in range(1, 4):
            moments.append(place.clock.now())
            place.revise(page, f"{number}\n")
        for _ in range(2):
            for number, moment in enumerate(moments):
                assert place.session.payload(page, recorded(moment)) == f"{number}\n".encode()
        assert place.session.payload(page) == b"3\n"


def test_every_answer_can_be_printed(place: Workplace) -> None:
    page = place.write("text\n", tags=("é",)).page_id
    place.revise(page, "other\n")
    session = place.session
    for answer in (
        session.manifest(page),
        session.log(page),
        session.diff(page),
        session.search("other"),
        session.scopes(),
        session.capabilities(),
        session.index_state(),
    ):
        assert plain(answer)


def test_capabilities_declare_what_there_is(place: Workplace) -> None:
    found = place.session.capabilities()
    assert set(found["projections"]) == {  # type: ignore[call-overload]
        "manifest",
        "payload",
        "source_spans",
        "relations",
        "facets",
        "history",
    }
    assert found["conflict_detection"] is True
    assert found["durable_deletion"] is True
