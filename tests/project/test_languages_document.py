"""`docs/languages.md` lists every adapter with its files and the kinds that it tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from pcpfs_adapters.installed import builtin
from pcpfs_adapters.kinds import KINDS
from pcpfs_adapters.tree_sitter_engine import TreeSitterAdapter

from pcpfs.ports import Adapter

DOCUMENT = Path(__file__).parents[2] / "docs" / "languages.md"
PLAIN = ("text", "git_lfs")
"""They take what no language claims, and tell no symbols."""
ADAPTERS = {adapter.name: adapter for adapter in builtin().all() if adapter.name not in PLAIN}


def listed() -> dict[str, tuple[set[str], set[str]]]:
    """The name of each row of the tables → its files and its kinds."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return {
        name: ({file.strip("`") for file in files.split()}, set(kinds.split(", ")))
        for name, files, kinds in rows
        if name != "adapter"
    }


def test_no_adapter_is_forgotten_or_made_up() -> None:
    assert set(listed()) == set(ADAPTERS)


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=lambda adapter: adapter.name)
def test_files_and_kinds_are_those_of_the_adapter(adapter: Adapter) -> None:
    files, kinds = listed()[adapter.name]
    told = {*adapter.suffixes, *adapter.filenames}
    if isinstance(adapter, TreeSitterAdapter):
        language = adapter.language
        told |= {f"{start}…" for start in language.prefixes}
        assert kinds == {line.split()[0] for line in language.symbols.splitlines() if line.strip()}
    assert files == told
    assert kinds <= KINDS
