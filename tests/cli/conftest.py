"""A terminal for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Terminal


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Terminal:
    return Terminal(tmp_path / "work", monkeypatch, capfdbinary)
