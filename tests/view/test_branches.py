"""What the branches of the view show beside texts: relations, searches, links, long lists."""

from __future__ import annotations

import json
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Pins
from pcpfs.store.catalogs.rows import PageRow, RevisionRow, SpanRow
from pcpfs.view.nodes import Directory, File, Link
from pcpfs.view.view import View
from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace, as_of
from tests.view.walking import files, names


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    (tmp_path / "app").mkdir()
    return SourceTree(tmp_path / "app", place)


def now(place: Workplace) -> View:
    return View(place.session, Pins())


def links(view: View, path: str) -> dict[str, str]:
    found = view.node(path)
    assert isinstance(found, Directory)
    return {e.name: e.node.target for e in found.entries() if isinstance(e.node, Link)}


class TestRelations:
    def test_relations_lead_to_pages_and_symbols(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        place, frame = app.place, app.symbol("first").frame_id
        one, two = place.write("one").page_id, place.write("two").page_id
        place.session.link(one, "supports", two)
        place.session.link(one, "see:also", frame)
        view = now(place)
        assert names(view, "/relations") == ["see%3aalso", "supports"]
        assert names(view, "/relations/supports") == [one]
        assert links(view, f"/relations/supports/{one}") == {two: f"/pages/{two}"}
        assert links(view, f"/relations/see%3aalso/{one}") == {
            f"{frame}.json": f"/frames/{frame}.json"
        }
        assert view.file(f"/relations/supports/{one}/{two}/payload.md").read() == b"two"
        for path in ("supports/nobody", f"supports/{two}", f"nothing/{one}"):
            with pytest.raises(NotFound):
                view.node(f"/relations/{path}")

    def test_what_is_tombstoned_or_was_not_there_has_no_place(self, place: Workplace) -> None:
        before = place.clock.now()
        one, two = place.write("one").page_id, place.write("two").page_id
        place.session.link(one, "supports", two)
        assert names(now(place), "/relations") == ["supports"]
        assert names(View(place.session, as_of(before)), "/relations") == []
        place.session.tombstone(two, "wrong")
        assert names(now(place), "/relations") == []


class TestSearch:
    def test_a_search_is_a_folder_of_links_best_first(self, app: SourceTree) -> None:
        app.write("basket.py")
        app.add()
        app.place.write("# A basket of apples\n", path="fruit.md")
        event = app.place.write("A basket", scope="project:b", path="b.md").page_id
        view = now(app.place)
        found = links(view, "/search/basket")
        assert "01-Basket.py" in found
        assert found["01-Basket.py"] == "/sources/app/basket.py.symbols/Basket.py"
        assert "/scopes/project/a/fruit.md" in found.values()
        assert any("project/b/b.md" in target for target in found.values()), event
        for name in found:
            assert view.file(f"/search/basket/{name}").read()

    @pytest.mark.parametrize("query", ["nothing at all", "a%2fb"])
    def test_a_search_without_hits_is_empty(self, place: Workplace, query: str) -> None:
        place.write("one")
        assert names(now(place), f"/search/{query}") == []

    @pytest.mark.parametrize("query", ["%", "%20", "%zz"])
    def test_what_is_no_query_is_not_there(self, place: Workplace, query: str) -> None:
        with pytest.raises(NotFound):
            now(place).node(f"/search/{query}")

    def test_searches_are_not_listed(self, place: Workplace) -> None:
        assert names(now(place), "/search") == []


class TestLinks:
    def test_the_text_of_a_page_is_a_link_to_where_it_stands(self, app: SourceTree) -> None:
        app.write(b"odd\n.py")
        app.add()
        page = app.place.write("one", path="x.md").page_id
        view = now(app.place)
        assert links(view, f"/pages/{page}") == {"payload.md": "/scopes/project/a/x.md"}
        (source,) = set(names(view, "/pages")) - {page}
        assert links(view, f"/pages/{source}") == {"payload.py": "/sources/app/odd%0a.py"}

    def test_links_below_an_instant_stay_there(self, place: Workplace) -> None:
        page = place.write("one", path="x.md").page_id
        then = place.clock.now()
        place.revise(page, "two")
        view = now(place)
        (target,) = links(view, f"/as-of/{then}/pages/{page}").values()
        assert target == f"/as-of/{then}/scopes/project/a/x.md"
        assert view.file(f"/as-of/{then}/pages/{page}/payload.md").read() == b"one"

    def test_rivals_and_second_heads_are_reached_under_their_own_names(
        self, place: Workplace
    ) -> None:
        first = place.write("one", path="x.md")
        other = place.write("another", path="X.md").page_id
        place.revise(first.page_id, "left")
        place.revise(first.page_id, "right", branch=first.revision_id)
        view = now(place)
        shown = files(view, "/scopes/project/a")
        assert shown == place.tree()
        assert len(shown) == 3
        for page in (first.page_id, other):
            (target,) = links(view, f"/pages/{page}").values()
            assert view.file(target).read() == place.session.payload(page)

    def test_what_has_no_place_elsewhere_is_a_file(self, app: SourceTree) -> None:
        app.write("a.py", "one = 1\n")
        app.add()
        page = app.place.session.resolve("a.py").page
        (app.path / "a.py").unlink()
        app.sync()
        node = now(app.place).node(f"/pages/{page}/payload.py")
        assert isinstance(node, File)
        assert node.read() == b"one = 1\n"


class TestNames:
    def test_very_long_names_are_cut_and_found(self, app: SourceTree) -> None:
        long = "数" * 80 + ".py"  # 243 bytes: with `.symbols` it is too long
        app.write(long)
        app.write("h.md", "# " + "word " * 100 + "\n\n# " + "word " * 100 + "again\n")
        app.add()
        view = now(app.place)
        shown = names(view, "/sources/app")
        assert long in shown
        assert all(len(name.encode()) <= 255 for name in shown)
        (symbols,) = [name for name in shown if name.endswith(".symbols") and "数" in name]
        assert "first.py" in names(view, f"/sources/app/{symbols}")
        headings = names(view, "/sources/app/h.md.symbols")
        assert len(headings) == 2
        for name in headings:
            assert len(name.encode()) <= 255
            assert view.file(f"/sources/app/h.md.symbols/{name}").read().startswith(b"# word")

    def test_symbols_that_differ_in_case_only_do_not_meet(self, app: SourceTree) -> None:
        app.write("c.py", "def item():\n    pass\n\n\ndef Item():\n    return 1\n")
        app.add()
        shown = names(now(app.place), "/sources/app/c.py.symbols")
        assert "item.py" in shown
        assert len({name.casefold() for name in shown}) == 2

    def test_other_spellings_lead_nowhere(self, app: SourceTree) -> None:
        app.write("sub/a.py")
        app.add()
        for path in ("sub%2fa.py", "sub%2Fa.py", "%73ub/a.py", "SUB/a.py", "sub%00"):
            with pytest.raises(NotFound):
                now(app.place).node(f"/sources/app/{path}")


class TestTimes:
    def test_a_file_is_as_new_as_what_it_says(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        frame = app.symbol("first").frame_id
        before = now(app.place).file(f"/frames/{frame}.json")
        app.write("a.py", "# moved down\n" + "import os\n\n\ndef first(a):\n    return a\n")
        app.sync()
        moved = app.symbol("first").frame_id
        after = now(app.place).file(f"/frames/{moved}.json")
        assert json.loads(before.read()) != json.loads(after.read())
        assert after.modified > before.modified

    def test_a_text_that_came_back_is_new(self, app: SourceTree) -> None:
        for text in ("one = 1\n", "two = 2\n", "one = 1\n"):
            app.write("a.py", text)
            app.add()
        node = now(app.place).file("/sources/app/a.py")
        assert node.modified == app.place.session.log("a.py")[0].valid_from

    def test_nothing_is_newer_than_the_view(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        page = app.place.write("one").page_id
        view = now(app.place)
        assert view.file(f"/pages/{page}/manifest.json").modified == view.modified


@pytest.fixture
def crowd(place: Workplace, tmp_path: Path) -> Workplace:
    """A folder with 20,000 files, as far as the catalog says."""
    app = SourceTree(tmp_path / "app", place)
    app.path.mkdir()
    app.write("a.py", "one = 1\n")
    app.add()
    catalog = place.store.catalog
    (page,) = catalog.pages("is_source = 1")
    (span,) = catalog.spans(page.page_id)
    many = [
        (
            page._replace(page_id=f"pg_{n:026d}", path=f"many/{n:05d}.txt"),
            RevisionRow(f"rev_{n:064d}", f"pg_{n:026d}", page.digest, 8),
            span._replace(page_id=f"pg_{n:026d}", revision_id=f"rev_{n:064d}"),
        )
        for n in range(20_000)
    ]
    with catalog.writing():
        for table, kind, at in (
            ("page", PageRow, 0),
            ("revision", RevisionRow, 1),
            ("span", SpanRow, 2),
        ):
            marks = ", ".join("?" * len(kind._fields))
            catalog.db.executemany(
                f"INSERT INTO {table} VALUES ({marks})", [rows[at] for rows in many]
            )
    return place


def test_a_long_folder_is_listed_in_parts_and_in_bounded_memory(crowd: Workplace) -> None:
    folder = now(crowd).node("/sources/app/many")
    assert isinstance(folder, Directory)
    assert sum(1 for _ in folder.entries()) == 20_000
    tracemalloc.start()
    count, start = 0, ""
    while part := list(islice(folder.entries(start), 1000)):
        count, start = count + len(part), part[-1].next
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 5_000_000
    assert names(now(crowd), "/sources/app")[-1] == "many"


def test_the_branches_of_all_pages_are_read_bit_by_bit(crowd: Workplace) -> None:
    folder = now(crowd).node("/pages")
    assert isinstance(folder, Directory)
    asked: list[str] = []
    crowd.store.catalog.db.set_trace_callback(asked.append)
    assert len(list(islice(folder.entries(), 10))) == 10
    crowd.store.catalog.db.set_trace_callback(None)
    assert len(asked) < 10


def test_many_pages_of_a_scope_are_shown_once(place: Workplace) -> None:
    drafts = [
        place.write(f"{n}", path=f"{n % 3}/same.md" if n < 6 else f"{n:02d}.md") for n in range(12)
    ]
    shown = files(now(place), "/scopes/project/a")
    assert shown == place.tree()
    assert len(shown) == len(drafts)
    folder = now(place).node("/scopes/project/a")
    assert isinstance(folder, Directory)
    whole = list(folder.entries())
    for at in range(len(whole)):
        rest = [entry.name for entry in folder.entries(whole[at].next)]
        assert rest == [entry.name for entry in whole[at + 1 :]]


def test_a_view_goes_downwards_only(place: Workplace) -> None:
    with pytest.raises(UsageError):
        now(place).node("/pages/../pages")
