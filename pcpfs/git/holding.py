"""Which commits at hand hold something: looked for in all, or in those that have come since."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from pcpfs.git.process import failure
from pcpfs.git.raw import process_of
from pcpfs.git.repository import Repository

EVERYWHERE = ("--all", "--reflog", "--ignore-missing")


@dataclass(frozen=True, slots=True)
class Standing:
    """All that refs name and what was fetched last, and where history is cut off: while these stay,
    no commit comes."""

    tips: frozenset[str]
    shallow: frozenset[str]

    @classmethod
    def of(cls, git: Repository) -> Standing:
        """As they are now."""
        refs = process_of(git).run("for-each-ref", "--format=%(objectname)").decode().split()
        return cls(frozenset([*refs, *fetched(git)]), frozenset(_words(git, "shallow")))

    def since(self, before: Standing | None) -> tuple[str, ...]:
        """What to give to `git log` to see the commits that have come since; nothing if none."""
        if before == self:
            return ()
        old = before.tips if before is not None and before.shallow == self.shallow else ()
        return (*EVERYWHERE, *sorted(self.tips), *(f"^{name}" for name in sorted(old)))


def fetched(git: Repository) -> tuple[str, ...]:
    """What a plain `git fetch` has brought last; no ref need name it."""
    return tuple(dict.fromkeys(_words(git, "FETCH_HEAD")))


def held_in_history(
    git: Repository, folders: Iterable[str], commits: Iterable[str] = EVERYWHERE
) -> set[str]:
    """Those of the folders that one of the commits (none given: any at hand) holds something in."""
    wanted = set(folders)
    names = ("-z", "--format=", "--name-only", "--no-renames")
    asked = list(commits)
    options = [one for one in asked if one.startswith("--")]
    order = ("log", "--full-history", "-m", "--root", *names, *options, "--stdin")
    given = [*(one for one in asked if one not in options), "--", *sorted(wanted)]
    lines = b"".join(os.fsencode(line) + b"\n" for line in given)
    code, out, said = process_of(git).attempt(*order, stdin=lines)
    if code != 0:
        raise failure(("log",), said)
    found = (os.fsdecode(name).strip("\n") for name in out.split(b"\0"))
    return {folder for name in found if (folder := name.rpartition("/")[0]) in wanted}


def _words(git: Repository, file: str) -> Iterable[str]:
    """The first word of each line."""
    path = git.common_dir / file
    if path.is_file():
        lines = map(str.split, path.read_text("utf-8", "replace").splitlines())
        yield from (words[0] for words in lines if words)
