"""The end of every operation, and how one that a crash cut short is finished or taken back.

An intent is on the disk before anything else of an operation. Objects are durable before its first
change appears, so what is found tells what to do: with any change in place everything is there or
in the intent, and the operation is finished; with none it is taken back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pcpfs.errors import PcpfsError, Unavailable
from pcpfs.git import CommitId, Content, Person
from pcpfs.git.refs import stash
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.store import layout
from pcpfs.store.events.event_segments import refold_segments
from pcpfs.store.local import Base, Position
from pcpfs.store.trees.tree import NOTHING_SEEN, Seen
from pcpfs.store.workshop import Workshop, refold

INTENT = "intent.json"
_PART = "intent-%d.json"


@dataclass(frozen=True, slots=True)
class Committed:
    """The outcome: the commit, and edits in `tree/` that were left alone."""

    commit: CommitId | None
    left: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intent:
    """What a transaction is about to write: enough to finish it after a crash, or to take it back.

    `paths` are all files that are to be committed. Of those that were not there before, `last` are
    the ones that count (changes, segments, generated files), with their content, and `new` mean
    nothing without them. `bases` are the files of `tree/` from which it takes what it writes.
    Earlier parts of a large operation are files of their own.
    """

    subject: str
    trailers: tuple[tuple[str, str], ...]
    actor: str
    paths: tuple[str, ...]
    new: tuple[str, ...] = ()
    last: Mapping[str, str] = field(default_factory=dict)
    bases: Mapping[str, Base] = field(default_factory=dict)

    def write(self, shop: Workshop) -> None:
        rest = {"new": self.new, "last": self.last, "bases": [*self.bases.values()]}
        _put(shop, INTENT, [self.subject, self.trailers, self.actor, self.paths, rest])

    def keep_part(self, shop: Workshop, number: int) -> None:
        """Remember the paths of a part that is acknowledged, before the next part's intent."""
        _put(shop, _PART % number, self.paths)

    @classmethod
    def read(cls, shop: Workshop) -> Intent | None:
        """The intent of a crashed transaction, if there is one. From a damaged one only follows
        that something was going on: then whatever is in no commit is meant."""
        try:
            raw = shop.disk.read(shop.local_folder / INTENT)
        except FileNotFoundError:
            return None
        try:
            intent = cls._decoded(raw)
            parts = [json.loads(shop.disk.read(part)) for part in _parts(shop)]
            earlier = [str(path) for part in parts for path in part]
            return replace(intent, paths=(*earlier, *intent.paths))
        except (ValueError, TypeError, AttributeError):
            return cls("recover", (), "system:pcpfs", tuple(uncommitted(shop)))

    @classmethod
    def _decoded(cls, raw: bytes) -> Intent:
        subject, trailers, actor, paths, *rest = json.loads(raw)
        more = rest[0] if rest else {}
        return cls(
            subject,
            tuple((k, v) for k, v in trailers),
            actor,
            tuple(map(str, paths)),
            tuple(map(str, more.get("new", ()))),
            {str(path): str(text) for path, text in more.get("last", {}).items()},
            {base.path: base for base in map(_base, more.get("bases", ()))},
        )


def _base(words: Sequence[Any]) -> Base:
    path, page, digest, revision, before = words
    known = tuple(map(RevisionId, before))
    return Base(path, PageId(page), Digest(digest), RevisionId(revision), known)


def forget(shop: Workshop) -> None:
    """Take the intent away: its operation is finished, or has left nothing."""
    for part in _parts(shop):
        shop.disk.remove(part)
    shop.disk.remove(shop.local_folder / INTENT)


def conclude(
    shop: Workshop,
    intent: Intent,
    files: Mapping[str, bytes | Path],
    pages: Sequence[PageId],
    *,
    claims: Iterable[tuple[str, str]],
    at: Instant,
    again: bool = False,
    alike: bool = False,
    seen: Seen = NOTHING_SEEN,
) -> Committed:
    """Lay `tree/`, commit, and take the intent away; the last part of every transaction.

    Everything is acknowledged already: what fails here is a warning, and the next opening or
    writing tries again (then what HEAD holds by now is not committed twice).
    """
    commit: CommitId | None = None
    left: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    try:
        laid = shop.tree.lay(shop.catalog, pages, claims, seen)
        left, missing = laid.left, laid.missing
        changed: dict[str, Content] = {**files, **laid.written}
        changed.update(dict.fromkeys(laid.removed))
        if again:
            changed = shop.git.not_in_head(changed)
        commit = _commit(shop, intent, changed, at, alike) if changed else shop.git.head()
        forget(shop)
    except PcpfsError as error:
        return Committed(commit, left, (*_left_alone(left, missing), waiting(error, commit)))
    return Committed(commit, left, _left_alone(left, missing))


def _commit(
    shop: Workshop, intent: Intent, changed: Mapping[str, Content], at: Instant, alike: bool
) -> CommitId:
    message = intent.subject + "\n\n" + "".join(f"{k}: {v}\n" for k, v in intent.trailers)
    before = shop.git.head()
    author = Person(intent.actor, f"{intent.actor.replace(':', '.')}@pcpfs")
    commit = shop.git.commit(changed.items(), message, at, author, alike=alike)
    shop.tree.local.follow(before, commit)
    if shop.catalog.meta("commit") == (before or ""):
        with shop.catalog.writing():
            shop.catalog.set_meta("commit", commit)
    return commit


def recover(shop: Workshop, intent: Intent, at: Instant) -> Committed:
    """Finish what a crashed transaction had acknowledged, or take it back if it had nothing. Only
    under the writer lock."""
    bases = intent.bases if _is_acknowledged(shop, intent) else {}
    paths = settled(shop, intent)
    there = {path: raw for path in paths if (raw := _content(shop, path)) is not None}
    pages = {found[1]: found[0] for path in intent.paths if (found := layout.page_of(path))}
    scopes = {scope for path in intent.paths if (scope := layout.scope_of(path))}
    with shop.catalog.writing():
        refold_segments(shop, intent.paths)
        claims = refold(shop, pages.items(), scopes)
    seen = Seen(bases, anew=None)
    return conclude(shop, intent, there, list(pages), claims=claims, at=at, again=True, seen=seen)


def settled(shop: Workshop, intent: Intent) -> tuple[str, ...]:
    """The files that are to be committed: all, if one that counts is in place, and those missing
    are written now; else what is new is taken away."""
    if not _is_acknowledged(shop, intent):
        gone = set(_taken_back(shop, intent.new))
        return tuple(path for path in intent.paths if path not in gone)
    with shop.disk.batch(shop.local_folder) as batch:
        for path, text in intent.last.items():
            if not (shop.root / path).exists():
                batch.write(f"{shop.root}/{path}", text.encode())
    return intent.paths


def withdraw(shop: Workshop, intent: Intent, *, is_all: bool) -> None:
    """Take back what a failing transaction wrote, unless a change is in place. With `is_all` it
    had no earlier parts, and the intent goes too. What cannot be done now is left to recovery."""
    with suppress(PcpfsError):
        if not _is_acknowledged(shop, intent):
            list(_taken_back(shop, intent.new))
            if is_all:
                forget(shop)


def _is_acknowledged(shop: Workshop, intent: Intent) -> bool:
    return any((shop.root / path).exists() for path in intent.last)


def _taken_back(shop: Workshop, new: Sequence[str]) -> Iterator[str]:
    """Remove objects that nothing refers to, but for those that somebody committed meanwhile."""
    head = shop.git.head()
    blobs = shop.git.blobs_at(head, new) if head and new else [None] * len(new)
    for path, blob in zip(new, blobs, strict=True):
        if blob is None:
            shop.disk.remove(shop.root / path)
            shop.disk.remove_empty((shop.root / path).parent, shop.root)
            yield path


def uncommitted(shop: Workshop) -> Iterator[str]:
    """Files of the truth that are in no commit, by path; `tree/` is derived and not among them."""
    head = shop.git.head()
    known = {entry.path for entry in shop.git.ls_tree(head)} if head else set()
    for folder, folders, names in os.walk(shop.root / layout.SCOPES):
        folders[:] = sorted(name for name in folders if name != "tree")
        for name in sorted(names):
            path = Path(folder, name).relative_to(shop.root).as_posix()
            if path not in known and not name.startswith("."):
                yield path


def position_now(shop: Workshop) -> Position:
    """Where HEAD and the stash stand."""
    return Position(shop.git.head(), stash(shop.git.common_dir))


def _left_alone(left: Iterable[str], missing: Iterable[str]) -> tuple[str, ...]:
    edited = (
        f"{path} holds an edit of yours and was left as it is; the page itself is written"
        for path in left
    )
    removed = (
        f"{path} was removed by you and stays so; the page itself is written" for path in missing
    )
    return (*edited, *removed)


def waiting(error: PcpfsError, commit: CommitId | None) -> str:
    """What to say of an operation that is acknowledged, and could not be concluded."""
    if isinstance(error, Unavailable) and commit is None:
        return f"everything is written, but not committed yet: {error.message}"
    return f"everything is written; the next command finishes the rest: {error.message}"


def _parts(shop: Workshop) -> list[Path]:
    return sorted(shop.local_folder.glob(_PART.replace("%d", "*")))


def _put(shop: Workshop, name: str, value: object) -> None:
    text = json.dumps(value, ensure_ascii=True)
    shop.disk.write(shop.local_folder / name, text.encode())


def _content(shop: Workshop, path: str) -> bytes | None:
    try:
        return shop.disk.read(shop.root / path)
    except (FileNotFoundError, PcpfsError):
        return None
