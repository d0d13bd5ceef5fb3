"""Where Markdown headings are, and where they only seem to be."""

from __future__ import annotations

import pytest
from pcpfs_adapters.markdown import Markdown

from pcpfs.model.frames import Symbol


def headings(source: str) -> list[str]:
    return [symbol.qualified_name for symbol in Markdown().extract(source.encode()).symbols]


def section(source: str, name: str) -> str:
    raw = source.encode()
    found: dict[str, Symbol] = {s.name: s for s in Markdown().extract(raw).symbols}
    return raw[slice(*found[name].bytes)].decode()


def test_a_heading_runs_to_the_next_of_its_level_or_above() -> None:
    source = "# A\none\n\n## B\ntwo\n### C\n\n## D\n\n# E\n"
    assert headings(source) == ["A", "A.B", "A.B.C", "A.D", "E"]
    assert section(source, "A") == "# A\none\n\n## B\ntwo\n### C\n\n## D"
    assert section(source, "B") == "## B\ntwo\n### C"
    assert section(source, "E") == "# E"


def test_a_heading_says_its_level_and_lines() -> None:
    (symbol,) = Markdown().extract(b"\n\n### Low *tide* ###\n\ntext\n\n").symbols
    assert (symbol.kind, symbol.name, symbol.lines) == ("heading", "Low *tide*", (3, 5))
    assert symbol.signature == "### Low *tide*"


def test_underlined_headings_may_have_many_lines() -> None:
    assert headings("High\n  and low\n===\n\nEbb\n-\n") == ["High and low", "High and low.Ebb"]


@pytest.mark.parametrize(
    "source",
    [
        "```sh\n# comment\n```\n",
        "~~~\n# comment\n```\n# more\n~~~\n",
        "````\n```\n# comment\n````\n",
        "    # code\n",
        "---\n# yaml: comment\ntitle: x\n---\n",
        "+++\n# toml comment\n+++\n",
        "<!--\n# hidden\n-->\n",
        "<div>\n# raw\n</div>\n",
        "<pre>\n\n# raw\n</pre>\n",
        "> # quoted\n",
        "- # in an item\n",
        "- item\n\n  # in an item\n",
        "1. ```sh\n   # comment\n   ```\n",
        "1. item\n\n    ```\n    # comment\n    ```\n",
        "#hashtag\n",
        "####### seven\n",
        "\\# escaped\n",
        "- item\n---\n",
        "> quote\nlazy\n---\n",
        "a | b\n--- | ---\n",
        "***\n---\n",
        "text\n\n---\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(source: str) -> None:
    assert headings(source) == []
    assert headings(source + "\n\n# Real\n") == ["Real"]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("text\n# A\n", ["A"]),
        ("   # A #\n", ["A"]),
        ("# A#\n", ["A#"]),
        ("# #\n# B\n", ["B"]),
        ("#\tTab\n", ["Tab"]),
        ("```\nopen\n```\n# A\n", ["A"]),
        ("``` not ` a fence\n# A\n", ["A"]),
        ("- item\n# A\n", ["A"]),
        ("text\n1986. a year\n---\n", ["text 1986. a year"]),
        ("---\n\n# A\n\n---\n", ["A"]),
        ("<span>inline</span> text\n# A\n", ["A"]),
        ("<!-- one line -->\n# A\n", ["A"]),
        ("# 1.2 Höhe\n## Höhe\n", ["1.2 Höhe", "1.2 Höhe.Höhe"]),
        ("# A\n# A\n", ["A", "A"]),
    ],
)
def test_headings_of_all_forms_are_found(source: str, wanted: list[str]) -> None:
    assert headings(source) == wanted


def test_a_huge_source_takes_time_in_proportion() -> None:
    line = b"# " + b"# x" * 700_000 + b"\n"
    assert len(Markdown().extract(line).symbols) == 1
    assert len(Markdown().extract(b"- " * 1_000_000).symbols) == 0
