"""`pcpfs inspect store`: hold this store to the rules of PCP."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.inspecting import FAILED, print_check, suite, told


@click.command(cls=Command, examples=["pcpfs inspect store", "pcpfs inspect store --json"])
def command(call: Call) -> int:
    """Check the store of this installation, rule by rule.

    Each rule of the Paged Context Protocol is tried on a new store in a temporary folder; yours is
    not touched (see pcpfs fsck for that one). Each line has the rule, the verdict and what was
    tried.

    Exit code 1 if a rule is broken.
    """
    from pcpfs.cli.fresh import empty_store, fresh_store  # noqa: PLC0415 (help needs no store)

    tell = None if call.settings.json else print_check
    with empty_store() as template:
        inspection = suite("store")(lambda: fresh_store(template), tell)
    call.answer(inspection, [told(inspection)])
    return 0 if inspection.ok else FAILED
