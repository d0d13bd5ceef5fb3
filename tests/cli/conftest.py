"""Running the command line as people do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: exit code and both streams, as bytes."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def message(self) -> str:
        return self.err.decode()

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


class Terminal:
    """A folder to work in, with an environment of its own and no terminal attached."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[bytes]) -> None:
        self.folder = folder
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PCPFS_", "GIT_"))},
            "HOME": str(folder / "home"),
            "XDG_DATA_HOME": str(folder / "home" / "data"),
        }

    def run(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Outcome:
        """Run the real command in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-c", "from pcpfs.cli.main import run; run()", *arguments],
            input=stdin,
            capture_output=True,
            cwd=folder or self.folder,
            env={**self.environment, **(environment or {})},
            timeout=120,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    return Terminal(tmp_path / "work")
