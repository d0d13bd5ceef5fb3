"""An edit in `tree/` that holds a secret stays where the person wrote it, and is named."""

from __future__ import annotations

import pytest

from pcpfs.sources.service import Sources
from pcpfs.store.trees.take_edits import LeftAlone, Patience
from tests.secrets.test_writing import TOKEN
from tests.store.workplace import ANNA, Workplace, truth

WHY = (
    "it holds a github-token in the text (line 1, column 5); take it out, or keep it: "
    "pcpfs sync --allow-secret FILE"
)


@pytest.fixture
def sources(place: Workplace) -> Sources:
    found = Sources(place.store, ANNA)
    found.edits._patience = Patience(apart=0.1, empty=0, pause=lambda _: None)
    return found


def test_an_edit_with_a_secret_is_left_in_its_file(place: Workplace, sources: Sources) -> None:
    page = place.write("one\n", path="x.md").page_id
    file = place.tree_file("x.md")
    file.write_text(f"use {TOKEN}\n")
    report = sources.sync().tree
    path = "scopes/project/a/tree/x.md"
    assert report.left == (LeftAlone(path, WHY),)
    assert file.read_text() == f"use {TOKEN}\n"
    assert place.session.payload(page) == b"one\n"
    assert not any(TOKEN.encode() in raw for raw in truth(place.path).values())
    assert place.store.edits() == (path,)
    place.write("another\n", path="y.md")
    assert file.read_text() == f"use {TOKEN}\n"


def test_a_new_file_with_a_secret_waits(place: Workplace, sources: Sources) -> None:
    place.write("one\n", path="x.md")
    place.tree_file("new.md").write_text(f"use {TOKEN}\n")
    assert [left.path for left in sources.sync().tree.left] == ["scopes/project/a/tree/new.md"]
    place.tree_file("new.md").write_text("use none\n")
    assert len(sources.sync().tree.created) == 1


def test_a_person_may_keep_it(place: Workplace, sources: Sources) -> None:
    page = place.write("one\n", path="x.md").page_id
    place.tree_file("x.md").write_text(f"use {TOKEN}\n")
    report = sources.sync(allow_secrets=["scopes/project/a/tree/x.md"]).tree
    assert (report.left, len(report.revised)) == ((), 1)
    assert place.session.payload(page) == f"use {TOKEN}\n".encode()
