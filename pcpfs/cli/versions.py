"""What `pcpfs --version` tells."""

from __future__ import annotations

import click

from pcpfs import __version__
from pcpfs.cli.call import document

FORMATS_READ = (0,)
FORMAT_WRITTEN = 0
PROTOCOLS = ("pcp/0.4.0-draft",)


def versions() -> dict[str, object]:
    """This installation, and which data it understands."""
    return {
        "version": __version__,
        "store_formats": {"read": list(FORMATS_READ), "written": FORMAT_WRITTEN},
        "protocols": list(PROTOCOLS),
    }


def print_versions(*, as_json: bool) -> None:
    """Print `versions`, for people or for programs."""
    if as_json:
        click.echo(document(versions()), nl=False)
        return
    click.echo(f"pcpfs {__version__}")
    click.echo(f"store format: reads {', '.join(map(str, FORMATS_READ))}; writes {FORMAT_WRITTEN}")
    click.echo(f"protocols: {', '.join(PROTOCOLS)}")
