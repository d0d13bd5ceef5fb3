"""Two texts compared, line by line."""

from __future__ import annotations

import difflib

from pcpfs.model.texts import decoded


def unified(name: str, before: bytes, after: bytes) -> str:
    """A unified diff of two texts; a last line without line feed is marked as git does."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(raw: bytes) -> list[str]:
    return [line + "\n" for line in decoded(raw).split("\n")[:-1]] + (
        [last] if (last := decoded(raw).split("\n")[-1]) else []
    )
