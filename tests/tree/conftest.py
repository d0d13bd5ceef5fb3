"""Hands to work with in an empty store."""

from __future__ import annotations

import pytest

from tests.store.workplace import Workplace
from tests.tree.hands import Hands


@pytest.fixture
def hands(place: Workplace) -> Hands:
    return Hands(place)
