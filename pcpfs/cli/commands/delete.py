"""`pcpfs delete`: erase a page for good."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural, styled
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.erasure.erasing import Erasure, Extent, PageName

FAILED = 1


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=[
        "pcpfs delete notes/key.md --why 'not ours to keep'",
        "pcpfs delete notes/key.md --why 'not ours to keep' --yes --cascade --prove",
    ],
)
@click.option("--why", required=True, metavar="TEXT", help="The reason; the receipt keeps it.")
@click.option("--yes", is_flag=True, help="Do it; else you are asked, or only told what would go.")
@click.option("--cascade", is_flag=True, help="Also the pages that were made of it.")
@click.option("--prove", "proven", is_flag=True, help="Then search every byte of the store for it.")
@click.option(
    "--override-hold", "override", metavar="TEXT", help="Why it goes although a hold keeps it."
)
@click.option("--recommend", is_flag=True, help="Only say that it should go: status lists it.")
@click.option("--dismiss", is_flag=True, help="Say that it stays, whatever was recommended so far.")
@click.argument("page", metavar="PAGE")
def command(
    call: Call,
    page: str,
    *,
    why: str,
    yes: bool,
    cascade: bool,
    proven: bool,
    override: str | None,
    recommend: bool,
    dismiss: bool,
) -> int:
    """Erase a page: from files, indexes and all of git's history.

    History is rewritten from the first commit on that holds the page; branches, tags, notes, the
    stash and other work trees follow and stay. A receipt is left. What was pushed or copied
    elsewhere is not reached: see docs/erasure.md.

    Exit code 1 if --prove finds anything.
    """
    from pcpfs.store.erasure.erasing import extent  # noqa: PLC0415 (help needs no store)

    if recommend and dismiss:
        raise UsageError("say --recommend or --dismiss, not both")
    session = call.session
    if recommend or dismiss:
        _note(call, page, why, dismiss=dismiss)
        return 0
    if not yes:
        _ask(call, extent(session.store, page, cascade=cascade, seen=session.authority.catalog))
    erasure = session.delete(page, why, cascade=cascade, proven=proven, override=override)
    call.answer(erasure, _lines(erasure))
    return 0 if erasure.proof is None or erasure.proof.ok else FAILED


def _note(call: Call, page: str, why: str, *, dismiss: bool) -> None:
    from pcpfs.store.recommending import (  # noqa: PLC0415 (help needs no store)
        dismiss_recommendations,
        recommend_deletion,
    )

    told = "dismissed: delete" if dismiss else "recommended: delete"
    act = dismiss_recommendations if dismiss else recommend_deletion
    call.answer(act(call.session, page, why), [f"{told} {safe(page)}"])


def _ask(call: Call, about: Extent) -> None:
    """Go on only if somebody at a terminal says so."""
    told = list(_about(about))
    if call.settings.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            f"this erases {plural(len(about.pages), 'page')} for ever; if that is meant, say --yes",
            pages=about.pages,
            derived=about.derived,
            citing=about.citing,
        )
    for line in told:
        click.echo(line, err=True)
    click.confirm("Erase for ever, and rewrite history?", abort=True, err=True)


def _about(about: Extent) -> Iterator[str]:
    yield from (f"erases {_named(name)}" for name in about.pages)
    yield from _related(about.derived, about.citing)


def _lines(erasure: Erasure) -> Iterator[str]:
    for gone in erasure.pages:
        count = plural(gone.revisions, "revision")
        yield f"{styled('erased', 'red')} {gone.page_id} in {safe(gone.scope)}: {count}"
        yield f"  receipt: {safe(gone.receipt)}"
    if erasure.commits is not None:
        yield f"rewritten: {plural(erasure.commits, 'commit')}"
    yield from _related(erasure.derived, erasure.citing)
    yield from (f"holds the same bytes, and stays: {_named(name)}" for name in erasure.kept)
    yield from (f"note: {safe(warning)}" for warning in erasure.warnings)
    if erasure.proof is not None:
        proof = erasure.proof
        searched = f"{plural(proof.files, 'file')} and {plural(proof.objects, 'object')} of git"
        verdict = styled("found nothing", "green") if proof.ok else styled("FOUND IT", "red")
        yield f"searched {searched}, {proof.bytes >> 20} MiB: {verdict}"
        yield from (f"  {safe(t.place)}: {t.what}" for t in proof.traces)
        yield from (f"  not proven: {safe(what)}" for what in proof.unproven)


def _related(derived: Sequence[PageName], citing: Sequence[PageName]) -> Iterator[str]:
    yield from (f"was made of it, and stays (see --cascade): {_named(name)}" for name in derived)
    yield from (f"names it: {_named(name)}" for name in citing)


def _named(name: PageName) -> str:
    relation = f" ({name.relation})" if name.relation else ""
    return f"{safe(name.title)}  {name.page_id}{safe(relation)}"
