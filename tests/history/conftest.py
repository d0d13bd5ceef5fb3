"""A project beside the store of every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.history.branching import fork
from tests.history.project import Project
from tests.store.workplace import Workplace


@pytest.fixture
def project(place: Workplace, tmp_path: Path) -> Project:
    """An empty repository called `app`."""
    project = Project(tmp_path / "app", place)
    project.begin()
    return project


@pytest.fixture
def forked(project: Project) -> Project:
    return fork(project)
