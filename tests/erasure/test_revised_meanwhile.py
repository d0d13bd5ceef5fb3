"""A receipt outranks each revision, also one that its writer did not know of; it is told once."""

from __future__ import annotations

from pathlib import Path

from pcpfs.cli.conflict_lines import conflict_lines
from pcpfs.store.merges.remote import pull, push
from tests.merge.clones import Family
from tests.store.workplace import ANNA


def test_who_revised_a_page_that_was_erased_meanwhile_is_told(
    empty_store: Path, tmp_path: Path
) -> None:
    family = Family(tmp_path, empty_store)
    (one,) = family.clones
    revised = one.write("leak one\n", path="a.md").page_id
    known = one.write("leak two\n", path="b.md").page_id
    push(one.store, ANNA)
    two = family.clone()
    for page in (revised, known):
        one.session.delete(page, "it leaked")
    mine = two.revise(revised, "leak and more\n")
    push(one.store, ANNA)
    pulled = pull(two.store, ANNA)
    (told,) = pulled.conflicts
    assert (told.page_id, told.kind, told.path) == (revised, "erased", "a.md")
    assert told.heads == (mine.revision_id,)
    assert "erased elsewhere" in next(conflict_lines(pulled.conflicts))
    assert two.store.catalog.pages() == []
    assert two.session.conflicts() == pull(two.store, ANNA).conflicts == ()
    for clone in family.clones:
        clone.close()
