"""What the README tells a newcomer to type works as it stands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_walk_through_runs_line_by_line(tmp_path: Path) -> None:
    project = tmp_path / "my projects" / "tidebook"
    shutil.copytree(CHECKOUT / "sample_repo", project)
    walk = [block for block in blocks("sh") if "pcpfs" in block and "make " not in block]
    script = "set -eu\n" + "".join(walk)
    (tmp_path / "bin").mkdir()
    install(tmp_path / "bin" / "pcpfs", "-m pcpfs")
    install(tmp_path / "bin" / "python3")
    environment = {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Almanac.next_high_water" in done.stdout
    assert "suspect" in done.stdout
    assert "High water is searched over 25 hours, then there is none." in done.stdout
    assert "the store knew nothing then" in done.stdout
    assert transcript() in re.sub(r"\b(pg|fr)_[0-9a-z]{26}", r"\1_…", done.stdout)
    run_the_library_example(project, environment)


def install(command: Path, arguments: str = "") -> None:
    """A command that runs this Python with the packages of this test, whatever the environment."""
    packages = os.pathsep.join(filter(None, sys.path))
    command.write_text(
        f"#!/bin/sh\nPYTHONPATH='{packages}' exec '{sys.executable}' {arguments} \"$@\"\n"
    )
    command.chmod(0o755)


def transcript() -> str:
    """What the README shows of a composed prompt with its audit."""
    (found,) = [block for block in blocks("text") if "<frame " in block]
    return found


def run(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def run_the_library_example(project: Path, environment: dict[str, str]) -> None:
    (example,) = blocks("python")
    done = run([sys.executable, "-c", example], project, environment)
    assert done.returncode == 0, done.stderr
    assert "High water" in done.stdout


def test_the_folders_and_commands_it_names_exist() -> None:
    for name in ("adapters", "index", "conformance", "tests", "benchmarks", "sample_repo", "docs"):
        assert (CHECKOUT / name).is_dir()
    for link in re.findall(r"\]\((docs/[^)]+|benchmarks)\)", README):
        assert (CHECKOUT / link).exists(), link
    commands = {path.stem for path in (CHECKOUT / "pcpfs/cli/commands").iterdir()}
    told = set(re.findall(r"pcpfs ([a-z]+) ", "".join(blocks("sh"))))
    assert told <= commands
