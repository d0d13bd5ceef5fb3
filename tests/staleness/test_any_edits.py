"""Whatever is done to a folder under a watcher: once it rests, the store says what is on disk.

`PCPFS_STALENESS_EXAMPLES=500` makes a long run of it (some 2 to 6 s each), with other examples
every time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from pcpfs.store.upkeeping.fsck import fsck
from tests.privileges import bound_by_permissions
from tests.staleness.following import Following, Held, Keeper, fresh, git, on_disk, save

EXAMPLES = int(os.environ.get("PCPFS_STALENESS_EXAMPLES", "0"))

NAMES = st.sampled_from(["a.py", "A.py", "b.py", "c", "d", "é\n.py", "\udcff.md"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
THERE = st.integers(0, 99)
"""Which of the files and folders that are there."""

FOLDERS = st.sampled_from(["", "c/", "d/", "c/d/"])
TEXTS = st.one_of(
    st.tuples(st.sampled_from("fg"), st.integers(1, 3)).map(
        lambda pair: f"def {pair[0]}():\n    return {pair[1]}\n".encode()
    ),
    st.sampled_from([b"", b"\0\1\2", b"# title\n\ntext\n", b"class C:\n    def m(self): pass\n"]),
)
RULES = st.sampled_from(["", "*.py\n", "c\n", "d/\n!a.py\n", "*\n!*/\n!b.py\n"])
OLD = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Cited:
    """What a note is about: where it stood, and the symbol."""

    path: str
    symbol: tuple[str, str, str]
    renames: int


class Edits(RuleBasedStateMachine):
    """Random work on a folder, beside a watcher that is let to work now and then."""

    def __init__(self, template: Path) -> None:
        super().__init__()
        self.template = template
        self.folder = Path(tempfile.mkdtemp(prefix="pcpfs-edits-"))
        self.root = self.folder / "app"
        save(self.root / "a.py", "def f():\n    return 1\n")
        save(self.folder / "outside.py", "def outside(): pass\n")
        shutil.copytree(template, self.folder / "store")
        self.keeper = Keeper(self.folder / "store", self.root)
        self.keeper.add()
        self.notes: dict[str, Cited] = {}
        self.branches = 0
        self.renames = 0
        self.begun = ExitStack()
        self.begin()

    def begin(self) -> None:
        self.following = Following(self.keeper)
        self.begun.enter_context(self.following.at_work())

    def end(self) -> None:
        self.renames += len(self.following.told("renamed"))
        self.begun.close()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """A person who tries something that cannot be tries something else."""
        with suppress(OSError, shutil.Error, subprocess.CalledProcessError):
            yield

    def there(self, number: int) -> str:
        """One of the files and folders that are in the root now, by its path."""
        found = (path.relative_to(self.root) for path in self.root.rglob("*"))
        paths = sorted(str(path) for path in found if path.parts[0] != ".git")
        return paths[number % len(paths)] if paths else "nothing"

    @rule(path=PATHS, text=TEXTS)
    def write(self, path: str, text: bytes) -> None:
        with self.attempt():
            save(self.root / path, text)

    @rule(number=THERE, text=TEXTS)
    def append(self, number: int, text: bytes) -> None:
        with self.attempt(), (self.root / self.there(number)).open("ab") as file:
            file.write(text)

    @rule(path=PATHS, text=TEXTS)
    def replace(self, path: str, text: bytes) -> None:
        with self.attempt():
            save(self.root / path / "../swap~", text)
            (self.root / path / "../swap~").resolve().replace(self.root / path)

    @rule(path=PATHS, number=st.integers(4, 6))
    def other_bytes_of_the_same_size_and_time(self, path: str, number: int) -> None:
        with self.attempt():
            save(self.root / path, b"def f():\n    return 0\n")
            os.utime(self.root / path, (OLD, OLD))
            time.sleep(0.12)  # a file that is read sooner is read again, whatever its times
            self.rest()
            save(self.root / path, b"def f():\n    return %d\n" % number)
            os.utime(self.root / path, (OLD, OLD))

    @rule(old=THERE, new=PATHS)
    def move(self, old: int, new: str) -> None:
        with self.attempt():
            (self.root / self.there(old)).rename(self.root / new)

    @rule(number=THERE)
    def remove(self, number: int) -> None:
        path = self.there(number)
        with self.attempt():
            if (self.root / path).is_dir() and not (self.root / path).is_symlink():
                shutil.rmtree(self.root / path)
            else:
                (self.root / path).unlink()

    @rule(path=PATHS)
    def make_folder(self, path: str) -> None:
        with self.attempt():
            (self.root / path).mkdir(parents=True)

    @rule(path=PATHS, to=st.sampled_from(["a.py", "..", ".", "../outside.py", "nowhere"]))
    def link(self, path: str, to: str) -> None:
        with self.attempt():
            (self.root / path).unlink(missing_ok=True)
            (self.root / path).symlink_to(to)

    @rule(number=THERE, mode=st.sampled_from([0o600, 0o755]))
    def change_mode(self, number: int, mode: int) -> None:
        path = self.there(number)
        with self.attempt():
            if not (self.root / path).is_symlink():
                (self.root / path).chmod(mode)

    @rule(folder=FOLDERS, name=st.sampled_from([".gitignore", ".pcpfsignore"]), rules=RULES)
    def ignore(self, folder: str, name: str, rules: str) -> None:
        with self.attempt():
            if (self.root / folder).is_dir():
                save(self.root / folder / name, rules)

    @precondition(lambda self: (self.root / ".git").is_dir())
    @rule(rules=RULES)
    def exclude(self, rules: str) -> None:
        with self.attempt():
            save(self.root / ".git/info/exclude", rules)

    @rule()
    def commit(self) -> None:
        with self.attempt():
            git(self.root, "init", "-q")
            git(self.root, "add", "-A", "--force")
            git(self.root, "commit", "-q", "-m", "work")

    @precondition(lambda self: (self.root / ".git").is_dir())
    @rule(
        words=st.sampled_from(
            [
                ("stash", "-q", "-u"),
                ("stash", "pop", "-q"),
                ("reset", "-q", "--hard"),
                ("checkout", "-q", "--detach", "HEAD~1"),
                ("checkout", "-q", "-f", "-"),
                ("clean", "-q", "-f", "-d"),
                ("restore", "."),
            ]
        )
    )
    def use_git(self, words: tuple[str, ...]) -> None:
        with self.attempt():
            git(self.root, *words)

    @rule(number=THERE, returns=st.booleans())
    def leave(self, number: int, returns: bool) -> None:
        """A file or folder goes out of the root, is seen to be away or not, and may come back."""
        away, path = self.folder / "away", self.there(number)
        with self.attempt():
            (self.root / path).rename(away)
            self.work()
            if not returns:
                raise OSError(f"{path} stays away")
            if away.is_dir() and not away.is_symlink():
                save(away / "ghost.py", "def ghost(): pass\n")
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            away.rename(self.root / path)
        if os.path.lexists(away):
            subprocess.run(["rm", "-rf", str(away)], check=True)

    @rule(copied=st.booleans())
    def put_another_folder_in_the_place_of_the_root(self, copied: bool) -> None:
        self.root.rename(self.folder / "former")
        if copied:
            shutil.copytree(self.folder / "former", self.root, symlinks=True)
        else:
            self.root.mkdir()
        shutil.rmtree(self.folder / "former")

    @rule(seconds=st.sampled_from([0.05, 0.15]))
    def let_time_pass(self, seconds: float) -> None:
        time.sleep(seconds)

    @rule()
    def work(self) -> None:
        """The watcher has a moment."""
        for _ in range(2):
            self.following.watch.watcher.wake()
            self.following.watch.turn()
            time.sleep(0.05)

    @rule()
    def sync(self) -> None:
        """Somebody else does it, beside the watcher."""
        other = Keeper(self.keeper.path, self.root)
        try:
            other.sources.sync()
        finally:
            other.close()

    @rule(path=PATHS, text=TEXTS, number=THERE)
    def restart(self, path: str, text: bytes, number: int) -> None:
        """The watcher ends, something happens meanwhile, another begins."""
        self.end()
        self.remove(number)
        self.replace(path, text)
        self.begin()

    @rule(path=PATHS, text=TEXTS)
    def lose_events(self, path: str, text: bytes) -> None:
        """The system had no room for what happened here, and said no more than that."""
        self.write(path, text)
        self.following.watch.watcher.drain(0.02)
        self.following.watch.watcher.lost()

    @precondition(lambda self: self.root.is_dir())
    @rule(number=THERE, other=PATHS, text=TEXTS)
    def forbid(self, number: int, other: str, text: bytes) -> None:
        """What may not be read keeps what was known, whatever happens beside it."""
        self.rest()
        path = self.there(number)
        before, place = self.keeper.held(), self.root / path
        if not place.exists() or place.resolve() != self.root.resolve() / path:
            return
        mode = place.stat().st_mode
        place.chmod(0)
        try:
            with bound_by_permissions():
                if path not in (other, *(str(above) for above in Path(other).parents)):
                    self.write(other, text)
                self.following.until_held(kept(before, on_disk(self.root)))
        finally:
            place.chmod(mode)

    @rule(number=st.integers(0, 20))
    def cite(self, number: int) -> None:
        """Write a note about a symbol that the store knows."""
        held = self.keeper.held()
        symbols = sorted(
            (path, *frame[:3]) for path, found in held.frames.items() for frame in found
        )
        chosen = [symbol for symbol in symbols if symbol[2] not in ("file", "heading")]
        if chosen:
            path, *symbol = chosen[number % len(chosen)]
            note = self.keeper.cite_at(path, symbol[0])
            renames = self.renames + len(self.following.told("renamed"))
            self.notes[note] = Cited(path, (symbol[0], symbol[1], symbol[2]), renames)

    @rule()
    def rest(self) -> None:
        held = on_disk(self.root)
        self.following.until_held(held)
        self.judge(held)

    def judge(self, held: Held) -> None:
        """Notes are suspect if what they cite is nowhere any more, and not if it is where it
        was (unless it was moved meanwhile: then it is followed)."""
        suspects = self.keeper.suspects()
        everywhere = {frame[1:3] for found in held.frames.values() for frame in found}
        renames = self.renames + len(self.following.told("renamed"))
        for note, cited in self.notes.items():
            there = {frame[:3] for frame in held.frames.get(cited.path, ())}
            if cited.symbol[1:] not in everywhere:
                assert note in suspects, (cited, held)
            if cited.symbol in there and renames == cited.renames:
                assert note not in suspects, (cited, suspects[note])

    def teardown(self) -> None:
        try:
            self.rest()
            self.end()
            held, suspects = self.keeper.held(), self.keeper.suspects()
            assert held == fresh(self.template, self.root, self.folder / "fresh")
            assert fsck(self.keeper.store).problems == ()
            self.keeper.close()
            shutil.rmtree(self.keeper.path / ".pcpfs")
            self.keeper = Keeper(self.keeper.path, self.root)
            again = self.keeper.held()
            assert (again.files, again.frames) == (held.files, held.frames)
            assert self.keeper.suspects() == suspects
        finally:
            self.begun.close()
            self.keeper.close()
            subprocess.run(["rm", "-rf", str(self.folder)], check=True)


def kept(before: Held, now: Held) -> Held:
    """What is on disk now, with what was known where nothing can be read. If that is all of it, as
    where its rules cannot be, nothing is known anew."""
    if ("", "unreadable") in now.skipped:
        return before
    unreadable = [path for path, reason in now.skipped if reason == "unreadable"]

    def is_kept(path: str) -> bool:
        return any(path == place or path.startswith(place + "/") for place in unreadable)

    return Held(
        {path: digest for path, digest in before.files.items() if is_kept(path)} | now.files,
        {path: found for path, found in before.frames.items() if is_kept(path)} | now.frames,
        now.skipped,
    )


def run(machine: Callable[[], Edits], examples: int, steps: int, *, fixed: bool) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=fixed,
            database=None,
            phases=[Phase.generate],  # to shrink what takes seconds would take hours
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_once_it_rests_the_store_says_what_is_on_disk(empty_store: Path) -> None:
    run(lambda: Edits(empty_store), EXAMPLES or 10, 50 if EXAMPLES else 30, fixed=not EXAMPLES)
