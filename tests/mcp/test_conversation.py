"""The server as the SDK's own client sees it, in memory; and a whole piece of work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client, MCPError

from pcpfs.mcp import resources
from pcpfs.mcp.room import Room
from pcpfs.mcp.server import Worker, build
from pcpfs.mcp.tool import all_tools
from pcpfs.model.requests import Draft
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.integration.source_tree import SourceTree
from tests.mcp.talking import MODEL, Said
from tests.store.workplace import ANNA, Workplace

Call = Callable[..., Awaitable[Said]]


def talked(place: Workplace, work: Callable[[Client, Call], Awaitable[None]]) -> None:
    """Run a conversation with a server on a store."""

    async def run() -> None:
        server = build(Worker(lambda: Session(Store.open(place.path, clock=place.clock), MODEL)))
        async with Client(server) as client:

            async def call(tool: str, /, **given: Any) -> Said:
                result = await client.call_tool(tool, given)
                (content,) = result.content
                assert content.type == "text"
                return Said(content.text, result.is_error)

            await work(client, call)

    asyncio.run(run())


def test_what_a_client_is_told(place: Workplace) -> None:
    async def work(client: Client, call: Call) -> None:
        told = (await client.list_tools()).tools
        assert [tool.name for tool in told] == list(all_tools())
        for tool in told:
            assert tool.input_schema["type"] == "object"
        assert "quoted data" in (client.instructions or "")
        with pytest.raises(MCPError, match="no tool"):
            await client.call_tool("delete", {})

    talked(place, work)


def test_resources_are_pages_and_symbols(app: SourceTree) -> None:
    place = app.place
    pages = [place.write(f"{n}\n", title=f"Note {n}").page_id for n in range(5)]
    symbol = app.symbol("first").frame_id
    store = place.store.store_id

    async def work(client: Client, call: Call) -> None:
        first = await client.list_resources()
        found = [str(one.uri) for one in first.resources]
        assert found == [f"pcpfs://{store}/{page}" for page in reversed(pages)]
        assert first.next_cursor is None
        assert first.resources[0].title == "Note 4 (project:a)"
        templates = (await client.list_resource_templates()).resource_templates
        assert {one.name for one in templates} == {"page", "revision", "symbol"}
        for uri, text in ((found[0], "4"), (f"pcpfs://{store}/{symbol}", "def first(a):")):
            (content,) = (await client.read_resource(uri)).contents
            assert f"\n{text}\n" in content.text  # type: ignore[union-attr]
            assert "<frame " in content.text  # type: ignore[union-attr]
        for uri in (f"pcpfs://{store}/pg_{'0' * 26}", "pcpfs://other/pg_1", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="not_found"):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="no cursor"):
            await client.list_resources(cursor="x")

    talked(place, work)
    room, found, cursor = Room(lambda: place.session), [], None
    for size in (2, 2, 1):
        part, cursor = resources.listed(room, cursor, 2)
        assert len(part) == size
        found += [one.uri.rpartition("/")[2] for one in part]
    assert (found, cursor) == (pages[::-1], None)


def test_a_piece_of_work_from_recall_to_resolving_a_conflict(app: SourceTree) -> None:
    """Recall, the source changes, a warning, a revision, a conflict, and its end."""
    place = app.place
    place.write(
        "Apples are counted by first.\n", title="Apples", cites=(str(app.symbol("first").frame_id),)
    )

    async def work(client: Client, call: Call) -> None:
        recalled = (await call("search", query="how are apples counted", kinds=["page"])).frame
        page = recalled.members["id"]
        assert "no page rests" in (await call("stale")).ours

        app.edit("basket.py", "return a", "return len(a)")
        stale = await call("stale")
        assert stale.frame.members["cite"] == "Apples (project:a)"
        assert "which is changed since the last sync; read it" in stale.ours
        read = await call("read", id=page)
        assert "suspect: cites fr_" in read.ours
        frame_id = read.ours.partition("cites ")[2].partition(" ")[0]
        assert "return len(a)" in (await call("read", id=frame_id)).frame.content

        then = str(place.session.manifest(page).valid_from)
        assert "suspect" not in (await call("read", id=page, as_of=then)).text

        app.sync()
        known = read.frame.members["revision"]
        revised = await call(
            "revise",
            id=page,
            expected_revision_id=known,
            text="first gives a length.\n",
            cites=[frame_id],
        )
        assert "no page rests" in (await call("stale")).ours

        other = place.session.revise(
            page, Draft(b"Written by Anna.\n"), expect=[revised.named("revision")]
        )
        late = await call(
            "revise", id=page, expected_revision_id=revised.named("revision"), text="Mine.\n"
        )
        assert late.is_error
        assert late.frame.members["revision"] == other.revision_id
        assert late.frame.members["by"] == str(ANNA)
        assert "-first gives a length." in late.frame.content
        assert "+Written by Anna." in late.frame.content
        head = late.ours.rpartition('expected_revision_id="')[2].partition('"')[0]
        both = await call("revise", id=page, expected_revision_id=head, text="Anna and I.\n")
        assert not both.is_error

        place.session.revise(page, Draft(b"Beside it.\n"), branch=known)
        torn = await call("read", id=page)
        assert len(torn.frame.members["heads"].split()) == 2
        heads = torn.ours.rpartition('expected_revision_id="')[2].partition('"')[0]
        whole = await call("revise", id=page, expected_revision_id=heads, text="All of it.\n")
        assert not whole.is_error
        after = await call("read", id=page)
        assert "heads" not in after.frame.members
        assert after.frame.content == "All of it."

    talked(place, work)


def test_calls_that_come_together_are_all_answered(place: Workplace) -> None:
    place.write("x\n")

    async def work(client: Client, call: Call) -> None:
        texts = [f"note {number}\n" for number in range(6)]
        said = await asyncio.gather(*(call("write", scope="project:a", text=t) for t in texts))
        assert len({one.named("page") for one in said}) == 6

    talked(place, work)


def test_trouble_of_ours_is_told_and_the_next_call_answered(place: Workplace) -> None:
    place.write("harbour\n")

    async def work(client: Client, call: Call) -> None:
        place.path.rename(place.path.with_name("elsewhere"))
        said = await call("search", query="harbour")
        assert said.is_error
        place.path.with_name("elsewhere").rename(place.path)
        assert (await call("search", query="harbour")).frames

    talked(place, work)
