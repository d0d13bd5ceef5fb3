"""The history of a source along first-parent lines, in one stream."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from subprocess import Popen
from typing import IO, NamedTuple

from pcpfs.errors import Unavailable
from pcpfs.git.process import failure
from pcpfs.git.raw import process_of
from pcpfs.git.repository import RAW, Repository
from pcpfs.git.values import CommitId, ObjectId, Person, TreeEntry

_FORMAT = "--format=%x01%H%x00%an%x00%ae"
_FIRST_PARENT = ("--first-parent", "--diff-merges=first-parent")
_CHUNK = 1 << 20
_CUT = ("unable to read", "from promisor remote")


@dataclass(frozen=True, slots=True)
class Moment:
    """A commit on the line. `seconds` is the committer's time, which may run backwards."""

    commit: CommitId
    seconds: int


@dataclass(frozen=True, slots=True)
class Edit:
    """A path in one commit: what was there before and what is there after it, None for nothing.
    `renamed_from` is the path that git holds it to have had before."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None
    renamed_from: str | None = None


@dataclass(frozen=True, slots=True)
class CommitEdits:
    """A commit, its author and what it did to the files, against its first parent."""

    commit: CommitId
    author: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """The commits of a first-parent line, oldest first. `is_cut`: the repository is shallow, and
    nothing is known of what lies before the first."""

    moments: tuple[Moment, ...]
    is_cut: bool


def line_to(repository: Repository, tip: CommitId) -> Line:
    """The first-parent line from its beginning to a commit."""
    out = process_of(repository).run("rev-list", "--timestamp", "--first-parent", tip, "--")
    words = [line.split() for line in out.decode().splitlines()]
    moments = tuple(Moment(CommitId(commit), int(at)) for at, commit in reversed(words))
    return Line(moments, bool(moments) and moments[0].commit in repository.shallow_commits())


def branch_tips(repository: Repository) -> dict[str, CommitId]:
    """The commit of each branch, local and of remotes, by the full name of its ref; refs that only
    stand for another one (`origin/HEAD`) are left out."""
    form = "--format=%(objectname) %(refname)%00%(symref)"
    out = process_of(repository).run("for-each-ref", form, "refs/heads", "refs/remotes")
    found = {}
    for line in out.splitlines():
        about, _, stands_for = line.partition(b"\0")
        commit, ref = os.fsdecode(about).split(" ", 1)
        if not stands_for:
            found[ref] = CommitId(commit)
    return found


class FirstParent(NamedTuple):
    """The first parent of a commit, None where git knows of none here, and the commit's own time
    in seconds, as its committer's clock said it."""

    parent: CommitId | None
    seconds: int


def first_parents(repository: Repository, tips: Iterable[CommitId]) -> dict[CommitId, FirstParent]:
    """Every commit that these lead to by first parents, themselves included; nothing of those that
    git does not have."""
    command = ("rev-list", "--ignore-missing", "--timestamp", "--parents", "--first-parent")
    with _lines_of(tips) as given:
        out = process_of(repository).run(*command, "--stdin", stdin=given)
    found = {}
    for line in out.decode().splitlines():
        seconds, commit, *parents = line.split()
        parent = CommitId(parents[0]) if parents else None
        found[CommitId(commit)] = FirstParent(parent, int(seconds))
    return found


def author_of(repository: Repository, commit: CommitId) -> str:
    """Who wrote a commit."""
    out = process_of(repository).run("log", "-1", _FORMAT, "--no-show-signature", commit, "--")
    return _author(out.lstrip(b"\x01").rstrip(b"\n").split(b"\0")[1:])


def edits_between(
    repository: Repository, start: CommitId, tip: CommitId, paths: Sequence[str] = ()
) -> Iterator[CommitEdits]:
    """The commits after `start` on the line that leads to `tip`, oldest first, with what each did
    to these paths (files or folders; none: all). A merge did what differs from its first parent.

    From where on the contents that tell a rename are not at hand (a partial clone), only those are
    told that changed nothing else.
    """
    return _edits(repository, ("--reverse", "--full-history", f"{start}..{tip}"), (), paths)


def edits_of(
    repository: Repository, commits: Sequence[CommitId], paths: Sequence[str] = ()
) -> Iterator[CommitEdits]:
    """The same of these commits, in their order. One without a parent did all that is in it."""
    return _edits(repository, ("--no-walk=unsorted", "--root", "--stdin"), commits, paths)


def _edits(
    repository: Repository, which: Sequence[str], names: Sequence[str], paths: Sequence[str]
) -> Iterator[CommitEdits]:
    done = 0
    try:
        for done, edits in enumerate(_told(repository, which, names, paths, "-M"), 1):  # noqa: B007
            yield edits
    except Unavailable as error:
        if not any(sign in error.message for sign in _CUT):
            raise
        yield from islice(_told(repository, which, names, paths, "-M100%"), done, None)


def _told(
    repository: Repository,
    which: Sequence[str],
    names: Sequence[str],
    paths: Sequence[str],
    renames: str,
) -> Iterator[CommitEdits]:
    """Each commit once it is wholly known; Unavailable where git stops before the last."""
    command = (
        "log", *RAW, renames, "-l1000", *_FIRST_PARENT, "--no-color", _FORMAT,
        "--no-show-signature", *which, "--", *paths,
    )  # fmt: skip
    git = process_of(repository)
    with _lines_of(names) as given, git.start(*command, stdin=given) as process:
        last = None
        try:
            for commit in _commits(_words(process)):
                if last is not None:
                    yield last
                last = commit
        except GeneratorExit:
            process.kill()
            raise
        assert process.stderr is not None
        said = process.stderr.read()
        if process.wait() != 0:
            raise failure(("log",), said)
    if last is not None:
        yield last


@contextmanager
def _lines_of(names: Iterable[str]) -> Iterator[IO[bytes]]:
    """A file with these names, for git to read."""
    with tempfile.TemporaryFile() as lines:
        lines.writelines(f"{name}\n".encode() for name in names)
        lines.seek(0)
        yield lines


def _words(process: Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    rest = b""
    while chunk := process.stdout.read(_CHUNK):
        *words, rest = (rest + chunk).split(b"\0")
        yield from words
    if rest.strip():
        yield rest


def _commits(words: Iterator[bytes]) -> Iterator[CommitEdits]:
    """From the words between the NULs: a commit starts with 0x01, an edit with a colon."""
    commit: CommitEdits | None = None
    edits: list[Edit] = []
    for word in words:
        about = word.lstrip(b"\n")
        if about.startswith(b"\x01"):
            if commit is not None:
                yield replace(commit, edits=tuple(edits))
            edits = []
            author = _author((next(words, b""), next(words, b"")))
            commit = CommitEdits(CommitId(about[1:].decode()), author, ())
        elif about.startswith(b":"):
            edits += _edit(about[1:].decode(), words)
    if commit is not None:
        yield replace(commit, edits=tuple(edits))


def _edit(about: str, words: Iterator[bytes]) -> Iterator[Edit]:
    """One line of `--raw`; a rename is a path that goes and one that comes."""
    mode_before, mode, before, after, status = about.split(" ")
    path = os.fsdecode(next(words, b""))
    new = os.fsdecode(next(words, b"")) if status[0] in "RC" else path
    gone = _entry(path, mode_before, before)
    there = _entry(new, mode, after)
    if new != path:
        yield Edit(path, gone, None)
        yield Edit(new, None, there, path)
    else:
        yield Edit(path, gone, there)


def _entry(path: str, mode: str, blob: str) -> TreeEntry | None:
    return TreeEntry(path, mode, ObjectId(blob)) if blob.strip("0") else None


def _author(words: Sequence[bytes]) -> str:
    name, email = (word.decode("utf-8", "replace").strip("\n") for word in words)
    return str(Person(name, email))
