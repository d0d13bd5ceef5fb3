"""The end of every operation, and how one that a crash cut short is finished."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcpfs.errors import PcpfsError, Unavailable
from pcpfs.git import CommitId, Person
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.store import layout
from pcpfs.store.event_segments import refold_segments
from pcpfs.store.workshop import Workshop, refold

INTENT = "intent.json"


@dataclass(frozen=True, slots=True)
class Committed:
    """The outcome: the commit, and edits in `tree/` that were left alone."""

    commit: CommitId | None
    left: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intent:
    """What a transaction is about to write: enough to finish it after a crash."""

    subject: str
    trailers: tuple[tuple[str, str], ...]
    actor: str
    paths: tuple[str, ...]

    def write(self, shop: Workshop) -> None:
        members = [self.subject, self.trailers, self.actor, self.paths]
        text = json.dumps(members, ensure_ascii=True)
        shop.disk.write(shop.local_folder / INTENT, text.encode())

    @classmethod
    def read(cls, shop: Workshop) -> Intent | None:
        """The intent of a crashed transaction, if there is one. From a damaged one only follows
        that something was going on: then whatever is in no commit is meant."""
        try:
            raw = shop.disk.read(shop.local_folder / INTENT)
        except FileNotFoundError:
            return None
        try:
            subject, trailers, actor, paths = json.loads(raw)
            return cls(subject, tuple((k, v) for k, v in trailers), actor, tuple(map(str, paths)))
        except (ValueError, TypeError):
            return cls("recover", (), "system:pcpfs", tuple(uncommitted(shop)))


def conclude(
    shop: Workshop,
    intent: Intent,
    files: Mapping[str, bytes | Path],
    pages: Sequence[PageId],
    *,
    claims: Iterable[tuple[str, str]],
    at: Instant,
) -> Committed:
    """Lay `tree/`, commit, and take the intent away; the last part of every transaction."""
    laid = shop.tree.lay(shop.catalog, pages, claims)
    changed: dict[str, bytes | Path | None] = {**files, **laid.written}
    changed.update(dict.fromkeys(laid.removed))
    message = intent.subject + "\n\n" + "".join(f"{k}: {v}\n" for k, v in intent.trailers)
    before = shop.git.head()
    warnings = tuple(
        f"{path} holds an edit of yours and was left as it is; the page itself is written"
        for path in laid.left
    )
    author = Person(intent.actor, f"{intent.actor.replace(':', '.')}@pcpfs")
    try:
        commit = shop.git.commit(changed.items(), message, at, author)
    except Unavailable as error:
        waiting = f"everything is written, but not committed yet: {error.message}"
        return Committed(None, laid.left, (*warnings, waiting))
    if shop.catalog.meta("commit") == (before or ""):
        with shop.catalog.writing():
            shop.catalog.set_meta("commit", commit)
    shop.disk.remove(shop.local_folder / INTENT)
    return Committed(commit, laid.left, warnings)


def recover(shop: Workshop, intent: Intent, at: Instant) -> Committed:
    """Finish what a crashed transaction had acknowledged. Only under the writer lock."""
    there = {path: raw for path in intent.paths if (raw := _content(shop, path)) is not None}
    pages = {found[1]: found[0] for path in there if (found := layout.page_of(path))}
    with shop.catalog.writing():
        refold_segments(shop, intent.paths)
        claims = refold(
            shop, pages.items(), {ns for path in there if (ns := layout.scope_of(path))}
        )
    return conclude(shop, intent, there, list(pages), claims=claims, at=at)


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


def _content(shop: Workshop, path: str) -> bytes | None:
    try:
        return shop.disk.read(shop.root / path)
    except (FileNotFoundError, PcpfsError):
        return None
