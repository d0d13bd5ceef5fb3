"""Running the command line as people do."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pcpfs.cli.main import main

COMMAND = (sys.executable, "-c", "from pcpfs.cli.main import run; run()")


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
    """A folder to work in; no variable of pcpfs or git is set, and HOME is empty."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[bytes]
    ) -> None:
        self.folder = folder
        self._patch = patch
        self._capture = capture
        home = folder.parent / "home"
        home.mkdir()
        folder.mkdir()
        patch.chdir(folder)
        for name in [n for n in os.environ if n.startswith(("PCPFS_", "GIT_"))]:
            patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_DATA_HOME", str(home / "data"))

    def run(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        """Run a command in this process."""
        with self._patch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            self._capture.readouterr()
            code = main(arguments)
        out, err = self._capture.readouterr()
        return Outcome(code, out, err)

    def process(
        self, *arguments: str | bytes, stdin: bytes = b"", folder: str = ".", **environment: str
    ) -> Outcome:
        """Run a command in a process of its own, as the console script does."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.folder / folder,
            env={**os.environ, **environment},
            timeout=120,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def go_to(self, folder: str) -> None:
        """Change the working folder."""
        self.folder = self.folder / folder
        self._patch.chdir(self.folder)

    def write(self, path: str, content: bytes | str) -> Path:
        """Make a file in the folder."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file
