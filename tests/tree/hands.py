"""What people do to the files in `tree/`, and what the store makes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pcpfs.store.take_edits import EditTaker, Patience, Taken, TreeChange, TreeReport
from tests.store.workplace import ANNA, SCOPE, Workplace

TREE = "scopes/project/a/tree/"
NO_TIME = Patience(pause=lambda seconds: None)


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

    def taken(self, *, accept_removals: bool = False) -> Taken:
        return EditTaker(self.place.store, ANNA, NO_TIME).take(accept_removals=accept_removals)

    def sync(self, *, accept_removals: bool = False) -> TreeReport:
        """What one look took; a second one finds nothing more to do."""
        report = self.taken(accept_removals=accept_removals).report
        again = self.taken().report
        assert again == TreeReport(left=report.left)
        assert self.place.git("status", "--porcelain", "--", "scopes").splitlines() == [
            line for line in self.place.git("status", "--porcelain", "--", "scopes").splitlines()
        ]
        return report

    def heads(self, page: str) -> set[bytes]:
        """The texts of a page's heads."""
        return {
            self.place.session.payload(head) for head in self.place.session.manifest(page).heads
        }

    def texts(self, page: str) -> list[bytes]:
        """The texts of all revisions of a page, oldest first."""
        entries = reversed(self.place.session.log(page))
        return [self.place.session.payload(entry.revision_id) for entry in entries]


def names(changes: Iterable[TreeChange]) -> list[str]:
    """The paths below `tree/`."""
    return [change.path.removeprefix(TREE) for change in changes]
