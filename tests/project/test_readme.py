"""What the README tells a newcomer to type works as it stands."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.project.newcomer import CHECKOUT, Newcomer, blocks

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_the_walk_through_runs_line_by_line(tmp_path: Path) -> None:
    newcomer = Newcomer.arrives(tmp_path)
    walk = [block for block in blocks(README, "sh") if "pcpfs" in block and "make " not in block]
    told = newcomer.types("".join(walk))
    assert "Almanac.next_high_water" in told
    assert "suspect" in told
    assert "High water is searched over 25 hours, then there is none." in told
    assert "the store knew nothing then" in told
    assert transcript() in re.sub(r"\b(pg|fr)_[0-9a-z]{26}", r"\1_…", told)
    run_the_library_example(newcomer)


def transcript() -> str:
    """What the README shows of a composed prompt with its audit."""
    (found,) = [block for block in blocks(README, "text") if "<frame " in block]
    return found


def run_the_library_example(newcomer: Newcomer) -> None:
    (example,) = blocks(README, "python")
    done = newcomer.run(sys.executable, "-c", example)
    assert done.returncode == 0, done.stderr
    assert "High water" in done.stdout


def test_the_folders_and_commands_it_names_exist() -> None:
    for name in ("adapters", "index", "conformance", "tests", "benchmarks", "sample_repo", "docs"):
        assert (CHECKOUT / name).is_dir()
    for link in re.findall(r"\]\((docs/[^)]+|benchmarks)\)", README):
        assert (CHECKOUT / link).exists(), link
    commands = {path.stem for path in (CHECKOUT / "pcpfs/cli/commands").iterdir()}
    told = set(re.findall(r"pcpfs ([a-z]+) ", "".join(blocks(README, "sh"))))
    assert told <= commands
