"""The other side of the extraction pool: a process that is given bytes and answers extractions."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection

from pcpfs.machine import end_with
from pcpfs.model.frames import Extraction
from pcpfs.ports import HEAD_BYTES, Adapter, AdapterRegistry

RegistryFactory = Callable[[], AdapterRegistry]
"""Makes the registry; picklable by name, so a function at the top of an importable module."""


class Trouble(StrEnum):
    """Why a file has no extraction."""

    HUNG = "hung"
    CRASHED = "crashed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Unextracted:
    """An adapter that took too long, took its process down, or raised, on this file."""

    path: str
    trouble: Trouble
    detail: str


def adapter_for(registry: AdapterRegistry, path: str, source: bytes) -> Adapter:
    """The file's adapter, by its name and first bytes."""
    return registry.for_source(path, source[:HEAD_BYTES])


def extract(registry: AdapterRegistry, path: str, source: bytes) -> Extraction | Unextracted:
    """Run the file's adapter."""
    return run(adapter_for(registry, path, source), path, source)


def run(adapter: Adapter, path: str, source: bytes) -> Extraction | Unextracted:
    """Run an adapter. Adapters promise not to raise; one that does is named, not obeyed."""
    try:
        return adapter.extract(source)
    except Exception as error:
        detail = f"the {adapter.name} adapter raised {type(error).__name__}: {error}"
        return Unextracted(path, Trouble.FAILED, detail)


def serve(descriptor: int, parent: int) -> None:
    """Answer files one by one until the other side, the process `parent`, is gone.

    The first message is the factory; the answer to it is None, or why there is no registry. Signals
    that end the whole process group are the parent's to obey.
    """
    be_deaf()
    os.set_inheritable(descriptor, False)
    end_with(parent)  # even while a file keeps it busy
    with Connection(descriptor) as other:
        try:
            registry = _registry(other)
            while registry is not None:
                for path, source in other.recv():
                    other.send(extract(registry, path, source))
        except (EOFError, ConnectionError):
            return


def be_deaf() -> None:
    """Leave signals that end the whole process group to who started this one."""
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)


def _registry(other: Connection) -> AdapterRegistry | None:
    """The registry, or None once the parent was told why there is none."""
    try:
        factory: RegistryFactory = other.recv()
        registry = factory()
    except (ImportError, AttributeError) as error:
        other.send(f"{type(error).__name__}: {error}")
        return None
    other.send(None)
    return registry
