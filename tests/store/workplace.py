"""A store to work in: a clock that steps, people who write, and eyes that see the files."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pcpfs.model.answers import Pins, Written
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.model.requests import Draft
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.ports import CountingEntropy, SteppingClock

ANNA = Principal("user:anna")
START = Instant.read("2040-01-01")
SCOPE = "project:a"


def draft(text: str | bytes = "text\n", **given: Any) -> Draft:
    """A Markdown draft."""
    payload = text if isinstance(text, bytes) else text.encode()
    return Draft(payload, **{"media_type": "text/markdown", **given})


def as_of(moment: Instant | str) -> Pins:
    return Pins(as_of=Instant.read(moment) if isinstance(moment, str) else moment)


def recorded(moment: Instant | str) -> Pins:
    return Pins(recorded_as_of=Instant.read(moment) if isinstance(moment, str) else moment)


@dataclass(slots=True)
class Workplace:
    """An open store and a session of its owner."""

    path: Path
    clock: SteppingClock
    store: Store
    session: Session

    @classmethod
    def at(cls, path: Path, clock: SteppingClock | None = None, **how: Any) -> Self:
        """Open the store in a folder."""
        clock = clock or SteppingClock(START)
        store = Store.open(path, clock=clock, entropy=CountingEntropy(), **how)
        return cls(path, clock, store, Session(store, ANNA))

    def close(self) -> None:
        self.session.close()
        self.store.close()

    def reopened(self, **how: Any) -> Workplace:
        """The same store in a new process, as far as it can tell."""
        self.close()
        return type(self).at(self.path, self.clock, **how)

    def write(self, text: str | bytes = "text\n", scope: str = SCOPE, **given: Any) -> Written:
        where = {name: given.pop(name) for name in ("path", "key") if name in given}
        return self.session.write(scope, draft(text, **given), **where)

    def revise(
        self, page: str, text: str | bytes, *expect: str, branch: str | None = None, **given: Any
    ) -> Written:
        """A revision on the current heads, or on what is expected, or beside them."""
        heads: Sequence[str] = expect or (() if branch else self.session.manifest(page).heads)
        return self.session.revise(page, draft(text, **given), expect=heads, branch=branch)

    def tree(self, scope: str = SCOPE) -> dict[str, bytes]:
        """The readable files of a scope."""
        folder = self.path / "scopes" / scope.replace(":", "/") / "tree"
        return contents(folder)

    def tree_file(self, path: str, scope: str = SCOPE) -> Path:
        return self.path / "scopes" / scope.replace(":", "/") / "tree" / path

    def git(self, *arguments: str) -> str:
        """What the person's own git prints."""
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments],
            cwd=self.path,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    def commits(self) -> int:
        return int(self.git("rev-list", "--count", "HEAD"))


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by relative path."""
    if not folder.exists():
        return {}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def truth(path: Path) -> Mapping[str, bytes]:
    """The immutable files of a store."""
    found = contents(path / "scopes")
    return {name: raw for name, raw in found.items() if "/tree/" not in name}


def paths_of(path: Path, kind: str) -> list[Path]:
    """The files of one kind, as `rev_*.json`, in order."""
    return sorted(file for file in (path / "scopes").rglob(kind) if file.is_file())
