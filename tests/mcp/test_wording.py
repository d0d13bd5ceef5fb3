"""Errors send a model to its tools, not to commands."""

from __future__ import annotations

import re

import pytest

from pcpfs.mcp.tool import all_tools
from pcpfs.mcp.wording import TOOLS, for_a_model
from tests.integration.source_tree import SourceTree
from tests.mcp.talking import Talk


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("see pcpfs search or pcpfs ls", "see the tool search or the tool map"),
        ("see pcpfs ls /sources", "see the tool map"),
        ("cite what holds now (pcpfs symbol NAME)", "cite what holds now (the tool symbol)"),
        ("from it: pcpfs write --derived-from rev_1", "from it: the tool write rev_1"),
        ("run pcpfs reindex --extract", "run `pcpfs reindex --extract` (the user can do that)"),
        ("see pcpfs scope list", "see `pcpfs scope list` (the user can do that)"),
        ("Tell the user to run `pcpfs fsck`.", "Tell the user to run `pcpfs fsck`"),
        ("there is no pcpfs store", "there is no pcpfs store"),
    ],
)
def test_tools_stand_for_commands(told: str, said: str) -> None:
    assert for_a_model(told).startswith(said)


def test_the_tools_are_there() -> None:
    assert set(TOOLS.values()) <= set(all_tools())


def test_errors_of_calls_name_no_command_that_a_tool_does(app: SourceTree, talk: Talk) -> None:
    failed = [
        talk.fails("read", id="nowhere.md"),
        talk.fails("symbol", name="x", as_of="never"),
        talk.fails("map", source="nowhere"),
        talk.fails("map", focus=["zeppelin"]),
        talk.fails("log", id="nowhere.md"),
        talk.fails("revise", id="basket.py", expected_revision_id="rev_1", text="x"),
    ]
    named = {name for said in failed for name in re.findall(r"pcpfs ([a-z]+)", said.text)}
    assert named.isdisjoint(TOOLS)
    assert "the tool map" in failed[2].text
    assert "the tool search" in failed[3].text
