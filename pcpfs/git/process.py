"""Running git so that only what we say counts.

Of the caller's environment everything but GIT_* is kept (PATH, HOME, …). No configuration outside
the repository is read, and what the repository itself may say that would run a program, ask, sign,
convert or reach a network is overruled. The repository is named outright, never searched for; so
git does not check who owns it, and `require_trust` does that instead.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pcpfs.errors import Busy, Corrupt, PcpfsError, ReadOnly, StorageFull, Unavailable
from pcpfs.git.values import Person

OLDEST = (2, 32)
"""The first git that can leave out the user's configuration (GIT_CONFIG_GLOBAL)."""

IDENTITY = Person("pcpfs", "pcpfs@localhost")

_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
}

_SETTINGS = (
    "core.hooksPath=" + os.devnull,
    "core.attributesFile=" + os.devnull,
    "core.excludesFile=" + os.devnull,
    "core.fsmonitor=false",
    "core.fsync=committed,loose-object,reference,index",
    "core.fsyncMethod=batch",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
    "credential.helper=",
    "gc.auto=0",
    "maintenance.auto=false",
)
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))


@dataclass(frozen=True, slots=True)
class Process:
    """Runs git on one work tree; both folders are absolute. With `optional_locks` a command that
    only reads may write down in the index what it learnt about unchanged files."""

    git_dir: Path
    work_tree: Path
    identity: Person = IDENTITY
    optional_locks: bool = False

    def run(self, *arguments: str, stdin: bytes | IO[bytes] = b"") -> bytes:
        """What git prints; an error of pcpfs if it fails."""
        code, out, err = self.attempt(*arguments, stdin=stdin)
        if code != 0:
            raise failure(arguments, err)
        return out

    def attempt(self, *arguments: str, stdin: bytes | IO[bytes] = b"") -> tuple[int, bytes, bytes]:
        """Exit code, output and messages, where failing is an answer."""
        source = stdin if isinstance(stdin, bytes) else None
        with self.start(*arguments, stdin=None if isinstance(stdin, bytes) else stdin) as process:
            out, err = process.communicate(source)
            return process.returncode, out, err

    def start(self, *arguments: str, stdin: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        """A running git with pipes; the caller waits for it."""
        try:
            return subprocess.Popen(
                ["git", *_OPTIONS, *arguments],
                stdin=subprocess.PIPE if stdin is None else stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.work_tree,
                env=self._environment(),
            )
        except FileNotFoundError as error:
            raise _missing(self.work_tree) from error
        except PermissionError as error:
            raise Unavailable(f"git cannot be run in {self.work_tree}: {error.strerror}") from error

    def _environment(self) -> dict[str, str]:
        name, email = self.identity.name, self.identity.email
        return clean_environment() | {
            "GIT_DIR": str(self.git_dir),
            "GIT_WORK_TREE": str(self.work_tree),
            "GIT_OPTIONAL_LOCKS": str(int(self.optional_locks)),
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": email,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": email,
        }


def clean_environment() -> dict[str, str]:
    """The environment for a git that knows nothing but what we tell it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") and k != "LANGUAGE"}
    return kept | _ENVIRONMENT


def run_anywhere(arguments: Sequence[str], folder: Path) -> bytes:
    """Run git outside any repository, as for `init`."""
    try:
        done = subprocess.run(
            ["git", *_OPTIONS, *arguments],
            cwd=folder,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise _missing(folder) from error
    if done.returncode != 0:
        raise failure(arguments, done.stderr)
    return done.stdout


def require_git() -> None:
    """Unavailable if git is missing or too old."""
    said = run_anywhere(["--version"], Path(os.path.sep))
    found = re.search(rb"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise Unavailable(
            f"git {OLDEST[0]}.{OLDEST[1]} or newer is needed, but this is "
            f"{said.decode(errors='replace').strip()}; please upgrade git"
        )


def require_trust(work_tree: Path, git_dir: Path) -> None:
    """Refuse a repository of another user, unless the user's own `safe.directory` names it."""
    owners = {os.stat(path).st_uid for path in (work_tree, work_tree / ".git", git_dir)}
    if not hasattr(os, "geteuid") or owners <= _own_ids() or _declared_safe(work_tree):
        return
    raise Unavailable(
        f"the git repository {work_tree} belongs to another user; if you trust it, run: "
        f"git config --global --add safe.directory '{work_tree}'",
        path=str(work_tree),
    )


def _own_ids() -> set[int]:
    sudo = os.environ.get("SUDO_UID", "")
    return {os.geteuid()} | ({int(sudo)} if os.geteuid() == 0 and sudo.isdigit() else set())


def _declared_safe(work_tree: Path) -> bool:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    done = subprocess.run(
        ["git", "config", "-z", "--type=path", "--get-all", "safe.directory"],
        cwd=os.path.sep,
        env=environment | {"GIT_DIR": os.devnull},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    safe: set[str] = set()
    for entry in map(os.fsdecode, done.stdout.split(b"\0")[:-1]):
        safe = safe | {entry} if entry else set()
    here = [str(work_tree), os.path.realpath(work_tree)]
    above = [str(folder) + "/*" for path in here for folder in Path(path).parents]
    return not safe.isdisjoint({"*", *here, *above})


def _missing(folder: Path) -> PcpfsError:
    if not folder.is_dir():
        return Unavailable(f"the folder {folder} is gone; nothing was written", path=str(folder))
    return Unavailable("git is not installed, or not on the PATH; please install it")


_MEANINGS: tuple[tuple[bytes, type[PcpfsError], str], ...] = (
    (b"No space left", StorageFull, "no space is left for git's objects; free some and try again"),
    (b"quota exceeded", StorageFull, "the quota is used up; free some space and try again"),
    (b"Read-only file system", ReadOnly, "the repository is on a read-only disk"),
    (b"ermission denied", ReadOnly, "the repository may not be written by this user"),
    (b".lock': File exists", Busy, "another git command is running here; try again when it ended"),
    (b"is corrupt", Corrupt, "an object of the repository is damaged; run `git fsck`"),
    (b"unable to stream", Corrupt, "an object of the repository is damaged; run `git fsck`"),
    (b"bad object", Corrupt, "an object of the repository is missing; run `git fsck`"),
)


def failure(arguments: Sequence[str], messages: bytes) -> PcpfsError:
    """What git's messages mean to us."""
    said = messages.decode("utf-8", "replace").strip()
    for sign, kind, meaning in _MEANINGS:
        if sign in messages:
            return kind(f"{meaning} (git said: {said})")
    require_git()
    command = next((word for word in arguments if not word.startswith("-")), "")
    return Unavailable(f"git {command} failed: {said or 'it said nothing'}")
