"""Search over authored pages: words, scopes, pages of answers, and never a hit from elsewhere."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import SearchAnswer
from pcpfs.store.searches.search_request import NOW, Filters
from tests.store.workplace import Workplace

MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SECRET = "xylophone"


def titles(answer: SearchAnswer) -> list[str]:
    return [hit.title for hit in answer.results]


def test_a_hit_says_where_why_and_what(place: Workplace) -> None:
    written = place.write("# Fruit\n\nAn apple a day.\n", tags=("food",))
    (hit,) = place.session.search("apple").results
    assert (hit.page_id, hit.revision_id) == (written.page_id, written.revision_id)
    assert (hit.scope, hit.kind, hit.title) == ("project:a", "page", "Fruit")
    assert "apple" in hit.excerpt
    assert "apple" in hit.why
    assert hit.channel == "text"
    assert hit.lines is not None
    assert "payload" in hit.projections
    assert hit.facets.tags == ("food",)
    assert (hit.frame_id, hit.suspect) == (None, None)


def test_an_answer_says_which_policy_and_scopes_it_covers(place: Workplace) -> None:
    place.write("apple")
    place.write("apple", scope="project:b")
    everywhere = place.session.search("apple")
    assert (everywhere.policy, everywhere.scopes) == ("global", ("project:a", "project:b"))
    strict = place.session.search("apple", scopes=["project:b"])
    assert (strict.policy, strict.scopes) == ("strict", ("project:b",))
    assert {hit.scope for hit in strict.results} == {"project:b"}


def test_a_scope_that_is_not_there_is_not_found_and_a_policy_needs_one(place: Workplace) -> None:
    place.write("apple")
    with pytest.raises(NotFound):
        place.session.search("apple", scopes=["project:nowhere"])
    with pytest.raises(UsageError):
        place.session.search("apple", policy="strict")
    with pytest.raises(UsageError):
        place.session.search("apple", policy="everything")
    with pytest.raises(UsageError):
        place.session.search("apple", scopes=["project:a"], policy="global")


def test_a_scope_may_be_given_as_people_spell_it(place: Workplace) -> None:
    place.write("apple", scope="Projekt:Äpfel")
    assert len(place.session.search("apple", scopes=["Projekt:Äpfel"]).results) == 1


@pytest.fixture
def two_scopes(place: Workplace) -> Workplace:
    """A scope that is searched and one with a secret, flushed and pending."""
    place.write("common words here", title="open")
    place.write(f"common {SECRET}", title="hidden", scope="project:b", tags=("secret",))
    place.session.flush_indexes()
    place.write(f"pending {SECRET}", title="hidden too", scope="project:b")
    place.write("pending words", title="open too")
    return place


@MANY
@example(text=f"{SECRET} OR scope:project:b")
@example(text="*")
@example(text="scope:*")
@example(text='"common xylophone"')
@example(text="xylo* common~")
@example(text="' OR 1=1 --")
@given(
    text=st.lists(
        st.sampled_from(
            [SECRET, "common", "pending", "xylo*", '"common', '"', "*", "~", ":", "OR", "NOT", "-",
             "scope:project:b", "(", ")", "^2", "hidden", "secret", "[a TO z]", "\\", "%", "_"]
        )
        | st.text(max_size=8),
        max_size=6,
    ).map(" ".join)
)  # fmt: skip
def test_no_query_finds_anything_outside_the_scopes_given(two_scopes: Workplace, text: str) -> None:
    answer = two_scopes.session.search(text, scopes=["project:a"], limit=50)
    assert {hit.scope for hit in answer.results} <= {"project:a"}
    assert "hidden" not in str(titles(answer))
    symbols = two_scopes.session.symbol(text, scopes=["project:a"])
    assert {hit.scope for hit in symbols.results} <= {"project:a"}


def test_what_is_elsewhere_does_not_even_move_a_score(place: Workplace) -> None:
    place.write("apple pie", title="one")
    place.write("apple tart with apple", title="two")
    before = place.session.search("apple tart", scopes=["project:a"])
    for number in range(5):
        place.write("apple tart " * 9, title=str(number), scope="project:b")
    place.session.flush_indexes()
    after = place.session.search("apple tart", scopes=["project:a"])
    assert [(h.title, h.score) for h in after.results] == [
        (h.title, h.score) for h in before.results
    ]


def test_pending_flushed_and_rebuilt_indexes_answer_alike(place: Workplace) -> None:
    for number in range(30):
        place.write(f"{'apple ' * (number % 5)}pear {number}\n", title=f"page {number}")
    page = place.write("apple apple old").page_id
    place.revise(page, "apple new")
    pending = place.session.search("apple pear", limit=50)
    place.session.flush_indexes()
    flushed = place.session.search("apple pear", limit=50)
    place.store.reindex()
    rebuilt = place.session.search("apple pear", limit=50)
    assert pending == flushed == rebuilt
    assert len(pending.results) == 31


def test_only_heads_of_active_pages_are_found(place: Workplace) -> None:
    page = place.write("apple", path="x.md").page_id
    place.revise(page, "pear")
    assert place.session.search("apple").results == ()
    assert len(place.session.search("pear").results) == 1
    place.session.flush_indexes()
    place.revise(page, "plum")
    assert place.session.search("pear").results == ()
    place.session.archive(page, "done")
    place.session.flush_indexes()
    assert place.session.search("plum").results == ()
    place.session.restore(page, "again")
    assert len(place.session.search("plum").results) == 1


def test_both_heads_of_a_conflict_can_be_found(place: Workplace) -> None:
    first = place.write("one")
    place.revise(first.page_id, "apple")
    place.revise(first.page_id, "pear", branch=first.revision_id)
    for word in ("apple", "pear"):
        (hit,) = place.session.search(word).results
        assert hit.page_id == first.page_id


def test_a_cursor_goes_through_all_results_once(place: Workplace) -> None:
    for number in range(23):
        place.write("apple " * (number + 1), title=f"page {number}")
    whole = titles(place.session.search("apple", limit=50))
    seen: list[str] = []
    cursor = None
    while True:
        answer = place.session.search("apple", limit=5, cursor=cursor)
        seen += titles(answer)
        cursor = answer.cursor
        if cursor is None:
            break
    assert seen == whole
    assert len(set(seen)) == 23


@pytest.mark.parametrize("cursor", ["", "x", "WzEwLCAieCJd", "é", "[]", "\0"])
def test_a_foreign_cursor_is_refused(place: Workplace, cursor: str) -> None:
    place.write("apple")
    with pytest.raises(UsageError):
        place.session.search("apple", cursor=cursor)
    with pytest.raises(UsageError):
        place.session.symbol("apple", cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 201, 10**9])
def test_no_answer_is_unbounded(place: Workplace, limit: int) -> None:
    with pytest.raises(UsageError):  # PCP-S4
        place.session.search("apple", limit=limit)


@pytest.mark.parametrize("text", ["", " ", "\n", "\0", "***", '""'])
def test_an_empty_question_has_no_hits(place: Workplace, text: str) -> None:
    place.write("apple")
    assert place.session.search(text).results == ()


def test_filters_narrow_and_never_widen(place: Workplace) -> None:
    place.write("apple one", path="notes/one.md", tags=("red", "big"))
    place.write("apple two", path="other/two.md", tags=("red",))
    search = place.session.search
    assert titles(search("apple", filters=Filters(tags=("red", "big")))) == ["apple one"]
    assert titles(search("apple", filters=Filters(path="other/**"))) == ["apple two"]
    assert titles(search("apple", filters=Filters(path="notes/"))) == ["apple one"]
    assert search("apple", filters=Filters(kinds=("file",))).results == ()
    assert search("apple", filters=Filters(kinds=("symbol",))).results == ()
    assert len(search("apple", filters=Filters(kinds=("page",))).results) == 2
    assert search("apple", filters=Filters(languages=("python",))).results == ()
    assert search("red").results != ()


def test_the_same_question_has_the_same_answer(place: Workplace) -> None:
    for number in range(10):
        place.write("the same text\n", title=f"twin {number}")
    first = place.session.search("same", limit=50)
    assert place.session.search("same", limit=50) == first
    assert len({hit.score for hit in first.results}) == 1


@pytest.mark.parametrize(
    "payload", [b"\xff\xfe\0", b"\0" * 9000, b"a" * 1_000_000, "数据库设计".encode(), b"\r\r\r"]
)
def test_any_payload_can_be_written_searched_and_flushed(place: Workplace, payload: bytes) -> None:
    place.write(payload, title="odd apple")
    assert titles(place.session.search("apple")) == ["odd apple"]
    place.session.flush_indexes()
    assert titles(place.session.search("apple")) == ["odd apple"]


def test_a_program_that_seeds_chance_overwrites_no_index(place: Workplace) -> None:
    for number in range(3):
        place.write("apple\n", title=str(number))
        random.seed(0)
        place.session.flush_indexes()
    assert len(place.session.search("apple").results) == 3
    assert len(place.reopened().session.search("apple").results) == 3


def test_the_name_of_a_symbol_may_be_of_any_length(place: Workplace) -> None:
    assert place.session.symbol("a" * 100_000).results == ()


def test_hits_one_by_one_are_those_of_the_answer(place: Workplace) -> None:
    for n in range(7):
        place.write(f"apple {'pear ' * n}")
    hits = place.session.hits("apple", Filters(), NOW, first=2)
    assert tuple(hits) == place.session.search("apple", limit=50).results
