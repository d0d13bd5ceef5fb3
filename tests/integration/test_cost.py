"""What is not looked at, or did not change, costs nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from pcpfs.store.searches.index_process import IndexBeside
from pcpfs.store.searches.text_indexes import OVERLAID
from tests.integration.source_tree import SourceTree

ONE = "def f_{0}():\n    return {1}\n"


def pending(app: SourceTree) -> int:
    return len(app.place.store.catalog.query("SELECT 1 FROM pending"))


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def test_a_look_at_one_file_goes_through_no_whole_table(added: SourceTree) -> None:
    asked: set[str] = set()
    db = added.place.store.catalog.db
    added.edit("a.py", "return 2", "return 3")
    with added.sources() as sources:
        (root,) = sources.roots.named([])
        db.set_trace_callback(asked.add)
        done, _ = sources.look(root, {"a.py"})
        db.set_trace_callback(None)
    assert done.applied.changed == 1
    questions = [q for q in asked if q.startswith("SELECT") and " FROM page" in q]
    assert questions
    for question in questions:
        for *_, step in db.execute("EXPLAIN QUERY PLAN " + question):
            assert not step.startswith("SCAN"), question
            assert "(root_id=?)" not in step, question


def test_symbols_are_counted_without_looking_at_each(added: SourceTree) -> None:
    asked: list[str] = []
    db = added.place.store.catalog.db
    with added.sources() as sources:
        (root,) = sources.roots.named([])
        db.set_trace_callback(asked.append)
        files, symbols = sources.roots.counts(root.root_id)
        db.set_trace_callback(None)
    assert (files, symbols) == (2, 4)
    (question,) = [q for q in asked if " frame " in q]
    steps = [step for *_, step in db.execute("EXPLAIN QUERY PLAN " + question)]
    assert any("frame USING COVERING INDEX" in step for step in steps), steps


def test_a_sync_of_what_has_not_changed_imports_no_parser(added: SourceTree) -> None:
    added.place.store.commit_late()
    slow = ["multiprocessing", "importlib.metadata", "pcpfs_adapters", "whoosh", "watchdog"]
    arguments = ["-C", str(added.place.path), "sync"]
    program = (
        f"import sys; from pcpfs.cli.main import main; main({arguments!r}); "
        f"print([m for m in {slow!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stderr.strip() == b"[]"
    assert b"nothing has changed" in done.stdout


def test_a_save_writes_no_more_rows_after_many_others(added: SourceTree) -> None:
    db, written = added.place.store.catalog.db, []
    for number in range(10):
        added.write("b.py", ONE.format("same", number))
        before = db.total_changes
        assert added.report().changed == 1
        written.append(db.total_changes - before)
    assert written[9] == written[3]


def test_many_changes_of_a_look_are_indexed_beside(app: SourceTree) -> None:
    for number in range(OVERLAID + 10):
        app.write(f"{number}.py", ONE.format(number, 1))
    app.add()
    with app.sources() as sources:
        (root,) = sources.roots.named([])
        app.write("0.py", ONE.format(0, 2))
        sources.look(root, {"0.py"})
        few = pending(app)
        sources.rest()
        assert 0 < few == pending(app)
        for number in range(OVERLAID + 10):
            app.write(f"{number}.py", ONE.format(number, "later"))
        sources.look(root, None)
        until(lambda: pending(app) == 0)
        sources.rest()
    assert len(app.place.session.search("later", limit=200).results) == OVERLAID + 10


def test_what_comes_while_the_index_process_ends_is_taken_in_by_another(app: SourceTree) -> None:
    app.write("a.py")
    app.add()
    beside = IndexBeside(app.place.path)
    app.place.write("one\n", path="x.md")
    beside.look()
    beside.rest()
    app.place.write("two\n", path="y.md")
    beside.look()
    until(lambda: beside.rest() is None and pending(app) == 0)
    beside.finish()
    beside.finish()
