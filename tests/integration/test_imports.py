"""What sources import from each other: worked out from their texts and the files that there are."""

from __future__ import annotations

import pytest

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import ImportView, Pins, RelatedPage, plain
from pcpfs.model.instants import Instant
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA

HARBOUR = """\
import os
from quay.tides import high, low as ebb
from . import missing


def enter(ship):
    return high(ship)


def leave(ship):
    return ebb(ship)
"""
TIDES = """\
def high(a):
    return a


def low(a):
    return a
"""


@pytest.fixture
def quay(app: SourceTree) -> SourceTree:
    app.write("quay/__init__.py", "")
    app.write("quay/harbour.py", HARBOUR)
    app.write("quay/tides.py", TIDES)
    app.write("web/a.ts", 'import { b } from "./b";\n')
    app.add()
    return app


def related(tree: SourceTree, given: str, **asked: object) -> dict[str, list[tuple[int, str]]]:
    """Paths with an arrow, and the lines and names of the last step to each."""
    session = Session(tree.place.store, ANNA)
    part = session.related(given, **{"types": ["imports"], **asked})  # type: ignore[arg-type]
    return {f"{_way(page)}{page.path}": _names(page) for page in part.items}


def _way(page: RelatedPage) -> str:
    return {"out": "→", "in": "←"}[page.via[-1].direction]


def _names(page: RelatedPage) -> list[tuple[int, str]]:
    edge = page.via[-1]
    assert isinstance(edge, ImportView)
    return [(named.line, named.target) for named in edge.imports]


def test_a_source_is_related_to_what_it_imports_and_to_who_imports_it(quay: SourceTree) -> None:
    told = [(2, "quay.tides.high"), (2, "quay.tides.low")]
    assert related(quay, "quay/harbour.py") == {
        "→quay/tides.py": told,
        "→quay/__init__.py": [(3, ".missing")],
    }
    assert related(quay, "quay/tides.py") == {"←quay/harbour.py": told}
    assert related(quay, "quay/tides.py", direction="out") == {}
    assert related(quay, "quay/tides.py", types=["cites"]) == {}


def test_a_file_that_is_added_later_is_what_older_ones_import(quay: SourceTree) -> None:
    assert related(quay, "web/a.ts") == {}
    quay.write("web/b.ts", "export const b = 1;\n")
    quay.write("quay/missing.py", "")
    quay.sync()
    assert related(quay, "web/a.ts") == {"→web/b.ts": [(1, "./b")]}
    assert related(quay, "quay/missing.py") == {"←quay/harbour.py": [(3, ".missing")]}
    (quay.path / "web/b.ts").unlink()
    quay.sync()
    assert related(quay, "web/a.ts") == {}


def test_what_was_imported_then_is_told_as_of_then(quay: SourceTree) -> None:
    quay.edit("quay/harbour.py", "from quay.tides import high, low as ebb", "import quay.more")
    quay.write("quay/more.py", "")
    quay.sync()
    then = Instant(quay.place.clock.time.microseconds)
    assert "→quay/tides.py" not in related(quay, "quay/harbour.py")
    (span,) = {h.valid_from for h in quay.symbols("high")}
    assert "→quay/tides.py" in related(quay, "quay/harbour.py", pins=Pins(as_of=span))
    assert "→quay/more.py" in related(quay, "quay/harbour.py", pins=Pins(as_of=then))


def test_a_symbol_is_related_to_what_its_own_text_needs(quay: SourceTree) -> None:
    quay.write("quay/dock.py", "from quay.harbour import enter\n")
    quay.write("quay/pier.py", "import quay.harbour\n\nquay.harbour.leave(1)\n")
    quay.sync()
    assert set(related(quay, "enter")) == {"→quay/tides.py", "←quay/dock.py"}
    assert set(related(quay, "leave", direction="in")) == {"←quay/pier.py"}
    frame = quay.symbol("enter").frame_id
    assert frame is not None
    assert related(quay, frame) == related(quay, "enter")
    quay.write("quay/other.py", "def enter():\n    pass\n")
    quay.sync()
    with pytest.raises(UsageError, match="2 symbols are called"):
        related(quay, "enter")
    with pytest.raises(NotFound):
        related(quay, "nobody")


def test_an_import_leads_to_the_definition_that_it_names(quay: SourceTree) -> None:
    session = Session(quay.place.store, ANNA)
    (page,) = session.related("quay/tides.py").items
    edge = page.via[0]
    assert isinstance(edge, ImportView)
    assert edge.imports[0].frame_id == quay.symbol("high").frame_id
    assert plain(edge)["type"] == "imports"  # type: ignore[index]


def test_imports_are_followed_further_and_found_by_a_graph_search(quay: SourceTree) -> None:
    quay.write("main.py", "from quay import harbour\n")
    quay.sync()
    assert "→quay/tides.py" in related(quay, "main.py", depth=2, direction="out")
    session = Session(quay.place.store, ANNA)
    found = session.search("main.py", mode="graph").results
    assert found[0].path == "quay/harbour.py"


def test_a_catalog_that_is_built_anew_says_the_same(quay: SourceTree) -> None:
    quay.edit("quay/harbour.py", "import os\n", "import os\nimport quay.tides\n")
    quay.sync()
    before = _rows(quay.place.store)
    assert before
    quay.place.store.reindex()
    assert _rows(quay.place.store) == before


def _rows(store: Store) -> list[tuple[object, ...]]:
    return store.catalog.query("SELECT * FROM import ORDER BY 1, 2, 3")


MADE = (
    "# Generated by the protocol buffer compiler.  DO NOT EDIT!\n\n\ndef tide_table():\n    pass\n"
)
WRITTEN = MADE.partition("\n")[2]


def test_generated_code_is_marked_everywhere_and_comes_later(quay: SourceTree) -> None:
    quay.write("a.py", MADE)
    quay.write("z.py", WRITTEN)
    quay.sync()
    session = Session(quay.place.store, ANNA)
    assert [hit.generated for hit in quay.symbols("tide_table")] == [None, True]
    found = session.search("tide_table").results
    assert {hit.path: hit.generated for hit in found} == {"a.py": True, "z.py": None}
    assert found[0].path == "z.py"
    assert session.manifest("a.py").generated
    assert session.manifest("z.py").generated is None
    frame = quay.symbols("tide_table")[1].frame_id
    assert frame is not None
    assert session.frame(frame).generated


def test_a_mark_that_comes_and_goes_leaves_an_index_as_if_built_anew(quay: SourceTree) -> None:
    quay.write("a.py", WRITTEN)
    quay.write("b.py", MADE)
    quay.sync()
    session = Session(quay.place.store, ANNA)
    assert session.search("tide_table").results[0].path == "a.py"
    quay.write("a.py", MADE)
    quay.write("b.py", WRITTEN)
    quay.sync()
    kept = [(hit.path, hit.kind, hit.score) for hit in session.search("tide_table").results]
    assert kept[0][0] == "b.py"
    quay.place.store.reindex()
    anew = [(hit.path, hit.kind, hit.score) for hit in session.search("tide_table").results]
    assert anew == kept
