"""A source tree that is edited by hand, beside a store that takes it in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pcpfs.model.answers import Pins, RootReport, SearchHit
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.scanned import ScanOptions
from pcpfs.sources.service import Sources
from pcpfs.sources.synced import SyncReport
from pcpfs.sources.verify import VerifyReport, verify
from pcpfs.store.registry import installed_registry
from tests.store.workplace import ANNA, Workplace

PYTHON = """\
import os


def first(a):
    \"\"\"The first of all apples.\"\"\"
    return a


class Basket:
    size = 3

    def second(self):
        return 2
"""


@dataclass(slots=True)
class SourceTree:
    """A folder of sources; a file is modified half a second after the store's last look."""

    path: Path
    place: Workplace

    def write(self, path: str | bytes, text: str | bytes = PYTHON, at: str | None = None) -> Path:
        file = Path(os.fsdecode(os.path.join(os.fsencode(self.path), os.fsencode(path))))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.touch(file, at)
        return file

    def touch(self, file: Path, at: str | None = None) -> None:
        moment = Instant.read(at) if at else Instant(self.place.clock.time.microseconds + 500_000)
        os.utime(file, ns=(moment.microseconds * 1000, moment.microseconds * 1000))

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.path / path
        before = file.read_text()
        assert old in before
        self.write(path, before.replace(old, new))

    @contextmanager
    def sources(self) -> Iterator[Sources]:
        with Sources(self.place.store, ANNA) as sources:
            yield sources

    def add(
        self, scope: str = "project:a", name: str | None = None, **options: object
    ) -> SyncReport:
        take_over = bool(options.pop("take_over", False))
        given = ScanOptions(**options)  # type: ignore[arg-type]
        with self.sources() as sources:
            return sources.add(Wanted(self.path, Namespace(scope), name, given, take_over))

    def sync(self, names: Sequence[str] = ()) -> SyncReport:
        with self.sources() as sources:
            return sources.sync(names)

    def report(self) -> RootReport:
        """What a sync does to the only root."""
        (report,) = self.sync().roots
        return report

    def verify(self) -> VerifyReport:
        return verify(self.place.store, installed_registry())

    def symbol(self, name: str, **pins: Instant) -> SearchHit:
        """The only definition of that name."""
        (hit,) = self.symbols(name, **pins)
        return hit

    def symbols(self, name: str, **pins: Instant) -> tuple[SearchHit, ...]:
        return self.place.session.symbol(name, pins=Pins(**pins)).results

    def intervals(self, path: str) -> list[tuple[str, Instant, Instant | None]]:
        """The observations of a file, oldest first: text, from, to."""
        session = self.place.session
        page = session.resolve(path).page
        return [
            (
                session.payload(f"{page}@{entry.revision_id}").decode(),
                entry.valid_from or Instant(0),
                entry.valid_to,
            )
            for entry in reversed(session.log(path))
            if session.resolve(entry.revision_id).page == page
        ]
