"""`make` as a newcomer meets it: any folder name, and a clear word when Python is too old."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
TOO_OLD = '#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n'
NEW_ENOUGH = """#!/bin/sh
case "$1" in
  --version) echo "Python 3.11.2" ;;
  -m) mkdir -p .venv/bin; cp "$0" .venv/bin/python; cp "$0" .venv/bin/pcpfs; echo "ran $*" ;;
  demo) echo "demo in $PWD" ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout in a folder with spaces, and a `bin` beside it with the few commands needed."""
    (tmp_path / "bin").mkdir()
    for name in ("sh", "make", "test", "cat", "pwd", "rm", "touch", "mkdir", "cp"):
        found = shutil.which(name)
        assert found is not None, f"{name} is not installed"
        (tmp_path / "bin" / name).symlink_to(found)
    folder = tmp_path / "a folder, with 'spaces'"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(CHECKOUT / name, folder)
    return folder


def make(folder: Path, python: str, *goals: str) -> subprocess.CompletedProcess[str]:
    """Run make where this script is the only `python3` there is."""
    interpreter = folder.parent / "bin" / "python3"
    interpreter.write_text(python, encoding="utf-8")
    interpreter.chmod(0o755)
    return subprocess.run(
        ["make", *goals],
        cwd=folder,
        env={"PATH": str(folder.parent / "bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_python_that_is_too_old_is_named(folder: Path) -> None:
    answer = make(folder, TOO_OLD, "demo")
    assert answer.returncode != 0
    assert "needs Python 3.11 or newer; python3 is: Python 3.9.2" in answer.stderr
    assert "make PYTHON=" in answer.stderr


def test_demo_sets_up_what_it_needs_and_no_more(folder: Path) -> None:
    answer = make(folder, NEW_ENOUGH, "demo")
    assert answer.returncode == 0, answer.stderr
    assert "ran -m venv --clear .venv" in answer.stdout
    assert "[dev]" not in answer.stdout
    assert f"demo in {folder}" in answer.stdout


def test_a_second_demo_installs_nothing(folder: Path) -> None:
    make(folder, NEW_ENOUGH, "demo")
    assert "pip" not in make(folder, NEW_ENOUGH, "demo").stdout


def test_new_requirements_make_a_new_environment(folder: Path) -> None:
    make(folder, NEW_ENOUGH, "demo")
    later = (folder / ".venv/runtime").stat().st_mtime + 5
    os.utime(folder / "pyproject.toml", (later, later))
    assert "ran -m venv --clear .venv" in make(folder, NEW_ENOUGH, "demo").stdout


def test_a_moved_checkout_makes_a_new_environment(folder: Path) -> None:
    make(folder, NEW_ENOUGH, "demo")
    moved = folder.rename(folder.with_name("moved"))
    assert "ran -m venv --clear .venv" in make(moved, NEW_ENOUGH, "demo").stdout


def test_the_whole_check_fails_when_one_step_fails(folder: Path) -> None:
    shutil.copytree(CHECKOUT / ".ci", folder / ".ci")
    (folder.parent / "bin" / "dirname").symlink_to(shutil.which("dirname") or "dirname")
    make(folder, NEW_ENOUGH, ".venv/development")
    python = folder / ".venv/bin/python"
    python.write_text('#!/bin/sh\necho "ran $*"\n[ "$2" != ruff ]\n', encoding="utf-8")
    shutil.copy(python, folder / ".venv/bin/lint-imports")
    answer = subprocess.run(
        [folder / ".ci/run"],
        env={"PATH": str(folder.parent / "bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode != 0
    assert "ran -m pytest" in answer.stdout, "a failed step must not hide what the tests say"
