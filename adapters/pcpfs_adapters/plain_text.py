"""Everything that no other adapter takes: no symbols, but its lines and encoding."""

from __future__ import annotations

from dataclasses import dataclass

from pcpfs.model.frames import Extraction
from pcpfs.model.marks import says_generated
from pcpfs_adapters.source_text import read


@dataclass(frozen=True, slots=True)
class PlainText:
    name: str = "text"
    version: int = 2
    media_type: str = "text/plain"
    suffixes: tuple[str, ...] = (".txt",)
    filenames: tuple[str, ...] = ()

    def extract(self, source: bytes) -> Extraction:
        text = read(source)
        return Extraction(
            adapter=self.name,
            version=self.version,
            language=self.name,
            encoding=text.encoding,
            line_count=text.line_count,
            notes=text.notes,
            generated=says_generated(text.utf8),
        )
