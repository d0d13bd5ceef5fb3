"""The library in one process: what a write costs beside git, and a warm search."""

from __future__ import annotations

from itertools import count, cycle
from pathlib import Path

from benchmarks.main_job import SCOPE
from benchmarks.peers import ONE_COMMIT
from benchmarks.rows import Aim, Row
from benchmarks.timing import median_cost
from pcpfs.model.requests import Draft
from pcpfs.store.session import Session
from pcpfs.store.store import Store

ONE_OR_TWO = ("queryset", "url resolver", "HttpResponse", "migration", "email backend", "cache key")
SIX = (
    "how are migrations applied to databases",
    "which class renders the admin form",
    "validate an email address of user",
    "where is the session cookie signed",
    "convert a datetime to local timezone",
    "prefetch related objects in one query",
)
WRITES = 10


def measure(store: Path, times: int) -> list[Row]:
    """`store` holds the corpus already."""
    with Store.open(store) as opened:
        session = Session(opened, opened.owner)
        try:
            return [
                _write_row(session, times),
                _search_row(session, "warm search, 1-2 words", ONE_OR_TWO, times, 0.005),
                _search_row(session, "warm search, 6 words", SIX, times, 0.060),
            ]
        finally:
            session.close()


def _write_row(session: Session, times: int) -> Row:
    def write(number: int) -> None:
        text = f"# Note {number}\n\nWhy the resolver caches.\n".encode()
        session.write(SCOPE, Draft(text, "text/markdown"))

    runs, numbers = WRITES * times, count()
    seconds, processor = median_cost(lambda: write(next(numbers)), runs)
    return Row(
        "Session.write",
        seconds,
        runs=runs,
        aim=Aim(0, ONE_COMMIT, 2),
        ratio_to=ONE_COMMIT,
        processor=processor,
    )


def _search_row(
    session: Session, name: str, questions: tuple[str, ...], times: int, aim: float
) -> Row:
    for question in questions:
        if not session.search(question).results:
            raise SystemExit(f"search found nothing for {question!r}: there is nothing to time")
    runs, asked = len(questions) * times, cycle(questions)
    seconds, processor = median_cost(lambda: session.search(next(asked)), runs)
    return Row(name, seconds, runs=runs, aim=Aim(aim), processor=processor)
