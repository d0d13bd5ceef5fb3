"""Every symbol of a package under the contract of adapters: its range gives exactly the symbol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pcpfs_adapters import registry
from pcpfs_conformance.adapters import require_sound

from pcpfs.model.frames import Extraction, frame_ids
from pcpfs.model.ids import PageId
from pcpfs.ports import Adapter

_PAGE = PageId("pg_" + "0" * 26)

VARIANTS: Mapping[str, Callable[[bytes], bytes]] = {
    "as it is": lambda raw: raw,
    "CRLF": lambda raw: raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "with a mark": lambda raw: b"\xef\xbb\xbf" + raw.removeprefix(b"\xef\xbb\xbf"),
    "no final newline": lambda raw: raw.rstrip(b"\r\n"),
    "tabs": lambda raw: raw.replace(b"    ", b"\t"),
    "multibyte": lambda raw: raw.replace(b" the ", " thé 𝄞 ".encode()),
}
"""What is done to each file: the same must hold of all."""


def faults(files: Mapping[str, Path]) -> Iterator[str]:
    """What is wrong, by file and variant: a range that does not give the bytes of the digest, lines
    that are not those of the range, symbols that overlap, ids that depend on how lines end (where
    the source parses: how a grammar goes on after an error depends on every byte)."""
    adapters = registry()
    for path, file in files.items():
        raw = file.read_bytes()
        adapter = adapters.for_source(path, raw[:4096])
        for name, changed in VARIANTS.items():
            yield from (f"{path} ({name}): {fault}" for fault in _faults(adapter, changed(raw)))
        seen, ended = adapter.extract(raw), adapter.extract(VARIANTS["CRLF"](raw))
        if not seen.error_count and _ids(seen) != _ids(ended):
            yield f"{path}: other ids with CRLF"


def _faults(adapter: Adapter, source: bytes) -> Iterator[str]:
    try:
        require_sound(adapter, source)
    except AssertionError as fault:
        yield str(fault).splitlines()[0]


def _ids(seen: Extraction) -> list[str]:
    return [frame.frame_id for frame in frame_ids(_PAGE, seen.symbols)]
