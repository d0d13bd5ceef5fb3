"""`python -m pcpfs`: the command, where its script is not on the path."""

from pcpfs.cli.main import run

run()
