"""The one door to git: nothing else in pcpfs runs it, or knows what git keeps below `.git`.

`Git` is the store's own repository. `Repository` is one that is only read: a source's. Both run
git with a scrubbed environment (`process`), so that neither inherited variables nor the user's or
a foreign folder's configuration change what happens, run programs, or ask questions.

Paths are `str`, relative to the work tree, with `/`; bytes that are no UTF-8 are surrogate escapes
(`os.fsdecode`). Whole trees never pass through memory; the contents of a commit are streamed.
"""

from pcpfs.git.fast_import import Content
from pcpfs.git.rebases import Rebase, end_rebase, forget_rebase, replay, waiting_rebase
from pcpfs.git.remotes import Remote, fetch, push_to, remote_of, tip_of
from pcpfs.git.renames import renames
from pcpfs.git.repository import Repository, find_repository
from pcpfs.git.store import Change, Git
from pcpfs.git.values import CommitId, LogEntry, ObjectId, Person, Stored, TreeChange, TreeEntry

__all__ = [
    "Change",
    "CommitId",
    "Content",
    "Git",
    "LogEntry",
    "ObjectId",
    "Person",
    "Rebase",
    "Remote",
    "Repository",
    "Stored",
    "TreeChange",
    "TreeEntry",
    "end_rebase",
    "fetch",
    "find_repository",
    "forget_rebase",
    "push_to",
    "remote_of",
    "renames",
    "replay",
    "tip_of",
    "waiting_rebase",
]
