"""Clones for every test that asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.merge.clones import Family


@pytest.fixture
def family(tmp_path: Path, empty_store: Path) -> Iterator[Family]:
    found = Family(tmp_path, empty_store)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def nothing_waits(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    """Readers go on with a warning where a merge cannot be concluded; here none may."""
    yield
    told = [record.getMessage() for record in caplog.get_records("call")]
    assert "asks_a_person" in request.fixturenames or told == []


@pytest.fixture
def asks_a_person() -> None:
    """This test is about something that waits for a person."""
