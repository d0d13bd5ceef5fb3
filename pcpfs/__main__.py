"""`python -m pcpfs`: the command, where its script is not on the path."""

from pcpfs.cli.main import run

if __name__ == "__main__":
    run()
