"""What people do to the files in `tree/`, and what the store makes of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from pcpfs.store.trees.take_edits import EditTaker, Patience, Taken, TreeChange, TreeReport
from tests.store.workplace import ANNA, SCOPE, Workplace

TREE = "scopes/project/a/tree/"
NO_TIME = Patience(pause=lambda seconds: None)
PERSON = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org", "-c", "commit.gpgSign=false")


@dataclass(slots=True)
class Hands:
    """Somebody at work in `tree/`, with a look of the store whenever they ask for it."""

    place: Workplace

    def save(self, name: str, text: str | bytes, scope: str = SCOPE) -> None:
        file = self.place.tree_file(name, scope)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def remove(self, name: str) -> None:
        self.place.tree_file(name).unlink()

    def move(self, old: str, new: str) -> None:
        target = self.place.tree_file(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.place.tree_file(old).rename(target)

    def git(self, *arguments: str) -> bool:
        """A git command of the person's own; whether it succeeded."""
        command = ["git", *PERSON, *arguments]
        done = subprocess.run(command, cwd=self.place.path, capture_output=True, check=False)
        return done.returncode == 0

    def taken(self, *, accept_removals: bool = False) -> Taken:
        return EditTaker(self.place.store, ANNA, NO_TIME).take(accept_removals=accept_removals)

    def sync(self, *, accept_removals: bool = False) -> TreeReport:
        """What one look took; a second one finds nothing more to do, and git agrees."""
        report = self.taken(accept_removals=accept_removals).report
        assert self.taken().report == TreeReport(left=report.left)
        if not report.left:
            assert self.place.git("status", "--porcelain", "--", "scopes") == ""
        return report

    def heads(self, page: str) -> list[bytes]:
        """The texts of a page's heads, sorted."""
        heads = self.place.session.manifest(page).heads
        return sorted(self.place.session.payload(head) for head in heads)

    def texts(self, page: str) -> list[bytes]:
        """The texts of all revisions of a page, oldest first."""
        entries = reversed(self.place.session.log(page))
        return [self.place.session.payload(entry.revision_id) for entry in entries]


def names(changes: Iterable[TreeChange]) -> list[str]:
    """The paths below `tree/`."""
    return [change.path.removeprefix(TREE) for change in changes]
