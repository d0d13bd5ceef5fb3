"""All engines under the contract, the mutants it must find, and what is one engine's alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pcpfs_conformance.index_mutants import MUTANTS, Faithful, Mutated
from pcpfs_conformance.index_oracle import Oracle, document
from pcpfs_conformance.indexes import (
    DurableSearchIndexContract,
    SearchIndexContract,
    broken_promises,
)
from pcpfs_index import fts5_engine
from pcpfs_index.fts5_engine import engine as fts5
from pcpfs_index.memory import engine as memory
from pcpfs_index.whoosh_engine import engine as whoosh
from whoosh.index import open_dir  # type: ignore[import-untyped]

from pcpfs.errors import Corrupt, Unavailable
from pcpfs.ports import Expunging, SearchEngine


class TestMemory(SearchIndexContract):
    @pytest.fixture
    def engine(self) -> SearchEngine:
        return memory


class TestWhoosh(DurableSearchIndexContract):
    @pytest.fixture
    def engine(self) -> SearchEngine:
        return whoosh


class TestFts5(DurableSearchIndexContract):
    @pytest.fixture
    def engine(self) -> SearchEngine:
        return fts5


class _WithoutChance(SearchIndexContract):
    """The contract without the generated courses: a mutant must fall by a test with a name."""

    test_any_course_of_updates_agrees_with_the_oracle = None  # type: ignore[assignment]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_every_mutant_is_found(mutant: type[Faithful], tmp_path: Path) -> None:
    assert broken_promises(_WithoutChance(), Mutated(memory, mutant), tmp_path)


def test_a_right_engine_breaks_no_promise(tmp_path: Path) -> None:
    assert broken_promises(_WithoutChance(), Mutated(memory, Faithful), tmp_path) == []


def test_the_memory_engine_refuses_what_is_against_the_contract(tmp_path: Path) -> None:
    index = memory.open(tmp_path)
    for wrong in (
        document("", body={"alpha": 1}),
        document("one", 0, body={"alpha": 1}),
        document("one", body={"alpha": 0}),
        document("one", body={"": 1}),
    ):
        with pytest.raises(ValueError, match=r"needs|posting"):
            index.update([wrong], [], "1")
    assert index.stamp() == ""


class TestWhooshFolder:
    def test_stock_whoosh_reads_our_index(self, tmp_path: Path) -> None:
        with closing(whoosh.open(tmp_path / "index")) as index:
            index.update(
                [document(f"k{n}", body={"alpha": 1 + n % 9}) for n in range(300)], [], "1"
            )
            index.update([document("k7", name={"beta": 2})], ["k9"], "2")
        with closing(open_dir(str(tmp_path / "index"), indexname="pcpfs").reader()) as reader:
            found = list(reader.postings("term", "alpha").all_ids())
            keys = reader.column_reader("key")
            expected = {f"k{n}" for n in range(300)} - {"k7", "k9"}
            assert {keys[number].decode() for number in found} == expected
            assert reader.postings("term", "beta").value() == b"\2" + bytes(7)

    def test_a_folder_that_others_can_write_is_refused(self, tmp_path: Path) -> None:
        folder = tmp_path / "index"
        whoosh.open(folder).close()
        folder.chmod(0o777)
        with pytest.raises(Corrupt, match="by others"):
            whoosh.open(folder)

    def test_a_link_in_place_of_the_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "index").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(Corrupt, match="no folder of its own"):
            whoosh.open(tmp_path / "index")

    def test_a_new_folder_is_for_this_user_only(self, tmp_path: Path) -> None:
        whoosh.open(tmp_path / "index").close()
        assert (tmp_path / "index").stat().st_mode & 0o077 == 0

    def test_segments_stay_few_and_old_files_go(self, tmp_path: Path) -> None:
        oracle = Oracle()
        with closing(whoosh.open(tmp_path / "index")) as index:
            for n in range(120):
                for target in (index, oracle):
                    target.update([document(str(n), body={"alpha": 1, f"t{n}": 1})], [], str(n))
            oracle.check(index)
        assert len(list((tmp_path / "index").glob("*.trm"))) <= 6
        assert len(list((tmp_path / "index").glob("*.toc"))) == 1


class TestFts5Folder:
    def test_an_sqlite_without_it_is_told_in_plain_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def without(module: str) -> sqlite3.Connection:
            connection = sqlite3.Connection(module)
            connection.set_authorizer(
                lambda action, *_: (
                    sqlite3.SQLITE_DENY
                    if action == sqlite3.SQLITE_CREATE_VTABLE
                    else sqlite3.SQLITE_OK
                )
            )
            return connection

        fts5_engine._check_fts5.cache_clear()
        monkeypatch.setattr(fts5_engine.sqlite3, "connect", without)
        with pytest.raises(Unavailable, match=r'has no FTS5 .* set index = "whoosh"'):
            fts5.open(tmp_path / "index")

    def test_segments_stay_few_and_old_files_go(self, tmp_path: Path) -> None:
        oracle = Oracle()
        with closing(fts5.open(tmp_path / "index")) as index:
            for n in range(60):
                for target in (index, oracle):
                    target.update([document(str(n), body={"alpha": 1, f"t{n}": 1})], [], str(n))
            oracle.check(index)
        names = sorted(file.name.partition("-")[0] for file in (tmp_path / "index").iterdir())
        assert names.count("segment") <= 6
        assert [name for name in names if name != "segment"] == ["contents", "write.lock"]

    def test_terms_that_its_tokenizer_would_break_up_stay_whole(self, tmp_path: Path) -> None:
        odd = ["A", "a b", "\0", "\x80", "\x800041", "\ud800", "x" * 9000, *map(chr, range(128))]
        with closing(fts5.open(tmp_path)) as index:
            index.update([document("one", body=dict.fromkeys(odd, 3))], [], "1")
            assert list(index.terms_from("")) == sorted({*odd})
            assert all(index.postings(term).documents for term in odd)
            assert not index.postings("X" * 9000).documents

    def test_what_was_replaced_or_removed_earlier_is_gone_after_expunging(
        self, tmp_path: Path
    ) -> None:
        with closing(fts5.open(tmp_path)) as index:
            assert isinstance(index, Expunging)
            for word, count in (("heronold", 1), ("heronnew", 5)):
                kept = [document(f"kept{n}", body={"water": n + 1}) for n in range(9)]
                index.update([*kept, document("bird-key", body={word: count})], [], word)
            index.expunge(["bird-key"], "gone")
            assert index.documents().count == 9
            assert [number % 9 for number in index.postings("water").documents] == [*range(9)]
        raw = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert b"kept3" in raw
        assert b"heron" not in raw
        assert b"bird-key" not in raw
