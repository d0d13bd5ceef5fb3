"""Running a conformance suite, and showing what it found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.text import plural, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.inspection import CheckResult, Inspection

FAILED = 1
COLOURS = {"pass": "green", "fail": "red", "skip": "yellow"}


def inspect(call: Call, kind: str, program: Sequence[str], query: str | None) -> int:
    """Judge a program, telling of each check when it is done; the exit code."""
    tell = None if call.settings.json else print_check
    inspection: Inspection = suite(kind)(program, _environment(), query, tell)
    call.answer(inspection, [told(inspection)])
    return 0 if inspection.ok else FAILED


def _environment() -> dict[str, str]:
    """What hosts give to a provider: PATH and HOME."""
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def suite(kind: str) -> Any:
    """The suite of a kind, found by entry point: the core imports no part."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (help needs none)

    from pcpfs.errors import Unavailable  # noqa: PLC0415

    for point in entry_points(group="pcpfs.inspectors", name=kind):
        return point.load()  # a `ports.Inspector`, or for `store` a `ports.StoreInspector`
    raise Unavailable("no conformance suite is installed; install pcpfs with all its packages")


def print_check(check: CheckResult) -> None:
    """One line."""
    outcome = styled(f"{check.outcome:5}", COLOURS[check.outcome])
    click.echo(f"{outcome} {check.id:31} {safe(check.evidence)}")


def told(inspection: Inspection) -> str:
    """How many passed."""
    outcomes = [str(check.outcome) for check in inspection.checks]
    failed = outcomes.count("fail")
    counts = f"{outcomes.count('pass')} passed, {failed} failed, {outcomes.count('skip')} skipped"
    return f"{plural(len(outcomes), 'check')}: {counts}"
