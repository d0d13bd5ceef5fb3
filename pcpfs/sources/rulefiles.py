"""Finds and reads the files that hold ignore rules; never follows a link, never writes."""

from __future__ import annotations

import errno
import os
import stat as mode
from collections.abc import Collection, Iterator

from pcpfs.sources.ignore import Ignores, RuleFile

GIT_RULES = ".gitignore"
OUR_RULES = ".pcpfsignore"
GIT = ".git"
_RULE_NAMES = frozenset((GIT, GIT_RULES, OUR_RULES))
_LIMIT = 4_194_304
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV)


class RulesUnreadable(Exception):
    """Rules are there but cannot be read: nothing may be taken in that they might forbid."""

    def __init__(self, path: str, why: str | None) -> None:
        super().__init__(f"{path} cannot be read: {why}")


def rules_inside(outer: Ignores, directory: str, location: str, names: Collection[str]) -> Ignores:
    """The rules that hold inside a directory: `outer` and its own. Raises RulesUnreadable.

    `directory` is its path below the root, `location` where it lies, `names` what it holds.
    """
    if _RULE_NAMES.isdisjoint(names):
        return outer
    shown = f"{directory}/" if directory else ""
    ours = _rules(f"{location}/{OUR_RULES}", shown + OUR_RULES) if OUR_RULES in names else None
    git = [_rules(_exclude_file(location), f"{shown}.git/info/exclude")] if GIT in names else []
    git += [_rules(f"{location}/{GIT_RULES}", shown + GIT_RULES)] if GIT_RULES in names else []
    return outer.below(directory, ours, [rules for rules in git if rules])


def excluded_by_git(top: str) -> Ignores:
    """The rules of a repository that no commit holds. Raises RulesUnreadable."""
    return rules_inside(Ignores(), "", top, {GIT})


def rules_above(root: str) -> Ignores:
    """The rules of the directories above a root, up to the top of its repository.

    None if the root is not inside one, or if those rules ignore the root itself.
    """
    top = _repository_top(root)
    rules, at = Ignores(), ""
    for part in os.path.relpath(root, top).split("/") if top not in (None, root) else ():
        location = f"{top}/{at}" if at else f"{top}"
        rules = rules_inside(rules, at, location, _RULE_NAMES)
        at = f"{at}/{part}" if at else part
        if rules.why(at, directory=True):
            return Ignores()
    return rules.seen_from(at)


def _repository_top(directory: str) -> str | None:
    while not os.path.lexists(f"{directory}/{GIT}"):
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return directory


def _exclude_file(location: str) -> str:
    """`info/exclude` of the repository here, also if `.git` is the file of a linked work tree."""
    git = f"{location}/{GIT}"
    pointer = _content(git)
    if pointer is not None and pointer.startswith(b"gitdir: "):
        git = os.path.join(location, os.fsdecode(pointer[8:].rstrip(b"\n")))
        common = _content(f"{git}/commondir")
        git = os.path.join(git, os.fsdecode(common.rstrip(b"\n"))) if common else git
    return f"{git}/info/exclude"


def _rules(location: str, shown: str) -> RuleFile | None:
    content = _content(location)
    return RuleFile.parse(shown, content) if content else None


def _content(location: str) -> bytes | None:
    """What a regular file holds; None if there is none. Links do not count, as for git."""
    if "\0" in location:
        return None
    try:
        descriptor = os.open(location, _FLAGS)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise RulesUnreadable(location, error.strerror) from error
    try:
        regular = mode.S_ISREG(os.fstat(descriptor).st_mode)
        return b"".join(_parts(descriptor)) if regular else None
    finally:
        os.close(descriptor)


def _parts(descriptor: int) -> Iterator[bytes]:
    left = _LIMIT
    while left > 0 and (part := os.read(descriptor, left)):
        left -= len(part)
        yield part
