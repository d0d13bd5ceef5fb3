"""`pcpfs fsck`: check the store itself, and mend it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural, styled
from pcpfs.errors import Corrupt
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import Problem
    from pcpfs.store.upkeeping.fsck import FsckReport
    from pcpfs.store.upkeeping.repair import RepairReport

FAILED = 1


@click.command(
    cls=Command,
    section="Store",
    writes=True,
    examples=["pcpfs fsck", "pcpfs fsck --json", "pcpfs fsck --repair"],
)
@click.option("--repair", is_flag=True, help="Mend what can be mended; say what, and what is left.")
def command(call: Call, repair: bool) -> int:
    """Check the files of the store.

    Each must be what its name says; git's objects, the catalog and the text index must agree with
    them. --repair restores damaged files from git and builds caches anew; it deletes nothing, and
    leaves your edits alone.

    Exit code 1 if there is a problem.
    """
    report = _repaired(call) if repair else _checked(call)
    call.answer(report, _lines(report))
    return 0 if report.ok else FAILED


def _checked(call: Call) -> FsckReport:
    from pcpfs.model.answers import Problem  # noqa: PLC0415 (help needs no store)
    from pcpfs.store.upkeeping.fsck import FsckReport, fsck  # noqa: PLC0415 (help needs no store)

    try:
        store = call.store_for("check it")
    except Corrupt as error:
        path = str(error.fields.get("path", ""))
        return FsckReport(False, 0, (Problem(error.code, path, error.message),))
    with call.progress() as progress:
        return fsck(store, progress)


def _repaired(call: Call) -> RepairReport:
    from pcpfs.store.upkeeping.repair import mend_to_open, repair  # noqa: PLC0415 (help needs no store)

    already = mend_to_open(call.store_path)
    store = call.store_for("mend it")
    with call.progress() as progress:
        return repair(store, progress, already)


def _lines(report: FsckReport | RepairReport) -> Iterator[str]:
    repaired: Sequence[Problem] = getattr(report, "repaired", ())
    yield from _told("repaired", "green", repaired)
    yield from _told("", "red", report.problems)
    if report.dangling:
        relations = plural(len(report.dangling), "relation")
        yield styled(f"{relations} to pages that are not here (--json lists them)", "dim")
    mended = f", {plural(len(repaired), 'problem')} mended" if repaired else ""
    left = plural(len(report.problems), "problem") + (" left" if repaired else "")
    found = left if report.problems else styled("all well", "green")
    yield f"{plural(report.checked, 'file')} checked{mended}: {found}"
    if report.problems and not hasattr(report, "repaired"):
        yield "next: pcpfs fsck --repair mends what git and the files still have"


def _told(what: str, colour: str, problems: Sequence[Problem]) -> Iterator[str]:
    """A line each; what is wrong in the catalog, which is only derived, is counted."""
    derived = [problem for problem in problems if problem.code == "catalog"]
    for problem in problems:
        if problem.code != "catalog" or len(derived) == 1:
            place = "" if problem.path in problem.message else f"  {safe(problem.path)}"
            yield f"{_sign(what, colour, problem.code)}{place}  {safe(problem.message)}"
    if len(derived) > 1:
        about = f"{len(derived)} rows are not what the files say; run pcpfs reindex"
        yield f"{_sign(what, colour, 'catalog')}  {about} (--json lists them)"


def _sign(what: str, colour: str, code: str) -> str:
    return styled(" ".join(filter(None, (what, code))), colour)
