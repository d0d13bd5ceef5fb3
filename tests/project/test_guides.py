"""The tutorial and the how-tos: every command runs, and prints what the page shows of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.newcomer import CHECKOUT, Newcomer
from tests.project.ready import ready

DOCS = CHECKOUT / "docs"
GUIDES = [DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]
STEP = re.compile(
    r"^```(?P<language>sh|text)\n(?P<block>.*?)^```|^<!-- setup\n(?P<setup>.*?)^-->",
    re.DOTALL | re.MULTILINE,
)
MARK = "--- the next step ---"


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_what_it_says_works_and_prints_what_it_shows(guide: Path, tmp_path: Path) -> None:
    printed, shown = followed(guide, Newcomer.arrives(tmp_path))
    assert shown, "a guide shows what its commands print"
    for step, lines in shown:
        rest = iter(printed[step].splitlines())
        for line in lines:
            assert any(fits(line, other) for other in rest), f"{line!r} is not in {printed[step]}"


def followed(guide: Path, newcomer: Newcomer) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """What each step of a page prints, and for some what the page shows of that."""
    script, shown = steps(guide.read_text(encoding="utf-8"))
    with ready(newcomer.commands / "pcpfs"):
        return newcomer.types(script).split(MARK + "\n"), shown


def steps(text: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """The commands as one script, and for a step what is shown right after it, in order. Between
    two steps the script prints a mark."""
    script: list[str] = []
    shown: list[tuple[int, list[str]]] = []
    end = 0
    for found in STEP.finditer(text):
        if found["language"] == "text":
            if not text[end : found.start()].strip():
                lines = [line for line in found["block"].splitlines() if line.strip()]
                shown.append((len(script) - 1, lines))
            continue
        script.append(found["setup"] or found["block"])
        end = found.end()
    return f"echo '{MARK}'\n".join(script), shown


def fits(shown: str, printed: str) -> bool:
    """Whether a line is the one that is shown, in which `…` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), printed) is not None


def test_links_lead_somewhere() -> None:
    """In all documents: to files that are there, and headings in them."""
    for page in [CHECKOUT / "README.md", *DOCS.rglob("*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.exists(), f"{page.name}: {link}"
            if anchor:
                assert anchor in anchors(target), f"{page.name}: {link}"


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
