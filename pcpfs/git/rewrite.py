"""Rewriting history: the same commits without some files, from the first one that holds them on.

A pure function of the old objects and of what is to go, so every clone that rewrites gets the same
commits. Commits before the first holder keep their names. Signatures go where what they sign does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pcpfs.git.doomed import Doomed
from pcpfs.git.holding import EVERYWHERE
from pcpfs.git.process import failure
from pcpfs.git.raw import Entry, Raw, Reader, Writer, entries, process_of, tree_of
from pcpfs.git.repository import Repository

Mapped = dict[str, str]
"""Old names of objects and the new ones; those that stay are not in it."""

_DROP, _JUDGE = "drop", "judge"
_SIGNED = (b"gpgsig", b"gpgsig-sha256", b"mergetag")
_SIGNATURE = re.compile(rb"-----BEGIN (?:PGP|SSH) (?:SIGNATURE|MESSAGE)-----.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Walked:
    """A commit as the walk sees it."""

    commit: str
    parents: tuple[str, ...]
    message: bytes


def rewrite(
    git: Repository, doomed: Doomed, known: Mapping[str, str], more: Iterable[str] = ()
) -> Mapped:
    """Make the new commits of all that any ref, reflog or other work tree reaches, and `more`; no
    ref moves. `known` are answers that another clone has found: they hold where their commits are
    at hand."""
    walked = list(_walk(git, [*more]))
    if not walked:
        return {}
    holders = _holders(git, doomed, [*more])
    with Reader(git) as reader:
        rewriting = _Rewriting(git, doomed, reader, len(walked[0].commit))
        rewriting.commits(walked, holders, known)
        rewriting.notes()
        rewriting.tags()
        rewriting.writer.flush()
        return rewriting.mapped


def _walk(git: Repository, more: list[str]) -> Iterator[Walked]:
    """All commits, parents first."""
    order = ("log", "-z", "--topo-order", "--reverse", "--no-show-signature", "--format=%H %P%n%B")
    out = process_of(git).run(*order, *EVERYWHERE, *more, "--")
    for text in out.split(b"\0")[:-1]:
        line, _, message = text.partition(b"\n")
        commit, *parents = line.decode().split()
        yield Walked(commit, tuple(parents), message)


def _holders(git: Repository, doomed: Doomed, more: list[str]) -> set[str]:
    """The commits that add, change or remove one of the paths."""
    order = ("log", "--full-history", "--format=%H", *EVERYWHERE, *more, "--stdin")
    paths = b"--\n" + b"".join(os.fsencode(path) + b"\n" for path in doomed.paths)
    code, out, said = process_of(git).attempt(*order, stdin=paths)
    if code != 0:
        raise failure(("log",), said)
    return set(out.decode().split())


class _Rewriting:
    """One rewriting of one repository."""

    def __init__(self, git: Repository, doomed: Doomed, reader: Reader, digits: int) -> None:
        self.git = git
        self.doomed = doomed
        self.writer = Writer(git, digits)
        self.mapped: Mapped = {}
        self._reader = reader
        self._trees = _Trees(doomed, reader, self.writer, digits)
        self._digits = digits

    def commits(self, walked: list[Walked], holders: set[str], known: Mapping[str, str]) -> None:
        concerned: set[str] = set()
        for one in walked:
            if not (
                one.commit in holders
                or not concerned.isdisjoint(one.parents)
                or self.doomed.scrub(one.message) != one.message
            ):
                continue
            concerned.add(one.commit)
            said = known.get(one.commit)
            if said is not None and self._reader.read(said) is not None:
                self._note(one.commit, said)
            else:
                self._note(one.commit, self._commit(self._reader.the(one.commit).content))

    def tags(self) -> None:
        """Tag objects, those that name other tags last."""
        out = process_of(self.git).run("for-each-ref", "--format=%(objectname) %(objecttype)")
        for line in out.decode().splitlines():
            name, kind = line.split()
            if kind == "tag":
                self._tag(name)

    def notes(self) -> None:
        """Notes follow their commits; those that name what is to go, go with it."""
        out = process_of(self.git).run("for-each-ref", "--format=%(objectname)", "refs/notes/")
        tips = out.decode().split()
        if not tips:
            return
        order = ("rev-list", "--topo-order", "--reverse", *tips, "--")
        notes = _Notes(self.doomed, self._reader, self.writer, self._digits, self.mapped)
        for commit in process_of(self.git).run(*order).decode().split():
            raw = self._reader.the(commit).content
            self._note(commit, self._commit(raw, notes))

    def _note(self, old: str, new: str) -> None:
        if old != new:
            self.mapped[old] = new

    def _commit(self, raw: bytes, notes: _Notes | None = None) -> str:
        head, _, message = raw.partition(b"\n\n")
        lines = _unfolded(head)
        tree = lines[0][5:].decode()
        edited = notes.edited(tree) if notes else self._trees.edited(tree)
        changed = [b"tree " + edited.encode()]
        parents = [line[7:].decode() for line in lines if line.startswith(b"parent ")]
        kept = dict.fromkeys(self.mapped.get(parent, parent) for parent in parents)
        changed += [b"parent " + parent.encode() for parent in kept]
        changed += [line for line in lines[1:] if not line.startswith(b"parent ")]
        scrubbed = self.doomed.scrub(message)
        if changed != lines or scrubbed != message:
            changed = [line for line in changed if line.partition(b" ")[0] not in _SIGNED]
        return self.writer.add(Raw("commit", b"\n".join(changed) + b"\n\n" + scrubbed))

    def _tag(self, name: str) -> str:
        if name in self.mapped:
            return self.mapped[name]
        raw = self._reader.the(name).content
        head, _, message = raw.partition(b"\n\n")
        first, _, rest = head.partition(b"\n")
        about = first[7:].decode()
        new = self._tag(about) if b"\ntype tag\n" in head else self.mapped.get(about, about)
        scrubbed = self.doomed.scrub(message)
        if new == about and scrubbed == message:
            return name
        content = b"object %s\n%s\n\n%s" % (new.encode(), rest, _SIGNATURE.sub(b"", scrubbed))
        self._note(name, self.writer.add(Raw("tag", content)))
        return self.mapped[name]


def _unfolded(head: bytes) -> list[bytes]:
    """The headers of a commit, each with the lines that go on from it."""
    lines: list[bytes] = []
    for line in head.split(b"\n"):
        if line.startswith(b" ") and lines:
            lines[-1] += b"\n" + line
        else:
            lines.append(line)
    return lines


Node = dict[bytes, "Node | str"]


class _Trees:
    """Trees without what is to go. Equal trees at equal places are edited once."""

    def __init__(self, doomed: Doomed, reader: Reader, writer: Writer, digits: int) -> None:
        self._doomed = doomed
        self._reader = reader
        self._writer = writer
        self._digits = digits
        self._done: dict[tuple[str, str], str | None] = {}
        self._judged: dict[tuple[str, bytes, str], bool] = {}
        self._watched: Node = {}
        for path in (*doomed.folders, *doomed.files, *doomed.instead):
            self._watch(path, _DROP)
        for path in doomed.readable:
            self._watch(path, _JUDGE)
        for path in doomed.shelves:
            self._watch(path, None)
        self._segments: dict[str, list[str]] = {}
        for path in doomed.instead:
            self._segments.setdefault(path.rsplit("/", 3)[0], []).append(path)

    def edited(self, tree: str) -> str:
        """The whole tree of a commit."""
        return self._edit("", tree, self._watched, False) or self._add([])

    def _watch(self, path: str, mark: str | None) -> None:
        node, names = self._watched, os.fsencode(path).split(b"/")
        for name in names[: -1 if mark else None]:
            below = node.setdefault(name, {})
            if isinstance(below, str):
                return  # all of that goes anyway
            node = below
        if mark:
            node[names[-1]] = mark

    def _edit(self, path: str, tree: str, node: Node, on_shelf: bool) -> str | None:
        """The new name of a tree; None if nothing is left of it."""
        key = (path, tree)
        if key not in self._done:
            self._done[key] = self._edited(path, tree, node, on_shelf)
        return self._done[key]

    def _edited(self, path: str, tree: str, node: Node, on_shelf: bool) -> str | None:
        on_shelf = on_shelf or path in self._doomed.shelves
        before = self._lines(tree)
        after: list[Entry] = []
        for entry in before:  # most of them stay as they are: a large folder has thousands
            mark = node.get(entry.name)
            line: Entry | None = entry
            if mark is not None or on_shelf:
                line = self._kept(path, entry, mark, on_shelf)
            if line is not None:
                after.append(line)
        new, is_left = tree if after == before else self._add(after), bool(after)
        for segment in self._segments.get(path, ()):
            if self._has(before, segment.removeprefix(path + "/").split("/")):
                instead = self._doomed.instead[segment]
                if instead.content:
                    blob = self._writer.add(Raw("blob", instead.content))
                    new = self._with(new, instead.path.removeprefix(path + "/").split("/"), blob)
                    is_left = True
        return new if is_left else None

    def _kept(
        self, path: str, entry: Entry, mark: Node | str | None, on_shelf: bool
    ) -> Entry | None:
        if mark == _DROP or (mark == _JUDGE and not self._is_others(path, entry)):
            return None
        if not entry.is_folder:
            return None if on_shelf and entry.object in self._doomed.blobs else entry
        if not (isinstance(mark, dict) or on_shelf):
            return entry
        name = os.fsdecode(entry.name)
        below = self._edit(
            f"{path}/{name}" if path else name,
            entry.object,
            mark if isinstance(mark, dict) else {},
            on_shelf,
        )
        return entry._replace(object=below) if below else None

    def _is_others(self, path: str, entry: Entry) -> bool:
        key = (path, entry.name, entry.object)
        if key not in self._judged:
            raw = self._reader.read(entry.object)
            where = f"{path}/{os.fsdecode(entry.name)}"
            self._judged[key] = raw is not None and self._doomed.is_others(where, raw.content)
        return self._judged[key]

    def _has(self, lines: list[Entry], names: list[str]) -> bool:
        found = next((e for e in lines if e.name == os.fsencode(names[0])), None)
        if found is None or len(names) == 1:
            return found is not None
        return self._has(self._lines(found.object), names[1:])

    def _with(self, tree: str, names: list[str], blob: str) -> str:
        name = os.fsencode(names[0])
        lines = self._lines(tree)
        there = next((e for e in lines if e.name == name), None)
        rest = [e for e in lines if e.name != name]
        if len(names) == 1:
            return self._add([*rest, Entry(b"100644", name, blob)])
        below = self._with(there.object if there else self._add([]), names[1:], blob)
        return self._add([*rest, Entry(b"40000", name, below)])

    def _lines(self, tree: str) -> list[Entry]:
        raw = self._writer.held(tree) or self._reader.the(tree)
        return entries(raw.content, self._digits)

    def _add(self, lines: Iterable[Entry]) -> str:
        return self._writer.add(Raw("tree", tree_of(lines)))


class _Notes:
    """The trees of notes: each file is called after the object that it is about."""

    def __init__(
        self, doomed: Doomed, reader: Reader, writer: Writer, digits: int, mapped: Mapped
    ) -> None:
        self._doomed = doomed
        self._reader = reader
        self._writer = writer
        self._digits = digits
        self._mapped = mapped

    def edited(self, tree: str) -> str:
        before = dict(self._flat(tree, ""))
        after = {
            self._moved(path): entry for path, entry in before.items() if self._stays(path, entry)
        }
        return tree if after == before else self._built(after)

    def _flat(self, tree: str, above: str) -> Iterator[tuple[str, Entry]]:
        for entry in entries(self._reader.the(tree).content, self._digits):
            path = above + os.fsdecode(entry.name)
            if entry.is_folder:
                yield from self._flat(entry.object, path + "/")
            else:
                yield path, entry

    def _moved(self, path: str) -> str:
        """The new name, cut into folders like the old one."""
        new = self._mapped.get(path.replace("/", ""))
        if new is None:
            return path
        parts, at = [], 0
        for part in path.split("/"):
            parts.append(new[at : at + len(part)])
            at += len(part)
        return "/".join(parts)

    def _stays(self, path: str, entry: Entry) -> bool:
        if path.replace("/", "") in self._doomed.blobs or entry.object in self._doomed.blobs:
            return False
        raw = self._reader.read(entry.object)
        return raw is None or not self._doomed.names_it(raw.content)

    def _built(self, files: Mapping[str, Entry]) -> str:
        lines: list[Entry] = []
        below: dict[str, dict[str, Entry]] = {}
        for path, entry in files.items():
            folder, slash, rest = path.partition("/")
            if slash:
                below.setdefault(folder, {})[rest] = entry
            else:
                lines.append(entry._replace(name=os.fsencode(path)))
        for folder, inside in below.items():
            lines.append(Entry(b"40000", os.fsencode(folder), self._built(inside)))
        return self._writer.add(Raw("tree", tree_of(lines)))
