"""Somebody who types what a document says, in a copy of the sample project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A home of their own, `pcpfs` and `python3` in PATH, and the project to work in."""

    project: Path
    commands: Path
    environment: dict[str, str]

    @classmethod
    def arrives(cls, folder: Path) -> Newcomer:
        project = folder / "my projects" / "tidebook"
        shutil.copytree(CHECKOUT / "sample_repo", project)
        commands = folder / "bin"
        commands.mkdir()
        _install(commands / "pcpfs", "-m pcpfs")
        _install(commands / "python3")
        environment = {
            "PATH": f"{commands}:{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        return cls(project, commands, environment)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def types(self, script: str) -> str:
        """What a shell that stops at the first failure prints; fails if it does."""
        done = self.run("sh", "-c", "set -eu\n" + script)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _install(command: Path, arguments: str = "") -> None:
    """A command that runs this Python with the packages of this test, whatever the environment."""
    packages = os.pathsep.join(filter(None, sys.path))
    command.write_text(
        f"#!/bin/sh\nPYTHONPATH='{packages}' exec '{sys.executable}' {arguments} \"$@\"\n"
    )
    command.chmod(0o755)


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks of Markdown in these languages, in order."""
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
