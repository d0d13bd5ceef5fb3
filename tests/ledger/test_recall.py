"""The benchmark of recall: it reads both shapes of data, and counts as it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.dialogues import NotDialogues, conversations
from benchmarks.ledger_recall import OURS, main, measured
from pcpfs.ledger import Settings


def test_the_default_algorithm_finds_the_evidence_in_our_sessions() -> None:
    found = list(conversations(OURS))
    score = measured(found)
    assert (score.algorithm, score.questions, score.entries) == ("v2_bm25", 14, 12)
    assert score.recall_at_5 >= 0.95
    assert score.mrr >= 0.9
    assert score.mrr > measured(found, settings=Settings("v1_keyword")).mrr


def test_the_shape_of_the_research_data_is_read(tmp_path: Path) -> None:
    value = [
        {
            "conversation": {
                "speaker_a": "A",
                "session_1": [{"dia_id": "D1:1", "speaker": "A", "text": "I like herons."}],
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_2": [{"dia_id": "D2:1", "speaker": "B", "text": "It rains."}],
                "session_2_date_time": "9:00 am on 10 June, 2023",
            },
            "qa": [
                {"question": "Which birds does A like?", "evidence": ["D1:1; D1:9"]},
                {"question": "Without evidence", "evidence": []},
            ],
        }
    ]
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "data.json").write_text(json.dumps(value))
    (found,) = conversations(tmp_path)
    assert [str(session.date) for session in found.sessions] == [
        "2023-05-08T13:56:00Z",
        "2023-06-10T09:00:00Z",
    ]
    assert [sorted(question.evidence) for question in found.questions] == [["D1:1"]]


def test_measures_are_means_over_questions(tmp_path: Path) -> None:
    turns = [[{"id": str(n), "speaker": "A", "text": f"word{'x' * n}"}] for n in range(20)]
    value = {
        "sessions": [{"date": "2026-01-01", "turns": turn} for turn in turns],
        "questions": [
            {"question": "wordxxx", "evidence": ["3"]},
            {"question": "nothing of this", "evidence": ["0"]},
        ],
    }
    (tmp_path / "data.json").write_text(json.dumps(value))
    score = measured(conversations(tmp_path))
    assert (score.recall_at_5, score.recall_at_10) == (0.5, 0.5)
    assert score.mrr == pytest.approx((1 + 1 / 20) / 2, abs=0.001)


def test_the_command_prints_a_line_for_each_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--unit", "turn"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["algorithm"] for line in lines] == ["v1_keyword", "v2_bm25"]


def test_files_without_questions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(ValueError, match="no questions"):
        measured(conversations(tmp_path))


SHAPES = OURS.parent / "shapes"


def test_published_shapes_are_read_and_measured() -> None:
    (long,) = conversations(SHAPES / "locomo.json")
    assert [len(session.turns) for session in long.sessions] == [2, 2]
    assert "heron" in long.sessions[1].turns[0].text
    assert [sorted(q.evidence) for q in long.questions] == [["D2:2"], ["D2:1"], ["D1:1", "D2:2"]]
    one, without = conversations(SHAPES / "longmemeval.json")
    assert [str(session.date) for session in one.sessions][:2] == [
        "2023-05-20T02:21:00Z",
        "2023-05-22T18:03:00Z",
    ]
    assert [sorted(question.evidence) for question in one.questions] == [["1:0"]]
    assert without.questions == ()
    for unit, count in (("session", 6), ("turn", 11)):
        score = measured(conversations(SHAPES), unit)
        assert (score.questions, score.entries) == (4, count)
        assert (score.recall_at_5, score.recall_at_10) == (1.0, 1.0)


def test_lines_of_json_are_read_like_a_list(tmp_path: Path) -> None:
    values = json.loads((SHAPES / "longmemeval.json").read_text())
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, values)) + "\n\n")
    assert [len(found.questions) for found in conversations(tmp_path)] == [1, 0]


@pytest.mark.parametrize(
    "text",
    [
        '{"sessions": [{"turns": []}]}',
        '{"haystack_sessions": [[]], "haystack_dates": [], "haystack_session_ids": []}',
        '{"sessions": [{"date": "soon", "turns": []}]}',
        "{",
    ],
)
def test_a_file_in_another_shape_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "data.json"
    file.write_text(text)
    with pytest.raises(NotDialogues, match=r"data\.json"):
        list(conversations(file))
    assert main([str(file)]) == 2
    assert "data.json" in capsys.readouterr().err
