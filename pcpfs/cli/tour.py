"""The story that `pcpfs demo` tells: real commands on a copy of the sample, one step at a time."""

from __future__ import annotations

import difflib
import io
import json
import shlex
import shutil
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click

from pcpfs.cli.text import short, styled
from pcpfs.git.process import run_anywhere

SYMBOL = "Almanac.next_high_water"
EDITED = Path("../tidebook/tidebook/almanac.py")
BEFORE, AFTER = "self.extremes(after) if", "self.extremes(after, hours=30) if"
NOTE = """\
# How we find high water

`Almanac.next_high_water` looks one day ahead. Two high waters lie some 12 h 25 min apart, so a
day always holds one.
"""

Run = Callable[[Sequence[str]], int]


class StepFailed(Exception):
    """A step of the story did not do what it should."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the story and what it printed (empty where it was shown at once)."""

    what: str
    command: str
    output: str


@dataclass(slots=True)
class Tour:
    """Tells the story in an empty folder, with `run` as the command line; `quiet` records it
    instead of showing it. The commands are run with -C, so that no other store can be meant."""

    folder: Path
    run: Run
    quiet: bool
    steps: list[Step] = field(default_factory=list)

    def tell(self) -> None:
        """The whole story; StepFailed where it does not go as it should."""
        copy_sample(self.folder / "tidebook")
        self.store.mkdir()
        with chdir(self.store):
            self._take_in()
            frame = self._find()
            self._write_about(frame)
            before = str(self._ask("show", frame)["valid_from"])
            self._edit()
            self._notice(frame)
            self._look_back(frame, before)

    @property
    def store(self) -> Path:
        return self.folder / "context"

    def _take_in(self) -> None:
        self._step("Make a store: plain files in a git work tree.", "init")
        self._step(
            "Take a source tree in: each file a page, each definition a symbol.",
            *("add", "../tidebook", "--scope", "project:tides"),
        )

    def _find(self) -> str:
        self._step("Find code and text by words.", "search", "next high water", "--limit", "3")
        self._step("Find a definition by its name.", "symbol", SYMBOL)
        frame = short(self._ask("symbol", SYMBOL)["results"][0]["frame_id"])
        self._step("Read exactly that symbol.", "show", frame)
        return frame

    def _write_about(self, frame: str) -> None:
        note = Path("../high-water.md")
        note.write_text(NOTE, encoding="utf-8")
        self._step(
            "Write a page that relies on it.",
            *("write", "--scope", "project:tides", "--cites", frame, str(note)),
        )

    def _edit(self) -> None:
        old = EDITED.read_text(encoding="utf-8")
        new = old.replace(BEFORE, AFTER)
        EDITED.write_text(new, encoding="utf-8")
        lines = old.splitlines(), new.splitlines()
        changes = "\n".join(difflib.unified_diff(*lines, "before", "now", lineterm="", n=0))
        self._show("Now somebody edits the source.", f"$EDITOR {EDITED}", changes)
        self._step("Bring the store up to date.", "sync")

    def _notice(self, frame: str) -> None:
        self._step("What holds now is another text, since the edit.", "show", frame)
        self._step("The page that relied on the old one is suspect.", "stale")
        pages = self._ask("stale")["pages"]
        if [short(one["frame_id"]) for page in pages for one in page["frames"]] != [frame]:
            raise StepFailed("the page that cites the edited symbol should be suspect")

    def _look_back(self, frame: str, before: str) -> None:
        then = ("show", frame, "--as-of", before)
        self._step("The old text is closed, not lost: look back.", *then)
        if "valid_to" not in self._ask(*then):
            raise StepFailed("the edited symbol should be closed")
        log = run_anywhere(["log", "--format=%h %an: %s"], Path.cwd())
        self._show("All of it is ordinary git.", "git log", log.decode("utf-8", "replace"))

    def _step(self, what: str, *words: str) -> None:
        """Run one command for real, and show it with what it prints."""
        command = shlex.join(["pcpfs", *words])
        if not self.quiet:
            self._heading(what, command)
        code, output = self._recorded(words) if self.quiet else (self._run(words), "")
        self.steps.append(Step(what, command, output))
        if code != 0:
            raise StepFailed(f"'{command}' ended with exit code {code}")

    def _show(self, what: str, command: str, output: str) -> None:
        """Show something that is no command of ours."""
        self.steps.append(Step(what, command, output))
        if not self.quiet:
            self._heading(what, command)
            click.echo(output.rstrip("\n"))

    def _heading(self, what: str, command: str) -> None:
        click.echo(f"\n{styled('# ' + what, 'dim')}\n{styled('$ ' + command, 'green')}")

    def _ask(self, *words: str) -> Any:
        """The JSON answer of a command, not shown."""
        code, output = self._recorded([*words, "--json"])
        if code != 0:
            raise StepFailed(output)
        return json.loads(output)

    def _run(self, words: Sequence[str]) -> int:
        return self.run(["-C", str(self.store), *words])

    def _recorded(self, words: Sequence[str]) -> tuple[int, str]:
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace")
        with redirect_stdout(stream):
            code = self._run(words)
        stream.flush()
        return code, raw.getvalue().decode("utf-8", "replace")


def copy_sample(to: Path) -> None:
    """Copy the sample project: from the installed package, else from the checkout."""
    package = files("pcpfs")
    installed = package / "_sample_repo"
    source = installed if installed.is_dir() else package / ".." / "sample_repo"
    with as_file(source) as folder:
        shutil.copytree(folder, to, copy_function=shutil.copyfile)
