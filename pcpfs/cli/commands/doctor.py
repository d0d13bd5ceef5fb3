"""`pcpfs doctor`: whether all is well, the store and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural, styled
from pcpfs.errors import Corrupt, NotFound, PcpfsError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.cli.doctoring import Finding
    from pcpfs.store.store import Store

FAILED = 1
_COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}


@click.command(cls=Command, section="Store", examples=["pcpfs doctor", "pcpfs doctor --json"])
@click.option("--quick", is_flag=True, help="Leave the files of the store unchecked.")
def command(call: Call, quick: bool) -> int:
    """Check the store, and what it rests on.

    All that fsck checks, and Python, git, SQLite, the extras, free space, rights, the file system,
    the clock, and what git has to know. Each finding says what to do.

    Exit code 1 if there is a problem.
    """
    from pcpfs.cli.doctoring import environment  # noqa: PLC0415 (help needs no store)

    found = list(chain(environment(), _of_store(call, quick=quick)))
    ok = all(finding.level != "problem" for finding in found)
    call.answer({"ok": ok, "findings": found}, _lines(found))
    return 0 if ok else FAILED


def _of_store(call: Call, *, quick: bool) -> Iterator[Finding]:
    """The store and its place; that there is none, or that it cannot be opened, is a finding."""
    from pcpfs.cli.doctoring import Finding  # noqa: PLC0415 (help needs no store)

    try:
        yield from _looked_at(call.store_for("check it"), call, quick=quick)
    except NotFound as error:
        if call.settings.named_store:
            raise
        yield Finding("store", "note", "there is no store here", error.message)
    except PcpfsError as error:
        mended = "pcpfs fsck --repair mends what git and the files still have"
        advice = mended if isinstance(error, Corrupt) else "then run pcpfs doctor again"
        yield Finding("store", "problem", error.message, advice)


def _looked_at(store: Store, call: Call, *, quick: bool) -> Iterator[Finding]:
    from pcpfs.cli.doctoring import Finding, place  # noqa: PLC0415 (help needs no store)
    from pcpfs.store.upkeeping.fsck import fsck  # noqa: PLC0415 (help needs no store)

    yield from place(store)
    if quick:
        return
    with call.progress() as progress:
        report = fsck(store, progress)
    for problem in report.problems:
        where = f"{problem.path}: " if problem.path not in problem.message else ""
        yield Finding(problem.code, "problem", where + problem.message, "pcpfs fsck --repair")
    if report.ok:
        yield Finding("store", "ok", f"{plural(report.checked, 'file')} checked, all well")


def _lines(found: Sequence[Finding]) -> Iterator[str]:
    width = max(len(level) for level in _COLOURS)
    for finding in found:
        level = styled(finding.level.ljust(width), _COLOURS[finding.level])
        yield f"{level}  {safe(finding.message)}"
        if finding.advice:
            yield styled(f"{' ' * width}  {safe(finding.advice)}", "dim")
    problems = sum(finding.level == "problem" for finding in found)
    yield plural(problems, "problem")
