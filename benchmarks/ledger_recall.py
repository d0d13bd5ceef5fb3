"""`python -m benchmarks.ledger_recall FOLDER`: does a ledger find the evidence for a question?

Each conversation is a thread, each session (with `--unit turn`, each turn) an entry of its date.
Recall@k is the share of a question's evidence among the first k entries, MRR the mean of 1 / the
place of the first; both are means over all questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.dialogues import Conversation, conversations
from pcpfs.ledger import ContextEntry, MemoryLedger, Settings

OURS = Path(__file__).parent / "sessions"
UNITS = ("session", "turn")
VERSIONS = ("v1_keyword", "v2_bm25")
EVERYTHING = 1 << 40


@dataclass(frozen=True, slots=True)
class Score:
    """Of so many questions over so many entries."""

    algorithm: str
    unit: str
    questions: int
    entries: int
    recall_at_5: float
    recall_at_10: float
    mrr: float


def measured(
    found: Iterable[Conversation], unit: str = "session", settings: Settings | None = None
) -> Score:
    """How one algorithm does; ValueError if there is nothing to ask."""
    settings = settings or Settings()
    places: list[tuple[float, float, float]] = []
    entries = 0
    for conversation in found:
        units = dict(_units(conversation, unit))
        entries += len(units)
        places += asyncio.run(_asked(conversation, units, settings))
    if not places:
        raise ValueError("there are no questions with evidence in these files")
    five, ten, first = (fmean(column) for column in zip(*places, strict=True))
    return Score(
        settings.ranking().version,
        unit,
        len(places),
        entries,
        *(round(x, 3) for x in (five, ten, first)),
    )


def _units(conversation: Conversation, unit: str) -> Iterator[tuple[str, ContextEntry]]:
    """Entries by the ids of the turns that they hold, joined by spaces."""
    for session in conversation.sessions:
        parts = [session.turns] if unit == "session" else [(turn,) for turn in session.turns]
        for turns in parts:
            text = "\n".join(f"{turn.speaker}: {turn.text}" for turn in turns)
            yield (
                " ".join(turn.turn_id for turn in turns),
                ContextEntry("conversation", text, session.date),
            )


async def _asked(
    conversation: Conversation, units: dict[str, ContextEntry], settings: Settings
) -> list[tuple[float, float, float]]:
    ledger = MemoryLedger(conversation.name, settings=settings)
    pages = {await ledger.ingest(entry): frozenset(ids.split()) for ids, entry in units.items()}
    answers = []
    for question in conversation.questions:
        view = await ledger.project(question.text, EVERYTHING)
        held = [pages[shown.page_id] & question.evidence for shown in view.entries]
        answers.append(_place(held))
    return answers


def _place(held: Sequence[frozenset[str]]) -> tuple[float, float, float]:
    """Of the units that hold evidence: the share among the first 5 and 10, 1 / the first place."""
    places = [place for place, evidence in enumerate(held, 1) if evidence]
    shares = [sum(place <= k for place in places) / len(places) for k in (5, 10)]
    return shares[0], shares[1], 1 / places[0]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger_recall", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=OURS, help="JSON files, or one")
    parser.add_argument("--unit", choices=UNITS, default="session")
    parser.add_argument("--half-life", type=float, metavar="DAYS")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        found = list(conversations(given.folder))
        scores = [
            measured(found, given.unit, Settings(version, half_life_days=given.half_life))
            for version in VERSIONS
        ]
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for score in scores:
        if given.json:
            print(json.dumps(asdict(score)))
        else:
            print(
                f"{score.algorithm:12} {score.questions} questions, {score.entries} {score.unit}s: "
                f"recall@5 {score.recall_at_5:.3f}  recall@10 {score.recall_at_10:.3f}  "
                f"MRR {score.mrr:.3f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
