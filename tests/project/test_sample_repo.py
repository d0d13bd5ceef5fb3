"""The sample is frozen: documentation, demo and tests count its lines and symbols.

After a change that is meant, from the top folder:
`git ls-files sample_repo | LC_ALL=C sort | xargs sha256sum > tests/project/sample_repo.sha256`
"""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
SAMPLE = CHECKOUT / "sample_repo"
MANIFEST = Path(__file__).with_name("sample_repo.sha256")


def test_every_file_of_the_sample_is_the_frozen_one() -> None:
    files = sorted(path for path in SAMPLE.rglob("*") if path.is_file())
    listing = {
        path.relative_to(CHECKOUT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if "__pycache__" not in path.parts
    }
    lines = MANIFEST.read_text(encoding="utf-8").splitlines()
    assert listing == {path: digest for digest, path in (line.split("  ", 1) for line in lines)}


def test_the_sample_speaks_every_language_of_the_story() -> None:
    suffixes = {path.suffix for path in SAMPLE.rglob("*")}
    assert suffixes >= {".py", ".ts", ".tsx", ".go", ".rs", ".md"}


def test_the_sample_holds_encodings_that_are_not_utf_8() -> None:
    odd = (SAMPLE / "tidebook/gazette.py", SAMPLE / "docs/saint-malo.txt")
    for path in odd:
        assert path.read_bytes().decode("utf-8", "replace").count("\ufffd") > 2
        assert "é" in path.read_bytes().decode("latin-1")


def test_git_never_changes_bytes_of_the_sample() -> None:
    path = "sample_repo/docs/saint-malo.txt"
    answer = subprocess.run(
        ["git", "check-attr", "text", "--", path],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert answer.stdout == f"{path}: text: unset\n"
