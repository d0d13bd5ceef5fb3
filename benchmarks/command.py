"""The command line of pcpfs, as a user's script calls it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.timing import Finished, run

PCPFS = str(Path(sys.executable).with_name("pcpfs"))


@dataclass(frozen=True, slots=True)
class Command:
    """`pcpfs` on one store; nothing of this user's environment points it elsewhere."""

    store: Path

    def line(self, *arguments: str) -> list[str]:
        return [PCPFS, "-C", str(self.store), "--json", *arguments]

    def run(self, *arguments: str, memory: bool = False) -> Finished:
        return run(self.line(*arguments), self.store.parent, environment(), memory)

    def answer(self, *arguments: str) -> dict[str, Any]:
        """The JSON document that it prints."""
        document: dict[str, Any] = json.loads(self.run(*arguments).output)
        return document


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("PCPFS_")}
