"""`pcpfs scope set`: title, visibility and links of a scope."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.scope_rules import rules_lines


@click.command(
    cls=Command,
    writes=True,
    examples=[
        "pcpfs scope set project:tides --visibility shared",
        "pcpfs scope set project:tides --title 'Tide tables'",
        "pcpfs scope set project:tides --link project:charts --unlink project:old-charts",
    ],
)
@click.option("--title", metavar="T", help="What people call it.")
@click.option("--description", metavar="TEXT", help="What it is for; empty for nothing.")
@click.option(
    "--visibility",
    type=click.Choice(["private", "shared"]),
    help="private: the owner and who was granted something; shared: anybody may list and read it.",
)
@click.option(
    "--link",
    multiple=True,
    metavar="SCOPE",
    help="A scope that 'search --policy linked' covers with this one; repeatable.",
)
@click.option(
    "--unlink", multiple=True, metavar="SCOPE", help="One that it no longer covers; repeatable."
)
@click.argument("scope", metavar="SCOPE")
def command(
    call: Call,
    scope: str,
    *,
    title: str | None,
    description: str | None,
    visibility: str | None,
    link: tuple[str, ...],
    unlink: tuple[str, ...],
) -> None:
    """Set what a scope is called, who may see it, and what it links to.

    A link lets nobody read more than they may; it says where else to look.
    """
    rules = call.session.governing.set(
        scope,
        title=title,
        description=description,
        visibility=visibility,
        link=link,
        unlink=unlink,
    )
    call.answer(rules, rules_lines(rules))
