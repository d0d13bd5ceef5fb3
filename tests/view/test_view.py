"""The virtual view: everything that a session sees, as files, now and at other instants."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound, PcpfsError, UsageError
from pcpfs.model.answers import Pins, plain
from pcpfs.model.instants import Instant
from pcpfs.view.nodes import Directory, File
from pcpfs.view.view import View
from tests.integration.source_tree import PYTHON, SourceTree
from tests.store.workplace import Workplace, as_of, contents, recorded
from tests.view.walking import files, names, walk


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    (tmp_path / "app").mkdir()
    return SourceTree(tmp_path / "app", place)


BRANCHES = ["frames", "pages", "relations", "scopes", "search", "sources"]


def now(place: Workplace) -> View:
    return View(place.session, Pins())


def test_the_root_has_a_branch_for_each_way_to_look(place: Workplace) -> None:
    assert names(now(place), "/") == ["as-of", *BRANCHES]
    for path in ("/", "", ".", "//", "/./"):
        assert now(place).node(path).kind == "directory"


class TestScopes:
    def test_readable_heads_are_what_lies_in_tree(self, place: Workplace) -> None:
        first = place.write("one", path="x.md")
        place.write("other", path="x.md")
        place.write("deep", path="notes/y.md", scope="project:b:c")
        place.revise(first.page_id, "two")
        place.revise(first.page_id, "three", branch=first.revision_id)
        place.session.tombstone(place.write("gone").page_id, "wrong")
        place.session.archive(place.write("kept", path="kept.md").page_id, "done")
        seen = files(now(place), "/scopes")
        expected = {
            name.replace("/tree/", "/"): raw
            for name, raw in contents(place.path / "scopes").items()
            if "/tree/" in name
        }
        assert seen == expected
        assert len(seen) == 5

    def test_a_scope_without_pages_is_shown_too(self, place: Workplace) -> None:
        page = place.write(scope="project:lonely").page_id
        place.session.tombstone(page, "wrong")
        assert names(now(place), "/scopes/project") == ["lonely"]
        assert names(now(place), "/scopes/project/lonely") == []

    def test_an_edit_that_is_no_page_yet_is_not_shown(self, place: Workplace) -> None:
        place.write("one", path="x.md")
        place.tree_file("x.md").write_bytes(b"edited")
        assert files(now(place), "/scopes") == {"project/a/x.md": b"one"}

    def test_the_scope_as_of_then(self, place: Workplace) -> None:
        before = place.clock.now()
        page = place.write("one", path="x.md").page_id
        between = place.clock.now()
        place.revise(page, "two")
        place.write("new", path="y.md")
        assert files(View(place.session, as_of(before)), "/scopes") == {}
        assert files(View(place.session, as_of(between)), "/scopes") == {"project/a/x.md": b"one"}
        assert files(View(place.session, recorded(between)), "/scopes") == {
            "project/a/x.md": b"one"
        }
        assert len(files(now(place), "/scopes")) == 2


class TestSources:
    def test_source_bytes_are_shown_as_they_were_read(self, app: SourceTree) -> None:
        app.write("main.py")
        app.write("pkg/data.txt", b"\xff\0text\r\n"[:1] + b"text\r\n")
        app.write("empty.py", b"")
        app.add()
        seen = files(now(app.place), "/sources/app")
        ours = {n: raw for n, raw in seen.items() if ".symbols/" not in n}
        assert ours == contents(app.path)

    def test_symbols_lie_beside_their_file_as_exactly_their_bytes(self, app: SourceTree) -> None:
        app.write("main.py")
        app.write("plain.txt", "text\n")
        app.add()
        view = now(app.place)
        assert names(view, "/sources/app") == ["main.py", "main.py.symbols", "plain.txt"]
        seen = files(view, "/sources/app/main.py.symbols")
        frames = app.place.session.frames_of("main.py")
        assert seen == {
            f"{frame.qualified_name}.py": PYTHON.encode()[slice(*frame.bytes)]
            for frame in frames
            if frame.kind != "file"
        }
        assert seen["Basket.second.py"].endswith(b"return 2")

    def test_symbols_of_one_name_are_all_there(self, app: SourceTree) -> None:
        app.write(
            "p.py",
            "class A:\n    @property\n    def x(self):\n        return 1\n\n"
            "    @x.setter\n    def x(self, value):\n        pass\n",
        )
        app.add()
        seen = files(now(app.place), "/sources/app/p.py.symbols")
        pair = [raw for name, raw in seen.items() if name.startswith("A.x")]
        assert len(pair) == 2
        assert any(b"setter" in raw for raw in pair)

    def test_what_closed_is_gone_and_what_changed_is_new(self, app: SourceTree) -> None:
        app.write("a.py")
        app.write("b.py", "def below():\n    pass\n")
        app.add()
        then = app.place.clock.now()
        app.edit("a.py", "return 2", "return 3003")
        (app.path / "b.py").unlink()
        app.sync()
        later = files(now(app.place), "/sources/app")
        assert set(later) == {"a.py"} | {n for n in later if n.startswith("a.py.symbols/")}
        assert later["a.py.symbols/Basket.second.py"].endswith(b"return 3003")
        for view in (
            View(app.place.session, as_of(then)),
            View(app.place.session, recorded(then)),
        ):
            before = files(view, "/sources/app")
            assert before["a.py"] == PYTHON.encode()
            assert before["b.py.symbols/below.py"] == b"def below():\n    pass"
            assert before["a.py.symbols/Basket.second.py"].endswith(b"return 2")

    def test_a_symbol_that_moved_down_is_still_its_own_bytes_as_of_then(
        self, app: SourceTree
    ) -> None:
        app.write("a.py")
        app.add()
        then = app.place.clock.now()
        app.write("a.py", "# one\n# two\n" + PYTHON)
        app.sync()
        for pins in (Pins(), as_of(then), recorded(then)):
            raw = files(View(app.place.session, pins), "/sources/app/a.py.symbols")["first.py"]
            assert raw.startswith(b"def first(a):")
            assert raw.endswith(b"return a")

    def test_odd_names_are_shown_and_opened(self, app: SourceTree) -> None:
        odd = (
            b"a\nb.py",
            b"\xff.py",
            b"100%.py",
            "é.py".encode(),
            "e\u0301.py".encode(),
            b"c\\d.py",
        )
        for name in odd:
            app.write(b"sub%2f/" + name)
        app.add(name="odd #1")
        view = now(app.place)
        listed = [n for n in names(view, "/sources/odd #1/sub%252f") if not n.endswith(".symbols")]
        assert len(listed) == len(odd)
        for name in listed:
            assert view.file(f"/sources/odd #1/sub%252f/{name}").read() == PYTHON.encode()
            assert "first.py" in names(view, f"/sources/odd #1/sub%252f/{name}.symbols")

    def test_a_real_folder_is_not_hidden_by_a_virtual_one(self, app: SourceTree) -> None:
        app.write("a.py")
        app.write("a.py.symbols/mine.txt", "mine\n")
        app.add()
        seen = files(now(app.place), "/sources/app")
        assert seen["a.py"] == PYTHON.encode()
        assert seen["a.py.symbols/mine.txt"] == b"mine\n"


class TestPages:
    def test_a_page_shows_all_of_its_sides(self, place: Workplace) -> None:
        first = place.write("one\n", title="T")
        second = place.revise(first.page_id, "two\n")
        other = place.write("other\n")
        place.session.link(first.page_id, "supports", other.page_id)
        base = f"/pages/{first.page_id}"
        view = now(place)
        assert names(view, base) == [
            "facets.json",
            "history",
            "manifest.json",
            "payload.md",
            "relations.json",
        ]
        assert view.file(f"{base}/payload.md").read() == b"two\n"
        assert files(view, f"{base}/history") == {
            f"0001-{first.revision_id[4:12]}.md": b"one\n",
            f"0002-{second.revision_id[4:12]}.md": b"two\n",
        }
        manifest = json.loads(view.file(f"{base}/manifest.json").read())
        assert manifest == plain(place.session.manifest(first.page_id))
        assert json.loads(view.file(f"{base}/facets.json").read()) == {"title": "T"}
        (relation,) = json.loads(view.file(f"{base}/relations.json").read())
        assert relation["type"] == "supports"

    def test_source_pages_are_pages_too(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        page = app.place.session.resolve("a.py").page
        assert now(app.place).file(f"/pages/{page}/payload.py").read() == PYTHON.encode()

    def test_a_page_is_opened_without_listing_all(self, place: Workplace) -> None:
        page = place.write("one").page_id
        assert page in names(now(place), "/pages")
        with pytest.raises(NotFound):
            now(place).node("/pages/pg_" + "0" * 26)

    def test_before_it_was_there_a_page_is_not(self, place: Workplace) -> None:
        before = place.clock.now()
        page = place.write("one").page_id
        for pins in (as_of(before), recorded(before)):
            assert names(View(place.session, pins), "/pages") == []
            with pytest.raises(NotFound):
                View(place.session, pins).node(f"/pages/{page}")


class TestFrames:
    def test_a_frame_is_opened_by_its_id(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        frame = app.symbol("first").frame_id
        raw = now(app.place).file(f"/frames/{frame}.json").read()
        assert json.loads(raw)["qualified_name"] == "first"
        frames = app.place.session.frames_of("a.py")
        assert names(now(app.place), "/frames") == sorted(f"{f.frame_id}.json" for f in frames)

    @pytest.mark.parametrize("name", ["x", "fr_.json", "fr_" + "0" * 26 + ".json", "..", "%.json"])
    def test_other_names_are_not_there(self, place: Workplace, name: str) -> None:
        with pytest.raises(PcpfsError):
            now(place).node(f"/frames/{name}")


class TestAsOf:
    def test_the_whole_view_hangs_below_an_instant(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        app.place.write("one", path="x.md")
        then = app.place.clock.now()
        app.edit("a.py", "return 2", "return 3")
        app.sync()
        below = files(now(app.place), f"/as-of/{then}")
        assert below == files(View(app.place.session, as_of(then)))
        assert below["sources/app/a.py"] == PYTHON.encode()
        assert names(now(app.place), f"/as-of/{then}") == BRANCHES

    @pytest.mark.parametrize("spelling", ["2050-01-01", "2050-01-01T00:00:00+01:00"])
    def test_an_instant_may_be_spelled_as_people_do(self, place: Workplace, spelling: str) -> None:
        place.write("one", path="x.md")
        path = f"/as-of/{spelling}/scopes/project/a/x.md"
        assert now(place).file(path).read() == b"one"

    @pytest.mark.parametrize("name", ["yesterday", "2050", "2050-01-01T00:00:00", "..", "\0"])
    def test_what_is_no_instant_is_not_there(self, place: Workplace, name: str) -> None:
        with pytest.raises(PcpfsError):
            now(place).node(f"/as-of/{name}/scopes")

    def test_instants_do_not_nest(self, place: Workplace) -> None:
        with pytest.raises(NotFound):
            now(place).node("/as-of/2050-01-01/as-of/2040-01-01")


class TestSafety:
    @pytest.mark.parametrize(
        "path",
        ["/..", "/scopes/..", "../x", "/scopes/../../etc/passwd", "/sources/app/../.."],
    )
    def test_nothing_goes_upwards(self, app: SourceTree, path: str) -> None:
        app.write("a.py")
        app.add()
        with pytest.raises(UsageError):
            now(app.place).node(path)

    @pytest.mark.parametrize(
        "path",
        ["/etc", "/scopes/x", "/sources/app/%2e%2e", "/scopes\\x", "/pages/\0", "/scopes/a/b/c"],
    )
    def test_what_is_not_listed_is_not_there(self, place: Workplace, path: str) -> None:
        place.write()
        with pytest.raises(NotFound):
            now(place).node(path)

    def test_a_file_has_nothing_below_it_and_a_directory_is_no_file(self, place: Workplace) -> None:
        place.write("one", path="x.md")
        with pytest.raises(NotFound):
            now(place).node("/scopes/project/a/x.md/y")
        with pytest.raises(UsageError):
            now(place).file("/scopes/project/a")

    @settings(
        max_examples=100,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        path=st.lists(
            st.sampled_from(["scopes", "sources", "pages", "as-of", "frames", "..", ".", "", "%2e"])
            | st.text(max_size=6),
            max_size=5,
        ).map("/".join)
    )
    def test_any_path_is_a_node_or_a_clear_no(self, place: Workplace, path: str) -> None:
        try:
            node = now(place).node(path)
        except (NotFound, UsageError):
            return
        assert isinstance(node, Directory | File)

    def test_every_name_that_is_listed_can_be_opened_and_is_one_part(self, app: SourceTree) -> None:
        for name in (b"a\nb.py", b"\xff.py", b"%2e%2e.py", b"...", b"x\x1b[31m.md"):
            app.write(name)
        app.add()
        app.place.write("one", title="A / B", scope="Ünï:Côde")
        view = now(app.place)
        for path, node in walk(view.root()):
            name = path.rpartition("/")[2]
            assert name not in (".", "..")
            assert not any(ord(char) < 32 or ord(char) == 127 for char in name)
            assert view.node(path).kind == node.kind

    def test_a_view_keeps_working_while_others_look_elsewhere(self, place: Workplace) -> None:
        page = place.write("one").page_id
        moments = [place.clock.now()]
        place.revise(page, "two")
        moments.append(place.clock.now())
        place.revise(page, "three")
        views = [View(place.session, recorded(moment)) for moment in moments]
        for _ in range(2):
            for view, text in zip(views, (b"one", b"two"), strict=True):
                assert view.file(f"/pages/{page}/payload.md").read() == text

    def test_the_view_writes_nothing(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        app.place.write("one")
        before = {n: r for n, r in contents(app.place.path).items() if not n.startswith(".pcpfs/")}
        files(now(app.place))
        files(View(app.place.session, recorded(app.place.clock.now())))
        after = {n: r for n, r in contents(app.place.path).items() if not n.startswith(".pcpfs/")}
        assert {n for n in after if after[n] != before.get(n)} <= {".git/pcpfs/local.sqlite-shm"}

    def test_a_damaged_page_does_not_take_the_view_down(self, place: Workplace) -> None:
        place.write("sound", path="sound.md")
        broken = place.write("broken", path="broken.md")
        for file in (place.path / "scopes").rglob("*"):
            if file.is_file() and "payloads" in file.parts and file.read_bytes() == b"broken":
                os.unlink(file)
        view = now(place)
        assert "sound.md" in names(view, "/scopes/project/a")
        assert view.file("/scopes/project/a/sound.md").read() == b"sound"
        with pytest.raises(NotFound):
            view.file(f"/pages/{broken.page_id}/payload.md").read()


def test_files_tell_since_when_they_are_so(place: Workplace) -> None:
    page = place.write("one", path="x.md", valid_from=Instant.read("2020-01-01")).page_id
    node = now(place).node("/scopes/project/a/x.md")
    assert isinstance(node, File)
    assert str(node.modified) == "2020-01-01T00:00:00Z"
    place.revise(page, "two")
    again = now(place).node("/scopes/project/a/x.md")
    assert isinstance(again, File)
    assert again.modified > node.modified


def test_a_view_keeps_working_when_the_catalog_is_built_anew(place: Workplace) -> None:
    page = place.write("three").page_id
    current = View(place.session, Pins())
    place.store.reindex()
    assert current.file(f"/pages/{page}/payload.md").read() == b"three"


def test_two_scopes_that_meet_in_one_folder_hide_nothing(place: Workplace) -> None:
    place.write("outer", scope="a", path="b/x.md")
    place.write("inner", scope="a:b", path="x.md")
    place.write("file", scope="a", path="c")
    place.write("below", scope="a:c", path="y.md")
    assert sorted(files(View(place.session, Pins()), "/scopes").values()) == [
        b"below",
        b"file",
        b"inner",
        b"outer",
    ]
