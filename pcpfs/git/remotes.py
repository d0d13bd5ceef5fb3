"""Fetching from and pushing to another repository, with the user's own credentials and ssh.

git runs in a scratch repository that shares only the store's objects. So what counts is the user's
own configuration (credential helpers, ssh, proxies), and nothing that the store's repository says
of itself but the address: a copied folder can have no program run. Hooks of ours do not run either;
those on the other side are the business of the other side.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pcpfs.errors import Conflict, NotFound, Unavailable, UsageError
from pcpfs.git.process import clean_environment, failure
from pcpfs.git.store import Git
from pcpfs.git.values import CommitId

PROTOCOLS = "file:ssh:https:git"

_USERS_OWN = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL")
_PASSWORD = re.compile("://[^/@ ]*@")
_BRANCH = "refs/heads/"
_THEIRS = "refs/heads/theirs"
_OURS = "refs/heads/ours"
_OPTIONS = (
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "fetch.recurseSubmodules=no"),
    *("-c", "push.recurseSubmodules=no"),
    *("-c", "push.gpgSign=false"),
    *("-c", "push.followTags=false"),
    *("-c", "transfer.fsckObjects=true"),
)


@dataclass(frozen=True, slots=True)
class Remote:
    """Another repository and a branch there. Where no name belongs to the address, `name` is the
    address."""

    name: str
    url: str
    branch: str

    @property
    def shown(self) -> str:
        return f"{self.name}/{self.branch}"

    @property
    def tracking(self) -> str | None:
        """Where git remembers what was last seen there."""
        return None if self.name == self.url else f"refs/remotes/{self.name}/{self.branch}"


def remote_of(git: Git, given: str | None) -> Remote:
    """The remote that is meant: by name or address, else the one that the branch follows."""
    branch = git.branch()
    if branch is None:
        raise UsageError("no branch is checked out here; git switch to one first")
    known = _urls(git)
    name = given or git.get_config(f"branch.{branch}.remote") or _only(known)
    if name is None:
        raise NotFound("there is no remote yet; add one with: git remote add origin URL")
    merge = git.get_config(f"branch.{branch}.merge") or ""
    theirs = merge.removeprefix(_BRANCH) if given is None and merge else branch
    if name in known:
        return Remote(name, known[name], theirs)
    if "/" not in name and ":" not in name:
        listed = f"; there is {', '.join(known)}" if known else ""
        raise NotFound(f"there is no remote {name}{listed}")
    return Remote(name, name, branch)


def fetch(git: Git, remote: Remote) -> CommitId | None:
    """Bring the objects of a branch of the remote; its commit, or None if it has no such branch.
    No ref of the store moves."""
    with _scratch(git) as scratch:
        order = f"+{_BRANCH}{remote.branch}:{_THEIRS}"
        code, said = scratch.run(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote.url, order
        )
        if code != 0:
            if b"couldn't find remote ref" in said:
                return None
            raise _failure("fetch", remote, said)
        return scratch.theirs()


def tip_of(git: Git, remote: Remote) -> CommitId | None:
    """Where a branch of the remote stands now, without bringing anything."""
    with _scratch(git) as scratch:
        code, said = scratch.run("ls-remote", "--", remote.url, f"{_BRANCH}{remote.branch}")
        if code != 0:
            raise _failure("ls-remote", remote, said)
        named = re.search(rb"^([0-9a-f]{40,64})\t", said, re.MULTILINE)
        return CommitId(named[1].decode()) if named else None


def push_to(
    git: Git, remote: Remote, commit: CommitId, *, instead_of: CommitId | None = None
) -> None:
    """Let a branch of the remote go on to a commit; Conflict if it has something that the commit
    does not go on from, and does not stand at the very commit that this one is `instead_of`."""
    with _scratch(git) as scratch:
        order = f"{commit}:{_BRANCH}{remote.branch}"
        forced = f"--force-with-lease={_BRANCH}{remote.branch}:{instead_of}"
        how = ("--porcelain", "--no-verify", *((forced,) if instead_of else ()))
        code, said = scratch.run("push", *how, "--", remote.url, order)
        if code == 0:
            return
        if re.search(rb"\[rejected\]|fetch first|non-fast-forward|stale info", said):
            raise Conflict(
                f"{remote.shown} has changes that are not here; run `pcpfs pull` first, then push",
                remote=remote.name,
                branch=remote.branch,
            )
        raise _failure("push", remote, said)


@dataclass(frozen=True, slots=True)
class _Scratch:
    """A repository of one operation, on the objects of the store."""

    folder: Path
    work_tree: Path
    environment: Mapping[str, str]

    def run(self, *arguments: str) -> tuple[int, bytes]:
        """Exit code and messages."""
        done = subprocess.run(
            ["git", *_OPTIONS, *arguments],
            cwd=self.work_tree,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def theirs(self) -> CommitId:
        return CommitId((self.folder / _THEIRS).read_text().strip())


@contextmanager
def _scratch(git: Git) -> Iterator[_Scratch]:
    import tempfile  # noqa: PLC0415 (few commands meet another repository)

    head = git.head()
    with tempfile.TemporaryDirectory(prefix="pcpfs-remote-") as name:
        folder = Path(name)
        _lay(folder, git, head)
        own = {key: value for key in _USERS_OWN if (value := os.environ.get(key))}
        clean = clean_environment()
        for key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_NO_LAZY_FETCH"):
            clean.pop(key)
        yield _Scratch(
            folder,
            git.work_tree,
            {
                **clean,
                **own,
                "GIT_DIR": name,
                "GIT_OBJECT_DIRECTORY": str(git.common_dir / "objects"),
                "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            },
        )


def _lay(folder: Path, git: Git, head: CommitId | None) -> None:
    """An empty bare repository; our commit is in it, so that only what is new is sent."""
    is_long = head is not None and len(head) == 64
    version = "1\n[extensions]\n\tobjectFormat = sha256" if is_long else "0"
    config = f"[core]\n\trepositoryformatversion = {version}\n[core]\n\tbare = true\n"
    (folder / "config").write_text(config)
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "refs" / "heads").mkdir(parents=True)
    if head is not None:
        (folder / _OURS).write_text(f"{head}\n")
    if git.is_shallow():
        (folder / "shallow").write_bytes((git.common_dir / "shallow").read_bytes())


def _urls(git: Git) -> dict[str, str]:
    """The addresses of all remotes, by name."""
    found: dict[str, str] = {}
    for key, value in git.get_configs(r"^remote\..*\.url$"):
        name = key.removeprefix("remote.").removesuffix(".url")
        found.setdefault(name, value)
    return found


def _only(names: Sequence[str] | Mapping[str, str]) -> str | None:
    if "origin" in names:
        return "origin"
    return next(iter(names)) if len(names) == 1 else None


def _failure(what: str, remote: Remote, said: bytes) -> Unavailable:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    if any(sign in said for sign in (b"No space left", b"quota exceeded")):
        raise failure((what,), said)
    told = "; ".join(line.strip() for line in lines[-3:]) or "git said nothing"
    where = _PASSWORD.sub("://", f"{remote.shown} ({remote.url}): {told}")
    return Unavailable(f"cannot {what} {where}", remote=_PASSWORD.sub("://", remote.name))
