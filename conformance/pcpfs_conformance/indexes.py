"""The contract of SearchIndex as pytest classes: subclass one and provide the fixture `engine`.

    class TestMine(DurableSearchIndexContract):
        @pytest.fixture
        def engine(self) -> SearchEngine:
            return my_engine

Every test opens indexes through the port alone and compares with an oracle of plain dictionaries
that shares nothing with any engine. `broken_promises` runs the tests without pytest, which is how
the mutants in `index_mutants` are shown to be found.
"""

from __future__ import annotations

import inspect
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from pcpfs.errors import Busy, Corrupt
from pcpfs.ports import FIELDS, AnalysedDocument, SearchEngine
from pcpfs_conformance.index_oracle import TERMS, Oracle, document


class SearchIndexContract:
    """What every index promises, whether it keeps anything or not."""

    def test_a_new_index_is_empty(self, engine: SearchEngine, tmp_path: Path) -> None:
        with closing(engine.open(tmp_path / "index")) as index:
            Oracle().check(index)

    def test_an_engine_names_itself_and_its_version(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        assert engine.name
        assert engine.version

    def test_documents_are_found_by_every_term_and_field(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        documents = [
            document("one", name={"alpha": 1, "=name": 1}, body={"alpha": 255, "beta": 3}),
            document(
                "two", 60, prose={"alphabet": 2, "数据": 1, "\U0001d518": 1}, title={"x" * 120: 1}
            ),
            document("three", path=dict.fromkeys(TERMS, 1)),
            document("a key with spaces, é and \t"),
        ]
        _updated_and_checked(engine, tmp_path, [(documents, [], "1")])

    def test_an_update_replaces_documents_of_the_same_key(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        first = [document("one", body={"alpha": 2}), document("two", body={"alpha": 1})]
        second = [document("one", 50, name={"beta": 1})]
        _updated_and_checked(engine, tmp_path, [(first, [], "1"), (second, [], "2")])

    def test_of_two_documents_with_one_key_the_last_counts(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        twice = [document("one", body={"alpha": 2}), document("one", body={"beta": 1})]
        _updated_and_checked(engine, tmp_path, [(twice, [], "1")])

    def test_removed_documents_leave_nothing_in_the_statistics(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        documents = [document(str(n), n + 1, body={"alpha": n + 1, "beta": 1}) for n in range(9)]
        steps = [(documents, [], "1"), ([], ["2", "5", "never there"], "2")]
        steps.append(([], [str(n) for n in range(9)], "3"))
        _updated_and_checked(engine, tmp_path, steps)

    def test_a_key_that_is_removed_and_given_anew_stays(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        first, second = document("one", body={"alpha": 1}), document("one", body={"beta": 1})
        _updated_and_checked(engine, tmp_path, [([first], [], "1"), ([second], ["one"], "2")])

    def test_an_update_may_change_the_stamp_alone(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        steps: list[Step] = [([], [], "first"), ([document("k", body={"a": 1})], [], "second")]
        _updated_and_checked(engine, tmp_path, [*steps, ([], [], "third")])

    def test_an_update_that_breaks_off_changes_nothing(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        with closing(engine.open(tmp_path / "index")) as index:
            oracle = Oracle()
            for target in (index, oracle):
                target.update([document("one", body={"alpha": 1})], [], "1")
            with pytest.raises(_BreaksOff):
                index.update(_breaking_off(), ["one"], "2")
            oracle.check(index)
            for target in (index, oracle):
                target.update([document("three", body={"beta": 1})], ["one"], "3")
            oracle.check(index)

    def test_many_small_updates_end_as_one_large_update(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        steps = [
            ([document(str(n % 37), body={TERMS[n % 11]: 1 + n % 5, "beta": 1})], [str(n % 23)], "")
            for n in range(150)
        ]
        _updated_and_checked(engine, tmp_path, steps, every=10)

    def test_terms_come_in_order_of_code_points(self, engine: SearchEngine, tmp_path: Path) -> None:
        with closing(engine.open(tmp_path / "index")) as index:
            index.update([document("one", body=dict.fromkeys(TERMS, 1))], [], "1")
            assert list(index.terms_from("")) == sorted(TERMS)
            assert list(index.terms_from("alpha")) == ["alpha", "alphabet"]
            assert list(index.terms_from("alphabets")) == []

    def test_a_term_is_taken_as_it_is(self, engine: SearchEngine, tmp_path: Path) -> None:
        with closing(engine.open(tmp_path / "index")) as index:
            index.update([document("one", body={"alpha": 1})], [], "1")
            for term in ("Alpha", "alph", "alpha ", "*", "", "a*", "\ud800", "al\0pha"):
                assert not index.postings(term).documents

    def test_closing_twice_is_no_error(self, engine: SearchEngine, tmp_path: Path) -> None:
        index = engine.open(tmp_path / "index")
        index.close()
        index.close()

    def test_any_course_of_updates_agrees_with_the_oracle(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        folders = (tmp_path / f"run{n}" for n in count())

        class Course(_Course):
            def __init__(self) -> None:
                super().__init__(engine, next(folders))

        run_state_machine_as_test(
            Course,
            settings=settings(
                max_examples=15,
                stateful_step_count=12,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


class DurableSearchIndexContract(SearchIndexContract):
    """What an index on disk promises besides."""

    def test_a_reopened_index_answers_as_before(self, engine: SearchEngine, tmp_path: Path) -> None:
        oracle = Oracle()
        for n in range(12):
            with closing(engine.open(tmp_path / "index")) as index:
                oracle.check(index)
                for target in (index, oracle):
                    new = document(f"{n % 5}", body={"alpha": n + 1})
                    target.update([new], [f"{n % 7}"], str(n))
        with closing(engine.open(tmp_path / "index")) as index:
            oracle.check(index)

    def test_a_reader_keeps_its_snapshot(self, engine: SearchEngine, tmp_path: Path) -> None:
        before = Oracle()
        with closing(engine.open(tmp_path / "index")) as writer:
            for target in (writer, before):
                target.update([document("one", body={"alpha": 1, "beta": 2})], [], "1")
            with closing(engine.open(tmp_path / "index")) as reader:
                for n in range(20):
                    writer.update([document(str(n), body={"alpha": 1})], ["one"], str(n))
                before.check(reader)

    def test_an_updating_reader_sees_what_others_wrote(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        oracle = Oracle()
        with (
            closing(engine.open(tmp_path / "index")) as first,
            closing(engine.open(tmp_path / "index")) as second,
        ):
            for n, index in enumerate([first, second, first, second]):
                for target in (index, oracle):
                    target.update([document(str(n), body={"alpha": n + 1})], [], str(n))
                oracle.check(index)

    def test_a_second_writer_is_told_that_the_index_is_busy(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        with (
            closing(engine.open(tmp_path / "index")) as first,
            closing(engine.open(tmp_path / "index")) as second,
        ):

            def meanwhile() -> Iterator[AnalysedDocument]:
                with pytest.raises(Busy):
                    second.update([document("two", body={"beta": 1})], [], "2")
                yield document("one", body={"alpha": 1})

            first.update(meanwhile(), [], "1")
            second.update([document("two", body={"beta": 1})], [], "2")
            assert second.documents().count == 2

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_a_killed_writer_leaves_one_whole_update(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        folder = tmp_path / "index"
        last = 0
        for delay in (0.02, 0.035, 0.05, 0.065, 0.08):
            _killed_after(delay, partial(_write_forever, engine, folder, last))
            with closing(engine.open(folder)) as index:
                last = int(index.stamp() or last)
                if index.stamp():
                    oracle = Oracle()
                    oracle.update(_version(last), [], str(last))
                    oracle.check(index)
        with closing(engine.open(folder)) as index:
            index.update(_version(last + 1), [], str(last + 1))
            files = sorted(folder.rglob("*"))
            index.update(_version(last + 2), [], str(last + 2))
            assert len(sorted(folder.rglob("*"))) == len(files)

    def test_files_that_were_cut_off_are_called_corrupt(
        self, engine: SearchEngine, tmp_path: Path
    ) -> None:
        whole = tmp_path / "whole"
        oracle = Oracle()
        with closing(engine.open(whole)) as index:
            for target in (index, oracle):
                target.update(_version(1), [], "1")
                target.update([document("more", body={"beta": 2})], ["3"], "2")
        files = [file for file in whole.rglob("*") if file.is_file() and file.stat().st_size]
        for number, file in enumerate(files):
            raw = file.read_bytes()
            for kind, spoilt in enumerate([raw[: len(raw) // 2], b"", bytes(40)]):
                folder = tmp_path / f"{number}-{kind}"
                shutil.copytree(whole, folder)
                (folder / file.relative_to(whole)).write_bytes(spoilt)
                _check_right_or_corrupt(engine, folder, oracle)


Step = tuple[Sequence[AnalysedDocument], Sequence[str], str]


def _updated_and_checked(
    engine: SearchEngine, tmp_path: Path, steps: Iterable[Step], every: int = 1
) -> None:
    with closing(engine.open(tmp_path / "index")) as index:
        oracle = Oracle()
        for number, (documents, removed, stamp) in enumerate(steps, 1):
            for target in (index, oracle):
                target.update(iter(documents), iter(removed), stamp)
            if number % every == 0:
                oracle.check(index)


class _BreaksOff(Exception):
    """Raised by a source of documents in the middle."""


def _breaking_off() -> Iterator[AnalysedDocument]:
    yield document("two", body={"beta": 1})
    raise _BreaksOff


_documents = st.builds(
    lambda key, factor, held: document(key, factor, **held),
    st.sampled_from(["one", "two", "three", "four", "ключ"]),
    st.sampled_from([100, 60]),
    st.dictionaries(
        st.sampled_from(FIELDS),
        st.dictionaries(st.sampled_from(TERMS), st.integers(1, 255), max_size=4),
        max_size=3,
    ),
)


class _Course(RuleBasedStateMachine):
    """Any updates in any order, now and then broken off; compared after each."""

    def __init__(self, engine: SearchEngine, folder: Path) -> None:
        super().__init__()
        self.index = engine.open(folder)
        self.oracle = Oracle()

    @rule(
        documents=st.lists(_documents, max_size=4),
        removed=st.lists(st.sampled_from(["one", "two", "three", "five"]), max_size=2),
        stamp=st.text(max_size=4),
    )
    def update(self, documents: list[AnalysedDocument], removed: list[str], stamp: str) -> None:
        for target in (self.index, self.oracle):
            target.update(documents, removed, stamp)

    @rule()
    def break_off(self) -> None:
        with pytest.raises(_BreaksOff):
            self.index.update(_breaking_off(), ["one"], "broken off")

    @invariant()
    def agree(self) -> None:
        self.oracle.check(self.index)

    def teardown(self) -> None:
        self.index.close()


def _version(number: int) -> list[AnalysedDocument]:
    return [document(str(n), body={"alpha": 1, f"v{number}": n + 1}) for n in range(20)]


def _write_forever(engine: SearchEngine, folder: Path, start: int) -> None:
    index = engine.open(folder)
    for number in count(start + 1):
        index.update(_version(number), [], str(number))


def _killed_after(seconds: float, run: Callable[[], None]) -> None:
    """Run in a child process that is killed, as by a power cut, wherever it is then."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        run()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def _check_right_or_corrupt(engine: SearchEngine, folder: Path, oracle: Oracle) -> None:
    try:
        with closing(engine.open(folder)) as index:
            oracle.check(index)
    except Corrupt:
        pass


def broken_promises(contract: SearchIndexContract, engine: SearchEngine, folder: Path) -> list[str]:
    """The names of the contract's tests that this engine fails."""
    failed = []
    for name, test in inspect.getmembers(contract, inspect.ismethod):
        if name.startswith("test_"):
            try:
                test(engine, folder / name)
            except (Exception, pytest.fail.Exception):
                failed.append(name)
    return failed
