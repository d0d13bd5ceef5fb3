"""`pcpfs completion`: what makes a shell complete our commands."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command

SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=Command,
    section="Start",
    examples=["pcpfs completion bash", "pcpfs completion fish"],
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(call: Call, shell: str) -> None:
    """Print the completion for bash, zsh or fish.

    With it the tab key completes commands, options, scopes, pages, sources and places of the view.
    Have it read when the shell starts:

    \b
    bash  pcpfs completion bash >> ~/.bashrc
    zsh   pcpfs completion zsh >> ~/.zshrc  (behind compinit)
    fish  pcpfs completion fish > ~/.config/fish/completions/pcpfs.fish
    """
    from pcpfs.cli.completing import source  # noqa: PLC0415 (help needs no shell)

    script = source(shell)
    call.answer({"shell": shell, "script": script}, script.rstrip("\n").split("\n"))
