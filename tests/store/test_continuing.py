"""Folding the tail of a timeline gives the rows that a fold of all changes gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcpfs.model.branches import Beside, Version
from pcpfs.model.changes import (
    Change,
    Event,
    LifecycleSet,
    Linked,
    Noted,
    Observed,
    Relation,
    Retracted,
    Thinned,
    Unlinked,
)
from pcpfs.model.frames import Extraction, Symbol
from pcpfs.model.ids import ChangeId, Digest, RelationId, RevisionId, RootId
from pcpfs.model.names import source_ref
from pcpfs.model.pages import Payload, Revision
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.catalog_differences import differences
from pcpfs.store.catalogs.seen_frames import Bodies
from pcpfs.store.folding.continuing import continued
from pcpfs.store.folding.fold import fold_page
from pcpfs.store.folding.projection import page_rows
from tests.store.folding import ANNA, PAGE, SCOPE, History, at, closed

ROOT = RootId("root_" + "0" * 26)
TEXTS = {
    "a": {"f": "1", "g": "1"},
    "b": {"f": "1", "g": "2"},
    "c": {"f": "1"},
    "d": {"f": "2", "g": "1", "h": "1"},
}
"""What each version of the file says: the body of each function."""


def envelope(name: str) -> Revision:
    payload = Payload("text/x-python", Digest.of(name.encode()), len(name))
    return Revision(PAGE, SCOPE, payload, source_refs=(source_ref(ROOT, "m.py"),))


REVISIONS = {RevisionId.of(envelope(name).encode()): envelope(name) for name in TEXTS}
IDS = dict(zip(TEXTS, REVISIONS, strict=True))
DIGESTS = {Digest.of(name.encode()): name for name in TEXTS}


def extraction(digest: Digest, tag: str) -> Extraction:
    """The second version of the adapter sees other bodies in the same bytes."""
    functions = TEXTS[DIGESTS[digest]]
    symbols = tuple(
        Symbol(
            "function",
            name,
            name,
            f"def {name}()",
            "doc" if DIGESTS[digest] == "b" else "",
            (place + 1, place + 1),
            (place + 1, place + 2),
            Digest.of(f"{body}{tag if name == 'g' else ''}".encode()),
            (place, place + 1) if name == "f" else (place + 1, place + 2),
        )
        for place, (name, body) in enumerate(functions.items())
    )
    name, _, version = tag.rpartition("-")
    line_count, is_generated = len(symbols), DIGESTS[digest] == "c"
    return Extraction(
        name, int(version), "python", symbols, line_count=line_count, generated=is_generated
    )


BODIES = Bodies(
    REVISIONS.__getitem__,
    lambda one: extraction(one.payload, one.adapter),
    lambda digest: DIGESTS[digest].encode(),
)


class Page:
    """One page in two catalogs: continued where that can be, and folded from all changes."""

    def __init__(self) -> None:
        self.history = History()
        self.kept, self.fresh = (Catalog.create(Path(":memory:")) for _ in range(2))
        self.continued = 0

    def take(self, new: Mapping[ChangeId, Change]) -> None:
        state = continued(self.kept, PAGE, SCOPE, new, len(self.history.changes) - len(new))
        self.continued += state is not None
        whole = fold_page(PAGE, SCOPE, self.history.changes)
        with self.kept.writing():
            self.kept.replace_pages([page_rows(state or whole, BODIES)])

    def add(self, when: float, *events: Event) -> None:
        change = self.history.add(when, *events)
        self.take({change: self.history.changes[change]})

    def differences(self) -> list[str]:
        with self.fresh.writing():
            self.fresh.remove_page(PAGE)
            whole = fold_page(PAGE, SCOPE, self.history.changes)
            self.fresh.replace_pages([page_rows(whole, BODIES)])
        return [problem.message for problem in differences(self.kept, self.fresh)]

    def close(self) -> None:
        self.kept.close()
        self.fresh.close()


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page()
    yield page
    page.close()


def saw(text: str, since: float, basis: str = "mtime", adapter: str = "python-1") -> Observed:
    return Observed(IDS[text], at(since), basis, adapter)


def linked(number: int) -> Linked:
    relation = RelationId(f"rel_{number:026}")
    first, second = IDS["a"], IDS["b"]
    return Linked(Relation(relation, first, "renamed_from", PAGE, second, ANNA, at(number)))


def beside(commit: str, when: float, was: str | None, now: str | None) -> Beside:
    def version(text: str | None) -> Version | None:
        return Version(IDS[text], "python-1") if text else None

    return Beside(commit, "Ada", at(when), version(was), version(now), None if now else "gone")


moments = st.integers(0, 12)
texts = st.sampled_from(sorted(TEXTS))
bases = st.sampled_from(["first", "mtime", "seen", "commit", "adapter"])
plain = st.one_of(
    st.builds(saw, texts, moments, bases, st.sampled_from(["python-1", "python-2"])),
    st.builds(closed, texts, moments),
)
events = st.one_of(
    plain,
    plain,
    plain,
    st.builds(closed, texts, moments, st.sampled_from("fgh")),
    st.builds(linked, st.integers(0, 1)),
    st.builds(beside, st.sampled_from("xyz"), moments, texts, st.none() | texts),
    st.just(Noted({"a": 1})),
    st.builds(lambda text: Thinned((IDS[text],)), texts),
    st.builds(Unlinked, st.just(RelationId("rel_" + "0" * 26))),
    st.builds(LifecycleSet, st.sampled_from(["active", "archived", "tombstoned"]), st.just("")),
)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_rows_are_those_of_the_whole_fold_whatever_comes_in_which_order(
    data: st.DataObject,
) -> None:
    """Back-filled, out of order, ended, retracted, from clones that know nothing of each other."""
    page = Page()
    page.add(0, saw("a", data.draw(moments), data.draw(bases)))
    for turn in range(data.draw(st.integers(1, 8))):
        known = list(page.history.changes)
        new: dict[ChangeId, Change] = {}
        for _ in range(data.draw(st.integers(1, 2))):
            said = data.draw(st.lists(events, min_size=1, max_size=4))
            kind = data.draw(st.integers(0, 9))
            after = [data.draw(st.sampled_from(known))] if kind == 0 else None
            if kind == 1:
                said.append(Retracted((data.draw(st.sampled_from(known)),)))
            change = page.history.add(turn, *said, after=after)
            new[change] = page.history.changes[change]
        page.take(new)
        assert page.differences() == []
    page.close()


def test_saves_and_their_ends_are_continued(page: Page) -> None:
    page.add(0, saw("a", 0, "first"))
    page.add(1, saw("b", 1))
    page.add(2, closed("b", 2))
    page.add(3, saw("a", 3), linked(0))
    page.add(4, saw("a", 3, "adapter", "python-2"))
    assert (page.continued, page.differences()) == (4, [])


def test_a_history_is_continued_between_what_is_known(page: Page) -> None:
    page.add(100, saw("d", 100, "first"))
    page.add(101, saw("a", 1, "commit"), saw("b", 2, "commit"), closed("b", 3))
    page.add(102, saw("c", 5, "commit"), saw("a", 6, "commit"))
    assert (page.continued, page.differences()) == (2, [])


def test_what_went_is_continued_and_no_longer_has_a_text(page: Page) -> None:
    """Of `f` the documentation lies outside."""
    page.add(0, saw("a", 0), saw("b", 1), saw("c", 2), saw("d", 3), saw("a", 4))
    keys = {str(key) for (key,) in page.kept.query("SELECT key FROM document")}
    page.add(1, Thinned((IDS["b"], IDS["c"])))
    page.add(2, Thinned((IDS["d"],)))
    assert (page.continued, page.differences()) == (2, [])
    assert {IDS["a"]} == {key for (key,) in page.kept.query("SELECT key FROM document")} & {
        *IDS.values()
    }
    rows = page.kept.query("SELECT name, revision_id, doc_key FROM frame WHERE doc_key NOTNULL")
    assert {(name, revision) for name, revision, key in rows if key not in keys} == {
        ("f", IDS["c"]),
        ("f", IDS["d"]),
    }
    assert page.kept.query("SELECT count(*) FROM pending WHERE removed") == [(5,)]
    page.add(3, saw("d", 5))
    assert (page.continued, page.differences()) == (2, [])


@pytest.mark.parametrize(
    "event", [LifecycleSet("archived", ""), Unlinked(RelationId("rel_" + "0" * 26))]
)
def test_what_says_more_than_what_was_seen_is_folded_whole(page: Page, event: Event) -> None:
    page.add(0, saw("a", 0), linked(0))
    page.add(1, event)
    assert (page.continued, page.differences()) == (0, [])


def test_a_page_with_changes_that_the_catalog_does_not_know_is_folded_whole(page: Page) -> None:
    page.add(0, saw("a", 0))
    page.history.add(1, saw("b", 1))
    page.add(2, saw("c", 2))
    assert (page.continued, page.differences()) == (0, [])


def test_what_branches_say_is_continued_without_a_look_at_what_held(page: Page) -> None:
    page.add(0, saw("a", 0), saw("b", 1))
    page.add(1, beside("x", 0, "a", "d"))
    page.add(2, beside("y", 5, "d", None), saw("c", 3))
    assert (page.continued, page.differences()) == (2, [])
    told = page.kept.query("SELECT place >> 32, event, name FROM beside_frame ORDER BY 1, 3")
    assert told == [
        (1, "changed", "f"),
        (1, "opened", "h"),
        (2, "closed", "f"),
        (2, "closed", "g"),
        (2, "closed", "h"),
    ]
    page.add(3, beside("x", 0, "a", "c"))
    assert (page.continued, page.differences()) == (2, [])


def test_a_page_that_only_branches_have_holds_nothing_and_can_come_to(page: Page) -> None:
    page.add(0, beside("x", 0, None, "a"))
    (row,) = page.kept.pages()
    assert (row.is_source, row.is_open, row.path) == (1, 0, "m.py")
    for table in ("span", "frame", "document"):
        assert page.kept.query(f"SELECT * FROM {table}") == []
    page.add(1, saw("b", 1))
    page.add(2, beside("y", 0, "a", None))
    assert (page.continued, page.differences()) == (1, [])
    assert page.kept.query("SELECT is_open FROM page") == [(1,)]


def test_a_change_beside_others_is_folded_whole(page: Page) -> None:
    page.add(0, saw("a", 0))
    page.add(1, saw("b", 1))
    first = next(iter(page.history.changes))
    beside = page.history.add(2, saw("c", 2), after=[first])
    page.take({beside: page.history.changes[beside]})
    assert (page.continued, page.differences()) == (1, [])
