"""What each tool answers, and how it refuses."""

from __future__ import annotations

import json

import pytest

from pcpfs.model.cgp import token_cost
from pcpfs.model.pages import Principal
from tests.integration.source_tree import SourceTree
from tests.mcp.talking import Talk
from tests.store.workplace import Workplace

READING = ("search", "read", "symbol", "map", "log", "stale", "thread_project", "thread_brief")


def test_there_are_these_tools_and_they_are_told_in_few_words(talk: Talk) -> None:
    assert list(talk.tools) == sorted([*READING, "write", "revise", "link", "event"])
    assert {name for name, tool in talk.tools.items() if tool.reads} == set(READING)
    told = [{"name": t.name, "about": t.about, "schema": t.schema()} for t in talk.tools.values()]
    assert token_cost(json.dumps(told, separators=(",", ":"))) < 1200


class TestSearch:
    """Pages and code by words."""

    def test_a_hit_says_what_it_is_and_how_to_cite_it(self, app: SourceTree, talk: Talk) -> None:
        written = app.place.write("Apples are counted.\n", title="Apples")
        said = talk.does("search", query="apples")
        members = {frame.members["cite"]: frame.members for frame in said.frames}
        note = members["Apples (project:a)"]
        assert note["id"] == written.page_id
        assert note["revision"] == written.revision_id[:20]
        assert note["scope"] == "project:a"
        assert note["valid"].endswith("Z/..")
        code = members["first (app/basket.py:4)"]
        assert code["id"].startswith("fr_")
        assert code["page"].startswith("pg_")
        assert code["lines"] == "4-6"

    def test_filters_and_more(self, app: SourceTree, talk: Talk) -> None:
        for number in range(3):
            app.place.write(f"Apples {number}.\n")
        pages = talk.does("search", query="apples", kinds="page").frames
        assert {frame.members["kind"] for frame in pages} == {"page"}
        said = talk.does("search", query="apples", kinds=["page"], limit=2)
        assert len(said.frames) == 2
        cursor = said.text.rpartition('cursor "')[2].rpartition('"')[0]
        rest = talk.does("search", query="apples", kinds=["page"], limit="2", cursor=cursor)
        assert len(rest.frames) == 1

    def test_code_that_changed_is_shown_as_it_is_and_what_is_gone_is_not(
        self, app: SourceTree, talk: Talk
    ) -> None:
        app.edit("basket.py", "return a", "return a + 1")
        (frame,) = (
            f for f in talk.does("search", query="first apples").frames if "lines" in f.members
        )
        assert "changed since the last sync" in frame.members["state"]
        assert "return a + 1" in frame.content
        app.edit("basket.py", "def first", "def last")
        (frame,) = (
            f
            for f in talk.does("search", query="first apples").frames
            if "first" in f.members["cite"]
        )
        assert frame.members["state"] == "gone since the last sync"
        assert frame.content == ""

    def test_what_finds_no_room_is_counted(self, app: SourceTree, talk: Talk) -> None:
        for number in range(9):
            app.place.write(f"Apples {number}. " + "They are many. " * 20 + "\n")
        said = talk.does("search", query="apples", kinds=["page"], budget=400)
        assert f"{9 - len(said.frames)} more found no room" in said.ours


class TestRead:
    """Pages and symbols."""

    def test_a_page_a_revision_a_path_and_a_uri(self, place: Workplace, talk: Talk) -> None:
        first = place.write("one\n", title="Count", path="count.md")
        second = place.revise(first.page_id, "two\n")
        store = place.store.store_id
        for given in (first.page_id, "count.md", f"pcpfs://{store}/{first.page_id}"):
            frame = talk.does("read", id=given).frame
            assert frame.content == "two"
            assert frame.members["revision"] == second.revision_id
            assert frame.members["cite"] == "Count (project:a)"
            assert frame.members["by"] == "user:anna"
        old = talk.does("read", id=f"{first.page_id}@{first.revision_id[:20]}").frame
        assert old.content == "one"
        assert old.members["state"] == "superseded"
        then = talk.does(
            "read", id="count.md", as_of=str(place.session.log("count.md")[-1].created_at)
        )
        assert then.frame.content == "one"

    def test_a_symbol_and_a_file_as_they_are_now(self, app: SourceTree, talk: Talk) -> None:
        frame_id = app.symbol("Basket.second").frame_id
        assert "return 2" in talk.does("read", id=frame_id).frame.content
        app.edit("basket.py", "return 2", "return 3")
        for given in (frame_id, "basket.py"):
            frame = talk.does("read", id=given).frame
            assert "return 3" in frame.content
            assert "changed since" in frame.members["state"]
            assert "revision" not in frame.members
        (app.path / "basket.py").unlink()
        for given in (frame_id, "basket.py"):
            assert "gone since the last sync" in talk.fails("read", id=given).text

    def test_a_long_page_is_read_in_parts_that_add_up(self, place: Workplace, talk: Talk) -> None:
        text = "".join(f"{number}: ä page of many lines\n" for number in range(2000))
        page = place.write(text).page_id
        found, start, calls = "", 0, 0
        while start < len(text.encode()):
            said = talk.does("read", id=page, bytes=f"{start}-", budget=5000)
            found += said.frame.content + "\n"
            calls += 1
            assert calls < 9
            if "cut:" not in said.ours:
                break
            start = int(said.ours.rpartition('bytes="')[2].partition("-")[0])
        assert found == text
        assert 1 < calls < 6

    def test_what_is_no_text_is_told_and_not_shown(self, place: Workplace, talk: Talk) -> None:
        page = place.write(b"\0\1\2", media_type="application/x-thing").page_id
        frame = talk.does("read", id=page).frame
        assert frame.content == ""
        assert frame.members["state"] == "no text, 3 bytes"

    @pytest.mark.parametrize("given", ["5-4", "x", "-3", "1-2-3", "٣-٤"])
    def test_a_range_that_is_none(self, place: Workplace, talk: Talk, given: str) -> None:
        page = place.write("text\n").page_id
        assert "4096-" in talk.fails("read", id=page, bytes=given).text

    def test_a_range_never_splits_a_character(self, place: Workplace, talk: Talk) -> None:
        page = place.write("ä" * 40).page_id
        assert talk.does("read", id=page, bytes="1-4").frame.content == "ää"
        assert talk.does("read", id=page, bytes="900-").frame.content == ""


class TestSymbolAndMap:
    """Code by name, and what matters in it."""

    def test_source_for_the_exact_name_signatures_for_others(
        self, app: SourceTree, talk: Talk
    ) -> None:
        app.edit("basket.py", "return 2", "return 3")
        said = talk.does("symbol", name="second")
        assert "return 3" in said.frame.content
        assert said.frame.members["cite"] == "Basket.second (app/basket.py:12)"
        part = talk.does("symbol", name="sec")
        assert part.frame.members["cite"].startswith("Basket.second")
        assert talk.does("symbol", name="nothing").frames == []

    def test_a_map(self, app: SourceTree, talk: Talk) -> None:
        said = talk.does("map", budget=300)
        assert "class Basket" in said.frame.content
        assert said.frame.members["source"] == "app"
        assert "first" in talk.does("map", source="app", focus="first").frame.content
        assert talk.fails("map", source="nowhere").text.startswith("not_found: ")


class TestWriting:
    """Notes, relations, events."""

    def test_a_note_that_cites(self, app: SourceTree, talk: Talk) -> None:
        frame_id = app.symbol("first").frame_id
        said = talk.does(
            "write",
            scope="project:a",
            text="It returns.\n",
            title="First",
            tags=["x"],
            cites=frame_id,
            key="k",
        )
        page, revision = said.named("page"), said.named("revision")
        assert app.place.session.payload(page) == b"It returns.\n"
        manifest = app.place.session.manifest(page)
        assert (manifest.revision_id, manifest.title) == (revision, "First")
        assert str(manifest.created_by) == "model:local"
        again = talk.does("write", scope="project:a", text="It returns.\n", key="k")
        assert again.text.startswith("already there: page=" + page)
        taken = talk.fails("write", scope="project:a", text="Other.\n", key="k")
        assert f"read id={page}" in taken.text

    def test_a_revision_and_its_history(self, place: Workplace, talk: Talk) -> None:
        first = place.write("one\n", title="Count")
        second = talk.does(
            "revise", id=first.page_id, expected_revision_id=first.revision_id[:20], text="two\n"
        ).named("revision")
        log = talk.does("log", id=first.page_id)
        lines = log.frame.content.splitlines()
        assert lines[0].startswith(f"{second}  revise  ")
        assert "by model:local" in lines[0]
        assert lines[1].startswith(f"{first.revision_id}  write  ")
        assert 'cursor "' in talk.does("log", id=first.page_id, limit=1).ours

    def test_relations(self, place: Workplace, talk: Talk) -> None:
        one, two = place.write("one\n").page_id, place.write("two\n").page_id
        said = talk.does("link", **{"from": one, "type": "refines", "to": two})
        assert said.text.startswith(f"linked: {one} refines {two} relation=rel_")
        (relation,) = place.session.relations(one)
        assert relation.relation.type == "refines"
        assert talk.fails("link", **{"from": one, "type": "Not a type", "to": two}).is_error

    def test_events_of_a_scope_and_of_a_thread(self, place: Workplace, talk: Talk) -> None:
        place.write("x\n", scope="conversation:c1")
        page = talk.does(
            "event", scope="conversation:c1", text="hello", source="conversation:c1#1"
        ).named("page")
        assert place.session.payload(page) == b"hello"
        assert "one of them" in talk.fails("event", text="hello").text
        assert "one of them" in talk.fails("event", text="a", scope="b:c", thread="t").text
        place.session.ingest("thread:fix-17", [])
        place.write("x\n", scope="thread:fix-17")
        for text, goal in (("KeyError 'year'", "cause"), ("Report on Friday.", "report")):
            talk.does(
                "event", thread="fix-17", text=text, source="tool:pytest", goal=goal, tags="failure"
            )
        view = talk.does(
            "thread_project", thread="fix-17", query="which key is missing", budget=600
        )
        assert view.frames[0].content == "KeyError 'year'"
        assert view.frames[0].members["scope"] == "thread:fix-17"
        brief = talk.does("thread_brief", thread="fix-17", goal="report", query="key year")
        assert [frame.content for frame in brief.frames] == ["Report on Friday."]
        for tool in ("thread_project", "thread_brief"):
            given = {"query": "x", "goal": "x"} if tool == "thread_brief" else {"query": "x"}
            assert "no thread 'none'" in talk.fails(tool, thread="none", **given).text


class TestRefusing:
    """Errors say what to do next."""

    @pytest.mark.parametrize(
        ("tool", "given", "told"),
        [
            ("search", {"quary": "x"}, "there is no argument 'quary'; there are query"),
            ("search", {}, "query is missing"),
            ("search", {"query": 3}, "query is a text, not 3"),
            ("search", {"query": "x", "limit": "many"}, "limit is a whole number"),
            ("search", {"query": "x", "limit": True}, "limit is a whole number"),
            ("search", {"query": "x", "limit": 0}, "limit is between 1 and 200"),
            ("search", {"query": "x", "budget": 10}, "budget is between 200 and 20000"),
            ("search", {"query": "x", "kinds": [1]}, "kinds is a list of texts"),
            ("search", {"query": "x", "as_of": "yesterday"}, "2026-03-01T12:00:00Z"),
            ("read", {"id": "pg_0000000000"}, "search or symbol"),
            ("read", {"id": ""}, "not_found"),
            ("write", {"scope": "project:nowhere", "text": "x"}, "You may write in project:a"),
            ("write", {"scope": "", "text": "x"}, "invalid_name"),
            ("write", {"scope": "project:a", "text": f"AKIA{'A1B2C3D4E5F6G7H8'}"}, "Take it out"),
        ],
    )
    def test_a_wrong_call_is_told_what_is_right(
        self, place: Workplace, talk: Talk, tool: str, given: dict[str, object], told: str
    ) -> None:
        place.write("x\n")
        text, is_error = talk.tools[tool].call(talk.room, given)
        assert is_error
        assert told in text

    def test_what_is_absent_or_null_is_not_given(self, place: Workplace, talk: Talk) -> None:
        place.write("x\n")
        assert talk.does("search", query="x", limit=None, path=None).frames

    def test_a_forbidden_scope_is_like_none(self, place: Workplace, talk: Talk) -> None:
        page = place.write("The secret harbour.\n", scope="project:b", title="Harbour").page_id
        place.write("The open harbour.\n")
        place.session.governing.revoke("project:b", Principal("model:local"))
        missing = "pg_" + "0" * 26
        assert len(talk.does("search", query="harbour").frames) == 1
        for tool, given in (
            ("read", {"id": page}),
            ("log", {"id": page}),
            ("stale", {"id": page}),
            ("revise", {"id": page, "expected_revision_id": "rev_00000000", "text": "x"}),
            ("search", {"query": "x", "scopes": ["project:b"]}),
        ):
            shown = talk.fails(tool, **given).text
            other = {
                k: missing if v == page else "project:c" if k == "scopes" else v
                for k, v in given.items()
            }
            assert talk.fails(tool, **other).text == shown.replace(page, missing).replace(
                "project:b", "project:c"
            )
        assert "project:b" not in talk.fails("write", scope="project:c", text="x").text
