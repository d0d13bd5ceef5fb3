"""Both stores under the rules of PCP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from pcpfs_conformance.memory_store import MemoryBackend
from pcpfs_conformance.store_mutants import MUTANTS, Mutant
from pcpfs_conformance.store_suite import broken_rules, checks, judged
from pcpfs_conformance.stores import RULES, StoreBackend, StoreContract

from pcpfs.cli.fresh import empty_store, fresh_store
from pcpfs.cli.inspecting import suite


class TestMemory(StoreContract):
    @pytest.fixture
    def backend(self) -> StoreBackend:
        return MemoryBackend()


class TestStore(StoreContract):
    """Ours, each session in a store that is opened anew."""

    @pytest.fixture
    def backend(self, owners_store: Path) -> Iterator[StoreBackend]:
        with fresh_store(owners_store) as backend:
            yield backend


@pytest.fixture(scope="session")
def owners_store() -> Iterator[Path]:
    """An empty store of the contract's owner, to be copied."""
    with empty_store() as path:
        yield path


def test_every_rule_has_one_check() -> None:
    assert list(checks(StoreContract())) == list(RULES)
    names = [name for name in dir(StoreContract) if name.startswith("test_")]
    assert len(names) == len(RULES)


def test_every_rule_has_a_mutant_of_its_own() -> None:
    assert sorted(mutant.breaks for mutant in MUTANTS) == sorted(RULES)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_found_by_the_check_of_its_rule_alone(mutant: type[Mutant]) -> None:
    assert broken_rules(lambda: MemoryBackend(mutant)) == [mutant.breaks]


def test_a_right_store_breaks_no_rule() -> None:
    assert broken_rules(MemoryBackend) == []


def test_what_a_check_says_tells_the_rule_and_the_trouble() -> None:
    contract = StoreContract()
    for rule, check in checks(contract).items():
        assert judged(rule, check, MemoryBackend()).outcome == "pass"
    (wrong,) = (mutant for mutant in MUTANTS if mutant.breaks == "PCP-R2")
    verdict = judged("PCP-R2", checks(contract)["PCP-R2"], MemoryBackend(wrong))
    assert (verdict.id, verdict.outcome) == ("PCP-R2", "fail")
    assert verdict.evidence.startswith("a read by page gives the latest and says which")


def test_the_installed_suite_reports_by_rule_in_order() -> None:
    found = suite("store")(lambda: nullcontext(MemoryBackend()))
    assert [check.id for check in found.checks] == list(RULES)
    assert found.ok
    wrong = suite("store")(lambda: nullcontext(MemoryBackend(MUTANTS[0])))
    assert [c.id for c in wrong.checks if c.outcome == "fail"] == [MUTANTS[0].breaks]
