"""Where time goes: the samples of a process add up to what it used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.sampler import FOLDER
from benchmarks.where import ELSE, GIT, Measured, Process, table

SAMPLED = """
import time
from benchmarks.sampler import begin
begin((("__main__:work", "work"),))

def work():
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass

work()
print(time.process_time())
"""


def test_the_parts_of_a_process_add_up_to_what_it_used(tmp_path: Path) -> None:
    way = os.pathsep.join(filter(None, sys.path))
    given = os.environ | {FOLDER: str(tmp_path), "PYTHONPATH": way}
    done = subprocess.run(
        [sys.executable, "-c", SAMPLED], env=given, capture_output=True, text=True, check=True
    )
    (file,) = tmp_path.glob("*.json")
    spent = json.loads(file.read_text())["spent"]
    used = float(done.stdout)
    assert abs(sum(sum(part.values()) for part in spent.values()) - used) < 0.1 * used
    assert 0.15 < sum(spent["work"].values()) < 0.3


def test_what_no_process_told_of_is_that_of_git_and_little_parts_are_counted_together() -> None:
    told = Process("command", 3.0, {"a": {"f": 0.5, "g": 0.25}, "b": {"f": 0.01}, ELSE: {"": 0.02}})
    one = Measured(3.0, 1.0, [told], floor=0.5)
    assert one.parts()["git", GIT] == pytest.approx(0.22)
    lines = [line.split() for line in table({"fts5": one}).splitlines() if line]
    assert ["a", "0.75"] in lines
    assert ["all", "else", "0.03"] in lines
    assert ["×", "floor", "2.0"] in lines
    assert not [line for line in lines if line[0] == "b"]
