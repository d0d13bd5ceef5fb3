"""A map of a source: what matters in it, within a budget, as the store has it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Pins, plain
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.source_maps import SourceMap
from pcpfs.store.catalogs.rows import GroundRow
from pcpfs.store.layout import payload_file
from pcpfs.store.searches.source_map import MOST_TOKENS, source_map
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.fsck import fsck
from tests.integration.source_tree import SourceTree
from tests.store.workplace import draft

CORE = '''\
class Harbour:
    """Where ships lie."""

    def open_gate(self, ship):
        return ship

    def close_gate(self):
        return None


def find_harbour(name):
    return Harbour()


def forgotten():
    return 0
'''
USER = """\
from core import Harbour, find_harbour


def enter_{0}(ship):
    return find_harbour("x").open_gate(ship)
"""
TEST = """\
from core import Harbour


def test_it():
    assert Harbour().close_gate() is None
"""


@pytest.fixture
def mapped(app: SourceTree) -> SourceTree:
    """A module that two others use, a test, a manual."""
    app.write("core.py", CORE)
    app.write("ferry.py", USER.format("ferry"))
    app.write("yacht.py", USER.format("yacht"))
    app.write("tests/test_core.py", TEST)
    app.write("MANUAL.md", "# The manual\n\n## Ships\n\nfind_harbour\n")
    app.add()
    return app


def drawn(app: SourceTree, budget: int = 500, **given: object) -> SourceMap:
    made = source_map(app.place.session, budget=budget, **given)  # type: ignore[arg-type]
    assert made.token_count == -(-len(made.text.encode()) // 4) <= budget
    return made


def paths(made: SourceMap) -> list[str]:
    return [file.path for file in made.files]


def names(made: SourceMap) -> set[str]:
    return {symbol.qualified_name for file in made.files for symbol in file.symbols}


class TestTheMap:
    """What it shows."""

    def test_what_others_refer_to_comes_first(self, mapped: SourceTree) -> None:
        made = drawn(mapped, source="app")
        assert paths(made)[0] == "core.py"
        assert paths(made)[-1] == "MANUAL.md"
        assert names(made) >= {"Harbour", "find_harbour", "forgotten", "enter_ferry", "test_it"}
        assert made.left_out == {"files": 0, "symbols": 0}
        assert made.text.startswith(
            "core.py\n    1 class Harbour\n    4   def open_gate(self, ship)\n"
        )

    def test_a_small_budget_shows_what_matters_most(self, mapped: SourceTree) -> None:
        made = drawn(mapped, 18)
        assert made.text.startswith("core.py\n")
        assert "find_harbour" in names(made)
        assert "forgotten" not in names(made)
        assert made.left_out["symbols"] > 0

    def test_it_is_the_same_again_and_in_a_new_catalog(self, mapped: SourceTree) -> None:
        first = plain(drawn(mapped))
        kept = mapped.place.store.catalog.query("SELECT count(*) FROM mention")
        assert kept == [(4,)]
        assert plain(drawn(mapped)) == first
        mapped.place.store.reindex()
        assert mapped.place.store.catalog.query("SELECT count(*) FROM mention") == [(0,)]
        assert plain(drawn(mapped)) == first
        assert fsck(mapped.place.store).ok

    def test_a_save_makes_one_file_be_read_again(self, mapped: SourceTree) -> None:
        drawn(mapped)
        before = set(mapped.place.store.catalog.query("SELECT * FROM mention"))
        mapped.edit("ferry.py", "enter_ferry", "leave_ferry")
        mapped.sync()
        assert "leave_ferry" in names(drawn(mapped))
        after = set(mapped.place.store.catalog.query("SELECT * FROM mention"))
        assert len(after - before) == 1
        assert len(after) == len(before)

    def test_ranks_are_kept_until_the_source_changes(self, mapped: SourceTree) -> None:
        store, count = mapped.place.store, "SELECT count(*) FROM ground"
        first = drawn(mapped, 60)
        assert store.catalog.query(count) == [(1,)]
        assert drawn(mapped, 60) == first
        focused = drawn(mapped, 60, focus=["yacht.py"])
        mapped.place.session.write("project:a", draft("# Another page"))
        assert store.catalog.query(count) == [(1,)]
        mapped.edit("yacht.py", "enter_yacht", "leave_yacht")
        mapped.sync()
        assert store.catalog.query(count) == [(0,)]
        changed = drawn(mapped, 60, focus=["yacht.py"])
        assert changed.text == focused.text.replace("enter_yacht", "leave_yacht")
        store.reindex()
        assert drawn(mapped, 60, focus=["yacht.py"]) == changed

    def test_nothing_is_kept_of_a_state_that_is_over(self, mapped: SourceTree) -> None:
        catalog = mapped.place.store.catalog
        row = GroundRow("root", "project:a", "1", b"")
        catalog.keep_ground(row, (), catalog.generation - 1)
        assert catalog.query("SELECT * FROM ground") == []

    def test_what_cannot_be_read_is_read_again_next_time(self, mapped: SourceTree) -> None:
        whole = drawn(mapped)
        ferry = mapped.place.session.manifest("ferry.py")
        assert ferry.payload is not None
        file = mapped.place.path / payload_file(Namespace("project:a"), ferry.payload.ref)
        raw = file.read_bytes()
        mapped.place.store.reindex()
        file.unlink()
        assert drawn(mapped) != whole
        file.write_bytes(raw)
        assert drawn(mapped) == whole

    def test_it_waits_for_nobody_who_writes(self, mapped: SourceTree) -> None:
        with Store.open(mapped.place.path) as other, other.catalog.writing():
            made = drawn(mapped)
            for table in ("mention", "ground"):
                assert mapped.place.store.catalog.query(f"SELECT * FROM {table}") == []
        assert drawn(mapped) == made
        assert len(mapped.place.store.catalog.query("SELECT * FROM mention")) == 4

    def test_what_is_gone_or_erased_leaves_nothing(self, mapped: SourceTree) -> None:
        drawn(mapped)
        page = mapped.place.session.resolve("ferry.py").page
        mapped.place.session.delete(page, "wrong", cascade=True)
        assert "ferry.py" not in paths(drawn(mapped))
        assert (
            mapped.place.store.catalog.query("SELECT * FROM mention WHERE page_id = ?", (page,))
            == []
        )

    def test_names_of_one_statement_share_its_line(self, app: SourceTree) -> None:
        app.write("a.py", "EBB, FLOW, SLACK = 0, 1, 2\n\n\nclass Tide:\n    pass\n")
        app.add()
        made = drawn(app)
        assert made.text == "a.py\n    1 EBB, FLOW, SLACK = 0, 1, 2\n    4 class Tide\n"
        assert names(made) == {"EBB", "FLOW", "SLACK", "Tide"}

    def test_names_that_drive_a_terminal_are_escaped(self, app: SourceTree) -> None:
        app.write("a\x1b[31m\n.py", "def find(a='\x1b[2J'): pass\n")
        app.add()
        made = drawn(app)
        assert "\x1b" not in made.text
        assert len(made.text.splitlines()) == 2

    @given(budget=st.integers(1, 150))
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_any_budget_holds_and_answers_are_equal(self, mapped: SourceTree, budget: int) -> None:
        made = drawn(mapped, budget)
        assert drawn(mapped, budget) == made
        whole = drawn(mapped)
        assert set(made.text.splitlines()) <= set(whole.text.splitlines())
        assert len(made.text.encode()) > 4 * budget - 60 or made.text == whole.text


def test_languages_of_a_family_refer_to_each_other(app: SourceTree) -> None:
    app.write("view.tsx", "export function showTide() { return <p>{readTide()}</p> }\n")
    app.write(
        "read.ts", "export function forgotten() {}\nexport function readTide() { return 1 }\n"
    )
    app.add()
    assert drawn(app, 16).text.startswith("read.ts\n    2 export function readTide()\n")


class TestFocus:
    """What is asked for, and what is around it, comes first."""

    @pytest.mark.parametrize(
        ("focus", "first"),
        [
            ("yacht.py", "yacht.py"),
            ("tests", "tests/test_core.py"),
            ("test_core.py", "tests/test_core.py"),
            ("enter_ferry", "ferry.py"),
            ("Harbour.open_gate()", "core.py"),
            ("where ships lie", "core.py"),
            ("the manual", "MANUAL.md"),
        ],
    )
    def test_a_path_a_symbol_or_words(self, mapped: SourceTree, focus: str, first: str) -> None:
        assert paths(drawn(mapped, focus=[focus]))[0] == first

    def test_several(self, mapped: SourceTree) -> None:
        made = drawn(mapped, focus=["enter_ferry", "enter_yacht"])
        assert set(paths(made)[:2]) == {"ferry.py", "yacht.py"}
        assert made.focus == ("enter_ferry", "enter_yacht")

    def test_one_that_is_not_there_is_said(self, mapped: SourceTree) -> None:
        with pytest.raises(NotFound, match="zeppelin"):
            drawn(mapped, focus=["zeppelin"])


class TestRules:
    """Scopes, times, and what is refused."""

    def test_as_of_shows_what_was_true_and_where_it_stood(self, mapped: SourceTree) -> None:
        before = Instant(mapped.place.clock.time.microseconds)
        mapped.edit("core.py", "class Harbour", "import os\n\n\nclass Harbour")
        mapped.edit("core.py", "def forgotten", "def remembered")
        mapped.sync()
        now, then = drawn(mapped), drawn(mapped, pins=Pins(as_of=before))
        known = drawn(mapped, pins=Pins(recorded_as_of=before))
        assert "remembered" in names(now)
        assert "    4 class Harbour" in now.text
        for made in (then, known):
            assert "forgotten" in names(made)
            assert "remembered" not in names(made)
            assert "    1 class Harbour" in made.text
        assert then.as_of == before

    def test_a_time_before_all_says_what_is_the_first_one(self, mapped: SourceTree) -> None:
        long_ago = Pins(as_of=Instant(0))
        made = drawn(mapped, pins=long_ago)
        held = [span for (span,) in mapped.place.store.catalog.query("SELECT valid_from FROM span")]
        assert made.text == ""
        assert made.earliest == Instant(min(held))
        assert drawn(mapped, pins=Pins(as_of=made.earliest)).earliest is None
        for source in (None, "app"):
            with pytest.raises(NotFound, match=r"knew no source 'app' .* taken in at 20"):
                source_map(mapped.place.session, source, pins=Pins(recorded_as_of=Instant(0)))

    def test_a_source_that_may_not_be_read_is_like_none(self, mapped: SourceTree) -> None:
        ben = Session(mapped.place.store, Principal("user:ben"))
        with pytest.raises(NotFound) as forbidden:
            source_map(ben, "app")
        with pytest.raises(NotFound) as missing:
            source_map(ben, "nowhere")
        assert str(forbidden.value).replace("app", "nowhere") == str(missing.value)
        with pytest.raises(NotFound, match="no source"):
            source_map(ben)
        mapped.place.session.governing.grant("project:a", Principal("user:ben"), ["read"])
        assert source_map(ben, "app").text == drawn(mapped).text

    def test_what_is_not_clear_is_asked_back(self, mapped: SourceTree) -> None:
        mapped.path = mapped.path / "tests"
        mapped.add(scope="project:b", name="other")
        with pytest.raises(UsageError, match="app, other"):
            drawn(mapped)
        assert paths(drawn(mapped, source="other")) == ["test_core.py"]

    @pytest.mark.parametrize("budget", [0, -1, MOST_TOKENS + 1])
    def test_a_budget_that_is_none(self, mapped: SourceTree, budget: int) -> None:
        with pytest.raises(UsageError, match="budget"):
            source_map(mapped.place.session, budget=budget)
