"""Git LFS pointers: a few lines that stand in the place of a file which is kept elsewhere.

Whatever the file is called, it holds no symbols of that language; what is known of it is the oid
and the size of the object that belongs there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pcpfs.model.frames import LFS_POINTER, Extraction
from pcpfs_adapters.source_text import read

_MOST_BYTES = 1024
_POINTER = re.compile(
    rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v1\n"
    rb"(?:ext-[0-9]-[^ \n]+ [^\n]+\n)*"
    rb"oid (sha256:[0-9a-f]{64})\n"
    rb"size ([0-9]+)\n?"
)


def is_pointer(head: bytes) -> bool:
    """Whether a file whose first bytes (512 or more) are these is nothing but a pointer."""
    return _POINTER.fullmatch(head, 0, _MOST_BYTES) is not None


@dataclass(frozen=True, slots=True)
class LfsPointer:
    """No symbols; the note is the oid and the size of the object."""

    name: str = LFS_POINTER
    version: int = 1
    media_type: str = "text/x-git-lfs-pointer"
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()

    def extract(self, source: bytes) -> Extraction:
        text, found = read(source), _POINTER.fullmatch(source)
        return Extraction(
            adapter=self.name,
            version=self.version,
            language=self.name,
            encoding=text.encoding,
            line_count=text.line_count,
            notes=(f"{found[1].decode()}, {int(found[2]):,} bytes",) if found else text.notes,
        )
