"""What the commands that serve programs share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import NoReturn

from pcpfs.cli.call import Call
from pcpfs.cli.command import principal
from pcpfs.cli.commands.watch import signals_call
from pcpfs.cli.settings import no_store

DEFAULT_PRINCIPAL = "model:local"


def serves_a_model(call: Call) -> None:
    """Act as `--as` says, else as a model; say now that there is no store, not at the first
    question, but do not open it yet."""
    from pcpfs.store.layout import CONFIG  # noqa: PLC0415 (help needs no store)

    place = call.settings.named_store or call.store_path
    if not (place / CONFIG).is_file():
        raise no_store()
    acting = call.settings.principal or principal(DEFAULT_PRINCIPAL)
    call.settings = replace(call.settings, principal=acting)


@contextmanager
def until_told() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a closed terminal end what is in here, and nothing else."""
    with suppress(KeyboardInterrupt), signals_call(_stop):
        yield


def _stop() -> NoReturn:
    raise KeyboardInterrupt
