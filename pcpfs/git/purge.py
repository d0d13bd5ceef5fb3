"""Removing objects for good: from among the loose ones and out of packs, and nothing else.

Only what nothing reaches goes, and of that only what is doomed, names it, or is of no use without
it: a person may want the rest back. Packs that hold none of it stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.git.doomed import Doomed
from pcpfs.git.process import failure
from pcpfs.git.raw import Entry, Raw, Reader, entries, process_of
from pcpfs.git.store import Git

_REACHING = ("--objects", "--all", "--reflog", "--indexed-objects", "--ignore-missing")
_LEFT_OUT = "--missing=allow-any"
Remember = Callable[[tuple[str, ...]], None]


def reachable(git: Git, more: Iterable[str] = ()) -> Mapping[str, str]:
    """All objects that refs, reflogs, indexes and work trees need, each with a path that it has
    ("" where it has none), as far as they are at hand."""
    left_out = [_LEFT_OUT] if git.is_partial() else []
    out = process_of(git).run("rev-list", *_REACHING, *left_out, *more, "--")
    found: dict[str, str] = {}
    for line in out.decode("utf-8", "surrogateescape").splitlines():
        name, _, path = line.partition(" ")
        found[name] = path
    return found


def all_objects(git: Git) -> frozenset[str]:
    """The names of all objects at hand, borrowed ones included."""
    form = ("--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
    return frozenset(process_of(git).run("cat-file", *form).decode().split())


def purge(
    git: Git,
    disk: Disk,
    doomed: Doomed,
    old: Iterable[str],
    *,
    keep: Iterable[str] = (),
    remember: Remember,
) -> tuple[str, ...]:
    """Remove what nothing reaches and what is doomed or of no use without it; the objects removed.

    `old` are commits and tags that were rewritten; `keep` (commits that are only just here) count
    as reached. `remember` is told the packs that go before the first does: a pack without its
    index is a file that git no longer sees.
    """
    there, needed = all_objects(git), reachable(git, keep)
    loose_ends = there - needed.keys()
    gone = _gone(git, doomed, loose_ends, there, frozenset(old))
    if gone:
        _remove(git, disk, gone, frozenset(old), remember)
    return tuple(sorted(gone))


def remove_packs(git: Git, disk: Disk, names: Iterable[str]) -> None:
    """Remove packs by name, with all that belongs to them; those that are gone already are fine."""
    folder = git.common_dir / "objects" / "pack"
    for name in names:
        files = sorted(folder.glob(f"{name}.*"), key=lambda file: file.suffix != ".idx")
        for file in files:
            disk.remove(file)


@dataclass(slots=True)
class _Ends:
    """Objects that nothing reaches, and which of them use which."""

    gone: set[str]
    used_by: dict[str, list[str]] = field(default_factory=dict)

    def note(self, name: str, uses: Iterable[str], there: frozenset[str] | None) -> None:
        """`there` is None in a clone that need not have everything."""
        for other in uses:
            if there is not None and other not in there:
                self.gone.add(name)  # it lacks something: it is broken, or was half removed
            self.used_by.setdefault(other, []).append(name)

    def closed(self) -> set[str]:
        """All that goes: with each object those that use it."""
        waiting = list(self.gone)
        while waiting:
            for user in self.used_by.get(waiting.pop(), ()):
                if user not in self.gone:
                    self.gone.add(user)
                    waiting.append(user)
        return self.gone


def _gone(
    git: Git,
    doomed: Doomed,
    loose_ends: frozenset[str],
    there: frozenset[str],
    old: frozenset[str],
) -> frozenset[str]:
    is_whole = not (git.is_shallow() or git.is_partial())
    here = there if is_whole else None
    ends = _Ends({name for name in loose_ends if name in old or name in doomed.blobs})
    names = frozenset(path.rsplit("/", 1)[-1].encode() for path in doomed.folders | doomed.files)
    with Reader(git) as reader:
        ends.gone |= _left_behind(reader, old & loose_ends, loose_ends)
        for name, raw in reader.read_all(sorted(loose_ends - ends.gone)):
            if raw is None or _names(raw, doomed, names, len(name)):
                ends.gone.add(name)
            else:
                ends.note(name, _uses(raw, len(name)), here)
    return frozenset(ends.closed() & loose_ends)


def _left_behind(reader: Reader, old: Iterable[str], loose_ends: frozenset[str]) -> set[str]:
    """What rewritten commits held and the new ones do not: nobody else has it."""
    found: set[str] = set()
    wave = sorted(old)
    while wave:
        below: set[str] = set()
        for name, raw in reader.read_all(wave):
            new = [e for e in _held_by(raw, len(name)) if e.object in loose_ends]
            below.update(e.object for e in new if e.is_folder and e.object not in found)
            found.update(e.object for e in new)
        wave = sorted(below)
    return found


def _held_by(raw: Raw | None, digits: int) -> list[Entry]:
    """The lines of a tree; of a commit or a tag its tree or object, as if it were a folder."""
    if raw is None or raw.kind == "blob":
        return []
    if raw.kind == "tree":
        return entries(raw.content, digits)
    first = raw.content.partition(b"\n")[0].split(b" ")[1].decode()
    return [Entry(b"40000", b"", first)]


def _names(raw: Raw, doomed: Doomed, names: frozenset[bytes], digits: int) -> bool:
    if raw.kind != "tree":
        return doomed.names_it(raw.content)
    return any(
        entry.object in doomed.blobs or entry.name in names
        for entry in entries(raw.content, digits)
    )


def _uses(raw: Raw, digits: int) -> list[str]:
    """What an object is of no use without."""
    if raw.kind == "blob":
        return []
    if raw.kind == "tree":
        lines = entries(raw.content, digits)
        return [entry.object for entry in lines if entry.mode != b"160000"]
    head = raw.content.partition(b"\n\n")[0].split(b"\n")
    wanted = (b"tree ", b"parent ", b"object ")
    return [line.split(b" ")[1].decode() for line in head if line.startswith(wanted)]


def _remove(
    git: Git, disk: Disk, gone: frozenset[str], old: frozenset[str], remember: Remember
) -> None:
    """The old commits go last: by them the rest is known, should this be cut short."""
    dirty = {pack.stem: held for pack, held in _packs(git) if not gone.isdisjoint(held)}
    kept = sorted({name for held in dirty.values() for name in held} - gone)
    new = _packed(git, kept) if kept else ""
    if new and git.is_partial():
        disk.write(git.common_dir / "objects" / "pack" / f"{new}.promisor", b"")
    left = tuple(name for name in dirty if name != new)
    remember(left)
    for index in (git.common_dir / "objects" / "pack").glob("multi-pack-index*"):
        disk.remove(index)
    remove_packs(git, disk, left)
    for name in sorted(gone, key=lambda name: (name in old, name)):
        disk.remove(git.common_dir / "objects" / name[:2] / name[2:])


def _packs(git: Git) -> Iterator[tuple[Path, frozenset[str]]]:
    """Each pack's index, and the objects in it."""
    for index in sorted((git.common_dir / "objects" / "pack").glob("pack-*.idx")):
        with index.open("rb") as file:
            out = process_of(git).run("show-index", stdin=file)
        yield index, frozenset(line.split(b" ")[1].decode() for line in out.splitlines())


def _packed(git: Git, names: Iterable[str]) -> str:
    """A new pack of these objects; its name."""
    base = git.common_dir / "objects" / "pack" / "pack"
    listed = "".join(f"{name}\n" for name in names).encode()
    command = ("pack-objects", "--quiet", "--delta-base-offset", str(base))
    code, out, said = process_of(git).attempt(*command, stdin=listed)
    if code != 0:
        raise failure(("pack-objects",), said)
    return f"pack-{out.decode().strip()}"


def lacks_folders(git: Git) -> bool:
    """Whether trees were left out when this was cloned: then nobody can tell what they hold."""
    if not git.is_partial():
        return False
    order = ("rev-list", "--objects", "--filter=blob:none", "--missing=print", "--ignore-missing")
    out = process_of(git).run(*order, "--all", "--reflog", "--")
    return any(line.startswith(b"?") for line in out.splitlines())
