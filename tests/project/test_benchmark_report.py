"""The report of `make bench` says what was reached, and what was not measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.corpus import corpus
from benchmarks.floor import definitions
from benchmarks.questions import Question, questions_of, reciprocal_rank
from benchmarks.rows import Aim, Row, document, table, verdict
from benchmarks.timing import Failed, run

SAMPLE = Path(__file__).parents[2] / "sample_repo"


@pytest.mark.parametrize(
    ("aim", "value", "answer"),
    [
        (Aim(0.3), 0.3, "yes"),
        (Aim(0.3), 0.31, "NO"),
        (Aim(0, "floor", 8), 16, "yes"),
        (Aim(0, "floor", 8), 17, "NO"),
        (Aim(0.3, "floor"), 2.2, "yes"),
        (Aim(0.8, at_least=True), 0.7, "NO"),
        (Aim(0, "not measured", 2), 1, ""),
        (None, 1, ""),
    ],
)
def test_an_aim_is_reached_or_not_or_unknown(aim: Aim | None, value: float, answer: str) -> None:
    assert verdict(Row("it", value, aim=aim), {"floor": 2.0}) == answer


def test_ratios_stand_beside_the_figures() -> None:
    rows = [Row("floor", 2.0), Row("add", 5.0, ratio_to="floor"), Row("rg", None, note="not here")]
    text = table(rows)
    assert "2.50 × floor" in text
    assert "absent" in text.splitlines()[-1]


def test_the_document_is_json() -> None:
    rows = [Row("floor", 2.0, aim=Aim(3)), Row("rg", None)]
    written = json.loads(json.dumps(document(rows, {"cores": "2"})))
    assert [row["reached"] for row in written["rows"]] == ["yes", ""]


def test_a_measured_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="exit 3"):
        run(["sh", "-c", "exit 3"], tmp_path)


def test_the_peak_counts_descendants(tmp_path: Path) -> None:
    grow = "import time; held = b'x' * 80_000_000; time.sleep(0.6)"
    shell = ["sh", "-c", '"$0" -c "$1"; true', sys.executable, grow]
    assert run(shell, tmp_path, memory=True).peak_bytes > 80_000_000


def test_the_floor_counts_each_definition_once() -> None:
    assert definitions([SAMPLE / "tests/test_almanac.py"]) == 3


def test_the_corpus_holds_texts_only(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\0\1")
    assert [path.name for path in corpus(tmp_path).texts] == ["a.py"]


def test_a_question_is_ranked_by_where_its_function_comes() -> None:
    path = SAMPLE / "tidebook/almanac.py"
    asked = [question.qualified_name for question in questions_of(path, path.name)]
    assert asked == [
        "Almanac.height",
        "Almanac.extremes",
        "Almanac.next_high_water",
        "Almanac.slack",
        "almanac_for",
    ]
    question = Question("first high water", "a.py", "f")
    assert reciprocal_rank(question, lambda _: [("b.py", "f"), ("a.py", "f")]) == 0.5
    assert reciprocal_rank(question, lambda _: []) == 0
