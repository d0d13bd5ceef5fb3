"""One call of a command: the store it works on, and what it prints."""

from __future__ import annotations

import base64
import getpass
import json
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from pcpfs.cli.settings import Settings, debugging, here, no_store
from pcpfs.cli.terminal import tell
from pcpfs.model.shown import inert, safe, safe_lines

if TYPE_CHECKING:
    from pcpfs.cli.progress import TerminalProgress
    from pcpfs.model.answers import Pins
    from pcpfs.sources.service import Sources
    from pcpfs.store.session import Session
    from pcpfs.store.store import Store
    from pcpfs.view.view import View


_TOGETHER = 1000
"""So many members of a list are printed at once."""


def document(answer: object) -> bytes:
    """One line of JSON, UTF-8."""
    from pcpfs.model.answers import plain  # noqa: PLC0415 (help and version answer nothing)

    text = json.dumps(plain(answer), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def as_member(raw: bytes) -> dict[str, str]:
    """Bytes as a member of a document: `text` if they are UTF-8, else `base64`."""
    try:
        return {"text": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


class Call:
    """Given to a command's function: opens the store when it is first asked for, closes it after,
    and prints an answer either as one JSON document or as lines for people."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace)

    @cached_property
    def store(self) -> Store:
        from pcpfs.store.store import Store  # noqa: PLC0415 (help needs no store)

        acting = self.settings.principal
        show_warnings_of_ours(quiet=acting is not None)
        store = self._open.enter_context(Store.open(self.store_path, wait=self.settings.wait))
        if acting == store.owner:
            show_warnings_of_ours()
        return store

    @property
    def store_path(self) -> Path:
        """The folder of the store: as named, else the nearest one, else the user's own."""
        from pcpfs.store.store import Store  # noqa: PLC0415 (help needs no store)

        return self.settings.named_store or Store.find(here()) or user_store()

    @cached_property
    def session(self) -> Session:
        """The session of `--as`, else of the owner."""
        from pcpfs.cli.waiting import Waiting  # noqa: PLC0415 (see `store`)
        from pcpfs.store.session import Session  # noqa: PLC0415 (see `store`)

        principal = self.settings.principal or self.store.owner
        session = Session(self.store, principal, Waiting(self, self._open))
        return self._open.enter_context(closing(session))

    def store_for(self, what: str) -> Store:
        """The store, for what concerns all of it: only for its owner. NotPermitted for others."""
        self.session.authority.require_owner(what)
        return self.store

    @cached_property
    def sources(self) -> Sources:
        """The source trees of this store."""
        from pcpfs.sources.service import Sources  # noqa: PLC0415 (see `store`)

        sources = Sources(self.store, self.session.principal)
        return self._open.enter_context(sources)

    def view(self, pins: Pins) -> View:
        """The virtual view of this session."""
        from pcpfs.view.view import View  # noqa: PLC0415 (see `store`)

        return View(self.session, pins)

    def create_store(self, path: Path, *, nested: bool) -> Store:
        """Make a store that belongs to `--as`, else to the user of this machine."""
        from pcpfs.model.pages import Principal  # noqa: PLC0415 (see `document`)
        from pcpfs.store.store import Store  # noqa: PLC0415 (see `store`)

        owner = self.settings.principal or Principal("user:" + login_name())
        return self._open.enter_context(Store.init(path, owner=owner, nested=nested))

    def progress(self) -> AbstractContextManager[TerminalProgress | None]:
        """A progress bar on a terminal, else nothing."""
        if self.settings.json or not sys.stderr.isatty():
            return nullcontext()
        from pcpfs.cli.progress import TerminalProgress  # noqa: PLC0415 (rich is slow to import)

        return TerminalProgress()

    def answer(self, answer: object, lines: Iterable[str], *, cut: bool = False) -> None:
        """Print the answer: with --json as it is, else its lines; `cut` to the width of a
        terminal."""
        if self.settings.json:
            self.raw(document(answer))
        else:
            tell(lines, cut=cut)

    def stream(
        self,
        before: Mapping[str, object],
        name: str,
        members: Iterable[object],
        after: Mapping[str, object],
    ) -> None:
        """Print one JSON document with a list as long as it likes, bit by bit; what is None is
        left out."""
        rest = iter(members)
        some = list(islice(rest, _TOGETHER))
        self.raw(document(before)[:-2] + b", " + document(name)[:-1] + b": [")
        while some:
            following = list(islice(rest, _TOGETHER))
            self.raw(document(some)[1:-2] + (b", " if following else b""))
            some = following
        told = document({key: value for key, value in after.items() if value is not None})
        self.raw(b"]" + (b", " + told[1:] if len(told) > 3 else b"}\n"))

    def content(self, content: bytes) -> None:
        """Write exactly these bytes to standard output; to a terminal what would drive it as
        escapes."""
        if sys.stdout.isatty():
            text = safe_lines(content.decode("utf-8", "surrogateescape"))
            content = text.encode("utf-8", "replace")
        self._write(content)

    def raw(self, content: bytes) -> None:
        """Write a document, or a part of one, to standard output; to a terminal in ASCII where
        other characters would drive it."""
        self._write(inert(content) if sys.stdout.isatty() else content)

    def _write(self, content: bytes) -> None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()

    def note(self, text: str) -> None:
        """Tell a person something that is no part of the answer."""
        click.echo(f"pcpfs: {safe(text)}", err=True)


def user_store() -> Path:
    """The store of this user, if there is one."""
    import platformdirs  # noqa: PLC0415 (seldom needed)

    from pcpfs.store.layout import CONFIG  # noqa: PLC0415 (see `store`)

    path = platformdirs.user_data_path("pcpfs")
    if not (path / CONFIG).is_file():
        raise no_store()
    return path


def login_name() -> str:
    """The user's name as it may stand in a principal."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = ""
    return re.sub(r"[\s\x00-\x1f\x7f]", "-", name)[:100] or "owner"


def show_warnings_of_ours(*, quiet: bool = False) -> None:
    """Log records of pcpfs from WARNING on go to standard error, one line each. They tell of the
    whole store, so that others than its owner (`quiet`) hear of errors only."""
    import logging  # noqa: PLC0415 (only a store logs)

    if debugging():
        logging.basicConfig(level=logging.DEBUG)
        return
    stream = logging.StreamHandler()
    stream.setFormatter(logging.Formatter("pcpfs: %(message)s"))
    logging.getLogger().addHandler(logging.NullHandler())
    logger = logging.getLogger("pcpfs")
    logger.handlers[:] = [stream]
    logger.setLevel(logging.ERROR if quiet else logging.NOTSET)
    logger.propagate = False
