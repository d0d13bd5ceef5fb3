"""Both ledgers under the contract, and the mutants that it must find."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pcpfs_conformance.ledger import LedgerBackend, LedgerContract, broken_promises
from pcpfs_conformance.ledger_faithful import Faithful, Mutated
from pcpfs_conformance.ledger_mutants import MUTANTS

from tests.ledger.backends import MemoryBackend, StoreBackend


class TestMemory(LedgerContract):
    @pytest.fixture
    def backend(self) -> LedgerBackend:
        return MemoryBackend()


class TestStore(LedgerContract):
    @pytest.fixture
    def backend(self, empty_store: Path, tmp_path: Path) -> Iterator[LedgerBackend]:
        path = tmp_path / "store"
        shutil.copytree(empty_store, path)
        backend = StoreBackend(path)
        yield backend
        for store in backend.stores:
            store.close()


class _WithoutChance(LedgerContract):
    """The contract without generated texts: a mutant must fall by a test with a name."""

    test_no_text_reaches_another_goal = None  # type: ignore[assignment]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_every_mutant_is_caught_by_exactly_its_test(mutant: type[Faithful]) -> None:
    found = broken_promises(_WithoutChance(), Mutated.of(MemoryBackend, mutant))
    assert found == [mutant.caught_by]


def test_a_right_ledger_breaks_no_promise() -> None:
    assert broken_promises(_WithoutChance(), Mutated.of(MemoryBackend, Faithful)) == []


def test_the_mutants_that_the_specification_names_are_there_and_every_test_has_one() -> None:
    names = {mutant.__name__ for mutant in MUTANTS}
    named = {"LosesOneInACrash", "ExceedsTheBudgetByOne", "LeaksAcrossGoals", "Reorders"}
    assert named <= names
    tests = {name for name in dir(_WithoutChance) if name.startswith("test_")}
    without = tests - {mutant.caught_by for mutant in MUTANTS}
    assert without == {"test_no_text_reaches_another_goal"}
