"""What a person is told when a search has to index first."""

from __future__ import annotations

import shutil

import pytest

from tests.cli.running import Terminal

FILES = 60


@pytest.fixture
def unindexed(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A store of many files in no index, as an `add` leaves it that was killed."""
    monkeypatch.setattr("pcpfs.cli.waiting.MANY", FILES)
    for number in range(FILES):
        (terminal.folder / "app").mkdir(exist_ok=True)
        (terminal.folder / f"app/tide{number}.txt").write_text(f"high water {number}\n")
    terminal.run("init", "store")
    monkeypatch.setenv("PCPFS_STORE", str(terminal.folder / "store"))
    assert terminal.run("add", "app", "--scope", "project:tides").code == 0
    assert terminal.run("search", "water").message == ""
    shutil.rmtree(terminal.folder / "store/.pcpfs/index")
    return terminal


def test_a_search_says_once_how_much_it_indexes_first_and_answers_whole(
    unindexed: Terminal,
) -> None:
    first = unindexed.run("search", "water", "--limit", "100", "--json")
    waited = f"pcpfs: {FILES} documents wait to be indexed; this search does it first, once\n"
    assert first.message == waited
    assert len(first.json["results"]) == FILES
    again = unindexed.run("search", "water", "--limit", "100", "--json")
    assert (again.message, again.out) == ("", first.out)


def test_few_documents_are_not_worth_a_word(
    unindexed: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcpfs.cli.waiting.MANY", FILES + 1)
    assert unindexed.run("search", "water").message == ""
