"""Any row of operations: the store agrees with the store in memory, through reopening, crashes,
rebuilding, erasures, grants that come and go, and clones that go their own way and are united."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.walking import Walk

WALKS, STEPS = 8, 640


@pytest.mark.parametrize("seed", range(WALKS))
def test_any_row_of_operations_agrees_with_the_model(
    empty_store: Path, tmp_path: Path, seed: int
) -> None:
    """More than 5,000 steps in all, the same ones every time."""
    Walk(empty_store, tmp_path, seed).run(STEPS)
