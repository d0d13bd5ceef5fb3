"""An index that may lag behind for a moment, for processes that commit again and again.

What a commit costs git grows with the index alone: bringing it up to date reads all of it. A server
or watcher does that once for many commits, and when it ends. Meanwhile a mark beside the index says
from which commit on it lags, so whoever comes next can bring it up to date, also after a crash. A
person's own commit in between drops our latest files from their tree; the work tree still has them,
and the mark says which they are, so they are committed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError
from pcpfs.git.fast_import import Entry
from pcpfs.git.store import Git
from pcpfs.git.values import CommitId

MOST_COMMITS = 256
MOST_FILES = 2_000
MARK = "pcpfs/index-behind"


@dataclass(slots=True)
class _Count:
    """How far the index lags behind this process's commits."""

    commits: int = 0


@dataclass(frozen=True, slots=True)
class LateGit(Git):
    """A repository whose index is brought up to date by `catch_up`, at the latest after
    MOST_COMMITS; one large commit does it at once."""

    behind: _Count = field(default_factory=_Count)

    def _index_commit(self, entries: Sequence[Entry], commit: CommitId) -> None:
        head = self.head()
        if head is None or len(entries) >= MOST_FILES:
            self._write_index(entries, commit)
        else:
            base, last = _marked(self)
            if last in (None, head):  # else somebody committed just now: it may have dropped ours
                _mark(self, base or head, commit)
            self.behind.commits += 1

    @property
    def may_lag_on(self) -> bool:
        """Not where it is far behind (a person's `git status` shows it, and it only takes longer
        later), nor after a commit of somebody else, which the mark cannot tell of once it names
        our next one."""
        return self.behind.commits < MOST_COMMITS and _marked(self)[1] == self.head()


def lags(git: Git) -> bool:
    """Whether the index of a repository lags behind; one `stat`."""
    return (git.common_dir / MARK).exists()


def catch_up(git: Git) -> tuple[str, ...]:
    """Bring the index up to date; only under the writer's lock. The files that a person's commit
    has dropped meanwhile, because the index did not have them yet: they are to be committed again.
    """
    base, last = (_at_hand(git, commit) for commit in _marked(git))
    head = git.head()
    dropped: tuple[str, ...] = ()
    if base is not None and head is not None:
        ours = [c.path for c in git.diff_tree(base, last or head) if c.after is not None]
        now = git.blobs_at(head, ours)
        if last is not None and last != head:
            dropped = tuple(path for path, blob in zip(ours, now, strict=True) if blob is None)
        changed = (change.path for change in git.diff_tree(base, head))
        git.refresh_index({*ours, *changed})
    Disk().remove(git.common_dir / MARK)
    if isinstance(git, LateGit):
        git.behind.commits = 0
    return dropped


def _at_hand(git: Git, commit: CommitId | None) -> CommitId | None:
    """The mark is older than the commit that it names, and may outlive it where power fails."""
    return commit if commit and git.is_ancestor(commit, commit) else None


def _mark(git: Git, base: CommitId, last: CommitId) -> None:
    """The first mark is durable before the branch moves; later ones only name a later commit."""
    path, text = git.common_dir / MARK, f"{base} {last}\n".encode()
    if path.exists():
        Disk().write_volatile(path, text)
    else:
        Disk().write(path, text)


def _marked(git: Git) -> tuple[CommitId | None, CommitId | None]:
    """Since which commit the index lags, and the last commit that it lacks; None where
    it does not, or the mark is damaged (then `git status` and `fsck` tell)."""
    try:
        base, last = Disk().read(Path(git.common_dir, MARK)).decode().split()
        return CommitId(base), CommitId(last)
    except (FileNotFoundError, ValueError, PcpfsError):
        return None, None
