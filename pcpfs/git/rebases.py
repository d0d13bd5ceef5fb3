"""A rebase that stopped: what is left of it, and how it ends without git's sequencer.

git's own `rebase --continue` would run what the folder says (`exec` lines, strategies, hooks of a
copied repository). So commits are replayed as contents, and then git is told to forget.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pcpfs.git.fast_import import CommitImport, CommitText, Content
from pcpfs.git.process import Process, failure
from pcpfs.git.store import Git, checked
from pcpfs.git.values import CommitId, Person
from pcpfs.model.instants import Instant

_REPLAYED = "refs/pcpfs/replayed"


@dataclass(frozen=True, slots=True)
class Rebase:
    """What a stopped rebase says: the branch that moves, where it stood, and the commits that are
    still to be replayed, the one at which it stopped first. `is_plain`: nothing but picks."""

    ref: str
    before: CommitId
    waiting: tuple[CommitId, ...]
    is_plain: bool
    has_ended: bool


def waiting_rebase(git: Git) -> Rebase | None:
    """The rebase that waits; None if there is none of the kind that git makes by itself."""
    folder = git.git_dir / "rebase-merge"
    if not folder.is_dir():
        return None
    said = {
        name: (folder / name).read_text("utf-8", "replace").strip()
        for name in ("head-name", "orig-head", "git-rebase-todo", "done")
        if (folder / name).is_file()
    }
    done, todo = _steps(said.get("done", "")), _steps(said.get("git-rebase-todo", ""))
    stopped = done[-1:] if (git.git_dir / "REBASE_HEAD").exists() else []
    names = [step[1] for step in (*stopped, *todo) if len(step) > 1]
    commits = tuple(found for name in names if (found := git.ref(f"{name}^{{commit}}")))
    is_plain = (
        all(step[0] in ("pick", "p") for step in (*done, *todo))
        and len(commits) == len(stopped) + len(todo)
        and said.get("head-name", "").startswith("refs/heads/")
        and not (folder / "strategy").exists()
    )
    before = git.ref(f"{said.get('orig-head', 'none')}^{{commit}}")
    if before is None:
        return None
    ref = said.get("head-name", "")
    return Rebase(ref, before, commits, is_plain, git.branch() is not None)


def replay(
    git: Git,
    onto: CommitId,
    original: CommitId,
    changes: Iterable[tuple[str, Content]],
    at: Instant,
) -> CommitId:
    """A commit on top of another one that says and holds what an original did; no branch moves."""
    out = _process(git).run("show", "-s", "--format=%an%x00%ae%x00%B", original, "--")
    name, email, message = out.decode("utf-8", "replace").split("\0", 2)
    text = CommitText(message.strip() + "\n", at, Person(name, email), git.identity)
    attempt = CommitImport("sha256" if len(onto) == 64 else "sha1")
    wanted = [(checked(path), content) for path, content in changes]
    attempt.run(_process(git), _REPLAYED, onto, text, wanted)
    if attempt.commit is None:
        raise failure(("fast-import",), attempt.messages)
    return attempt.commit


def end_rebase(git: Git, rebase: Rebase, tip: CommitId) -> None:
    """Let the branch stand at the last replayed commit, and be HEAD again."""
    process = _process(git)
    process.run("update-ref", "-m", "pcpfs: rebase", rebase.ref, tip)
    process.run("symbolic-ref", "-m", "pcpfs: rebase", "HEAD", rebase.ref)


def forget_rebase(git: Git) -> None:
    """No rebase waits any more; what `--autostash` had put aside goes to the stash."""
    _process(git).run("update-ref", "-d", _REPLAYED)
    _process(git).run("rebase", "--quit")


def _process(git: Git) -> Process:
    return Process(git.git_dir, git.work_tree, git.identity)


def _steps(text: str) -> list[list[str]]:
    lines = (line.split() for line in text.splitlines())
    return [
        words for words in lines if words and not words[0].startswith("#") and words != ["noop"]
    ]
