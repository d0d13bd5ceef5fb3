"""`pcpfs host query`: one question to all providers, one prompt from their answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pcpfs.cli.call import Call, document
from pcpfs.cli.command import Command, Seconds
from pcpfs.cli.commands.watch import signals_call
from pcpfs.cli.hosting import Given, host, provider_options, surroundings
from pcpfs.cli.options import instant_option
from pcpfs.cli.text import columns, plural, short, styled
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.host.accounts import AuditRow
    from pcpfs.host.host import HostAnswer
    from pcpfs.model.cgp import ContextQuery

_COUNT = click.IntRange(1, 2**32 - 1)


@click.command(
    cls=Command,
    examples=[
        "pcpfs host query how are retries paused",
        "pcpfs host query retry policy --provider docs='docs-server --stdio' --audit",
        "pcpfs host query retry policy --form canonical --max-tokens 2000 --json",
    ],
)
@click.option("--words", metavar="TEXT", help="Words to look for, if the goal does not have them.")
@click.option("--kind", "kinds", multiple=True, help="Only frames of this kind; repeatable.")
@click.option("--anchor", "anchors", multiple=True, help="Stay near this file, symbol or id.")
@instant_option("--as-of", "What held then.")
@click.option("--max-tokens", type=_COUNT, default=4096, show_default=True, help="For all of them.")
@click.option("--max-frames", type=_COUNT, default=16, show_default=True, help="For all of them.")
@click.option(
    "--form",
    type=click.Choice(["canonical", "value-aware"]),
    default="value-aware",
    show_default=True,
    help="The same frames as the same bytes, or with the best at both ends.",
)
@provider_options
@click.option("--only", multiple=True, metavar="NAME", help="Ask only this one; repeatable.")
@click.option("--trust", multiple=True, metavar="DIR", help="Check digests of files below it.")
@click.option(
    "--timeout",
    type=Seconds(min=0.05, max=3600),
    metavar="SECONDS",
    help="How long each of them may take; 30 if not given.",
)
@click.option("--audit", is_flag=True, help="Say after the prompt what became of each frame.")
@click.option("--contract", is_flag=True, help="Read a question as 'inspect host' asks it.")
@click.argument("goal", nargs=-1)
def command(call: Call, goal: tuple[str, ...], contract: bool, audit: bool, **given: Any) -> None:
    """Ask the store and other providers, and compose one prompt.

    Asks this store, the providers in [providers] of pcpfs.toml that you agreed to (see 'pcpfs host
    consent'), and those given with --provider. They share one budget. Their answers are checked;
    one that misbehaves is named on standard error and costs nobody else. Prints the prompt.
    """
    if contract:
        from pcpfs.host.contract import judged  # noqa: PLC0415 (help needs no host)

        call.raw(document(judged(sys.stdin.buffer.read(), surroundings(given["timeout"]))))
        return
    answer = _asked(call, _query(" ".join(goal), given), given)
    for report in answer.reports:
        call.note(str(report))
    if call.settings.json:
        call.answer(answer, ())
    else:
        _print(call, answer, with_audit=audit)


def _query(goal: str, given: dict[str, Any]) -> ContextQuery:
    from pcpfs.model.cgp import ContextQuery  # noqa: PLC0415 (help needs no model)

    if not goal.strip():
        raise UsageError("say what you want to know: pcpfs host query GOAL")
    as_of = given["as_of"]
    return ContextQuery(
        goal=goal,
        query_text=given["words"],
        kinds=given["kinds"],
        anchors=given["anchors"],
        max_frames=given["max_frames"],
        max_tokens=given["max_tokens"],
        as_of=None if as_of is None else str(as_of),
    )


def _asked(call: Call, query: ContextQuery, given: dict[str, Any]) -> HostAnswer:
    from pcpfs.host.composition import Form  # noqa: PLC0415 (help needs no host)
    from pcpfs.host.host import require_an_answer  # noqa: PLC0415

    providers = Given(given["providers"], given["credentials"], given["only"])
    asking = host(call, providers, given["trust"], given["timeout"])
    with signals_call(_stop):  # so that no provider outlives us
        answer = asking.ask(query, Form(given["form"]))
    require_an_answer(answer)
    return answer


def _stop() -> NoReturn:
    raise KeyboardInterrupt


def _print(call: Call, answer: HostAnswer, *, with_audit: bool) -> None:
    """The prompt, in its exact bytes where no terminal shows it; then the audit."""
    call.content(answer.prompt.encode())
    if with_audit:
        if answer.prompt:
            click.echo()
        for line in _audit(answer):
            click.echo(line)


def _audit(answer: HostAnswer) -> Iterator[str]:
    """Who was asked, what became of each frame, and the bill."""
    rows = [
        (
            safe(each.provider),
            safe(f"{each.name} {each.version}" if each.name else "no answer"),
            plural(each.offered, "frame"),
            f"{used.consumed} of {plural(used.share, 'token')}",
        )
        for each, used in zip(answer.providers, answer.usage.providers, strict=True)
    ]
    yield styled("providers", "bold")
    yield from ("  " + line for line in columns(rows, ("bold",)))
    yield styled("frames", "bold")
    labels = {citation.identity: citation.label for citation in answer.citations}
    frames = [_row(row, labels.get(row.identity, "")) for row in answer.audit]
    yield from ("  " + line for line in columns(frames, ())) if frames else ("  none",)
    usage = answer.usage
    yield (
        f"{usage.budget_consumed} of {plural(usage.max_tokens, 'token')} used, "
        f"{usage.rendered_tokens} with fences"
    )


def _row(row: AuditRow, label: str) -> tuple[str, ...]:
    """One frame: what became of it, whose it is, and its label or the reason."""
    identity = row.identity
    told = row.standing if row.reason is None else row.reason
    what = label or f"{short(identity.frame_id)}: {row.message}"
    return (row.outcome, str(told), safe(identity.provider_id), safe(what))
