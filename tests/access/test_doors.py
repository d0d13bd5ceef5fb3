"""PCP-S2: whatever somebody asks, the answer is, byte for byte, what it would be if the scopes that
they may not read did not exist."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pcpfs.cli.call import document
from pcpfs.errors import PcpfsError
from pcpfs.ledger import Settings, StoreLedger
from pcpfs.mcp.resources import listed
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import all_tools
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from pcpfs.model.requests import MODES, PROJECTIONS, EventDraft, Filters
from pcpfs.sources.status import status
from pcpfs.sources.verify import verify
from pcpfs.store.catalogs.catalog import NOT_OF_FILES, TABLES
from pcpfs.store.feed import Cursor, Feed
from pcpfs.store.registry import installed_registry
from pcpfs.store.searches.source_map import source_map
from pcpfs.store.session import Session
from pcpfs.store.undo import undo
from pcpfs.view.nodes import Directory, File
from pcpfs.view.view import View
from tests.access.world import BEN, FORBIDDEN, OPEN, World
from tests.store.workplace import START, Workplace, draft

Question = tuple[str, Callable[[Session], object]]
TABLES_OF_FILES = ["frame", *(name for name, _, _ in TABLES if name not in NOT_OF_FILES)]
WORDS = ("harbour", "ferry", "mole", "note", "tide", "anchor")


def answered(session: Session, question: Callable[[Session], object]) -> bytes:
    """The answer or the error, as any door would print it."""
    try:
        return document(question(session))
    except PcpfsError as error:
        return document({"code": error.code, "message": error.message, **error.fields})


def about(given: str) -> Iterator[Question]:
    """All that can be asked of a page, a revision or a frame."""
    pins = Pins()
    yield "resolve", lambda s: str(s.resolve(given))
    yield "manifest", lambda s: s.manifest(given)
    yield "payload", lambda s: s.payload(given).decode()
    yield "read", lambda s: [s.read(given)[0]]
    yield "facets", lambda s: s.facets(given)
    yield "relations", lambda s: s.relations(given)
    yield "frame", lambda s: s.frame(given, pins)
    yield "frame_source", lambda s: s.frame_source(given).decode()
    yield "frames_of", lambda s: s.frames_of(given)
    yield "log", lambda s: s.log(given)
    yield "diff", lambda s: s.diff(given)
    yield "related", lambda s: s.related(given, depth=3).items
    yield "bundle", lambda s: s.bundle([given], PROJECTIONS)
    yield "history", lambda s: s.history(given, limit=1)
    yield "close", lambda s: s.close_at(given, START, "over")
    yield "revise", lambda s: s.revise(given, draft("x\n"), branch=given)
    yield "resolve_conflict", lambda s: s.resolve_conflict(given, draft("x\n"))
    yield "tombstone", lambda s: s.tombstone(given, "over")
    yield "archive", lambda s: s.archive(given, "over")
    yield "restore", lambda s: s.restore(given, "again")
    yield "link", lambda s: s.link(given, "supports", given)
    yield "move", lambda s: s.move(given, OPEN)
    yield "write that cites", lambda s: s.write(OPEN, draft("x\n", cites=(given,)))
    yield "undo", lambda s: undo(s.store, BEN, given)


def of_scope(scope: str) -> Iterator[Question]:
    yield "write", lambda s: s.write(scope, draft("x\n"), key="k")
    yield "ingest", lambda s: s.ingest(scope, [EventDraft(b"x")])
    yield "rules", lambda s: s.governing.rules(scope)
    yield "grant", lambda s: s.governing.grant(scope, BEN, ["read"])
    yield "revoke", lambda s: s.governing.revoke(scope, BEN)
    yield "set", lambda s: s.governing.set(scope, title="mine")
    yield "link", lambda s: s.governing.set(OPEN, link=[scope])
    yield "unlink", lambda s: s.governing.set(OPEN, unlink=[scope])
    yield "search in", lambda s: s.search("harbour", scopes=[scope])
    yield "search from", lambda s: s.search("harbour", scopes=[scope], policy="linked", limit=3)
    yield "symbol from", lambda s: s.symbol("harbour", scopes=[scope, OPEN], policy="linked")
    yield "symbol in", lambda s: s.symbol("harbour", scopes=[scope])
    yield "map", lambda s: source_map(s, "src-" + scope.replace(":", "-"))
    yield "backlog", lambda s: s.index_backlog([scope])
    yield "keys", lambda s: s.indexed_keys(scope, 0)


def searches(words: str, then: Instant) -> Iterator[Question]:
    for pins in (Pins(), Pins(as_of=then), Pins(recorded_as_of=then)):
        for limit in (1, 3, 200):
            yield "search", lambda s, p=pins, n=limit: s.search(words, pins=p, limit=n)  # type: ignore[misc]
            yield "symbol", lambda s, p=pins, n=limit: s.symbol(words, pins=p, limit=n)  # type: ignore[misc]
    for mode in MODES:
        yield mode, lambda s, m=mode: s.search(words, mode=m)  # type: ignore[misc]
    yield "tagged", lambda s: s.search(words, filters=Filters(tags=("old",)))
    yield "located", lambda s: s.symbol(words, filters=Filters(path="src-project-hidden/*"))
    yield "cursor", lambda s: s.search(words, limit=1, cursor=s.search(words, limit=1).cursor)


def of_all() -> Iterator[Question]:
    yield "scopes", lambda s: s.scopes()
    for table in TABLES_OF_FILES:
        asked = f"SELECT * FROM {table} ORDER BY 1, 2, 3"
        yield table, lambda s, q=asked: [list(map(str, r)) for r in s.authority.catalog.query(q)]  # type: ignore[misc]
    yield "suppressed", lambda s: s.suppressed("a task")
    yield "suspects", lambda s: s.suspects()
    yield "conflicts", lambda s: s.conflicts()
    yield "damages", lambda s: s.damages()
    yield "index_state", lambda s: s.index_state()
    yield "capabilities", lambda s: s.capabilities()
    yield "status", status
    yield "changes", lambda s: list(Feed(s.store, s.authority).since(Cursor(None)))
    yield "the last changes", lambda s: list(Feed(s.store, s.authority).last(1000))
    yield "changes at the end", lambda s: str(Feed(s.store, s.authority).now())
    yield "map", lambda s: source_map(s, focus=["harbour"])
    yield "verify", lambda s: verify(s.store, installed_registry(), s.authority)
    yield "view", lambda s: list(files(View(s, Pins()).root(), ""))
    yield "view search", lambda s: list(files(folder_at(s, "/search/harbour"), ""))
    yield "view modified", lambda s: str(View(s, Pins()).modified)
    yield "mcp", lambda s: list(told_to_models(Room(lambda: s)))
    yield "thread", lambda s: StoreLedger(s, "hidden", Settings()).log()
    yield "undo the last", lambda s: undo(s.store, BEN)


def folder_at(session: Session, path: str) -> Directory:
    found = View(session, Pins()).node(path)
    assert isinstance(found, Directory)
    return found


def told_to_models(room: Room) -> Iterator[object]:
    """What the tools that read answer, and the list of resources."""
    tools = all_tools()
    for tool, asked in (
        ("search", {"query": "harbour note", "budget": 5000}),
        ("symbol", {"name": "harbour"}),
        ("map", {"focus": "tide"}),
        ("stale", {}),
        ("log", {"id": "notes/0.md"}),
        ("thread_project", {"thread": "hidden", "query": "harbour"}),
        ("write", {"scope": "project:hidden", "text": "x"}),
    ):
        yield tools[tool].call(room, asked)
    yield listed(room, None)


def files(folder: Directory, path: str) -> Iterator[tuple[str, str]]:
    """All of a virtual folder, with the bytes of the small files."""
    for _, name, node in folder.entries():
        if isinstance(node, Directory):
            yield from files(node, f"{path}/{name}")
        else:
            yield f"{path}/{name}", node.read().decode() if isinstance(node, File) else str(node)


def questions(world: World, words: str, then: Instant) -> Iterator[tuple[str, Any]]:
    for ident in world.ids():
        yield from ((f"{name} {ident}", question) for name, question in about(ident))
    for scope in (*FORBIDDEN, OPEN, "project:nowhere"):
        yield from ((f"{name} {scope}", question) for name, question in of_scope(scope))
    for text in (words, *WORDS):
        yield from ((f"{name} {text}", question) for name, question in searches(text, then))
    yield from of_all()


TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=2, max_size=3
)


@settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(texts=TEXTS, words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map(" ".join))
def test_forbidden_scopes_change_no_byte_of_any_answer(
    empty_store: Path, tmp_path_factory: pytest.TempPathFactory, texts: list[str], words: str
) -> None:
    base = tmp_path_factory.mktemp("world")
    shutil.copytree(empty_store, base / "store")
    world = World(Workplace.at(base / "store"))
    world.fill(texts, base)
    then = Instant((START.microseconds + world.place.clock.time.microseconds) // 2)
    asked = dict(questions(world, words, then))
    assert len(asked) > 1000
    world.place.session.flush_indexes()
    session = world.ben()
    with_them = {name: answered(session, question) for name, question in asked.items()}
    session.close()
    world.without_what_is_forbidden()
    world.place.session.flush_indexes()
    session = world.ben()
    try:
        for name, question in asked.items():
            assert (name, answered(session, question)) == (name, with_them[name])
    finally:
        session.close()
        world.place.close()
    assert any(b'"results": [{' in answer for answer in with_them.values())
