"""A receipt outranks every object of its page, wherever that comes from."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pcpfs.errors import Conflict
from pcpfs.store.erasure.erasing import delete
from pcpfs.store.erasure.residues import pending
from pcpfs.store.events.ingest import EventDraft
from pcpfs.store.merges.remote import pull, push
from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.store.upkeeping.maintain import maintain
from tests.erasure.hideouts import holds
from tests.merge.clones import Clone, Family, check_all_alike, plain_pull, run
from tests.store.workplace import ANNA

SECRET = "the combination is 4711-blue-heron-0815, and nobody must know"
TITLE = "Harbour master key leak"
WORDS = (SECRET, TITLE)
TEXT = f"# {TITLE}\n{SECRET}\n"


def event(text: str, title: str | None = None) -> EventDraft:
    return EventDraft(text.encode(), "text/plain", title=title)


def erase(clone: Clone, page: str) -> None:
    found = delete(clone.store, ANNA, page, "not ours to keep", proven=True)
    assert found.proof is not None
    assert found.proof.traces == ()


def leaked(family: Family) -> tuple[Clone, Clone, str]:
    """Two clones of a store with a page that is to go, and one that stays."""
    first = family.clones[0]
    first.write("# Tides\nThis text stays.\n", path="tides.md")
    page = first.write(TEXT, path="key.md").page_id
    first.write("# Boats\nA boat is no ship.\n", path="boats.md")
    run(first.path, "push", "--quiet", "origin", "main")
    return first, family.clone(), str(page)


def is_clean(clones: Sequence[Clone]) -> None:
    for clone in clones:
        assert holds(clone.path, *WORDS) == []
        assert fsck(clone.store).problems == ()
        assert run(clone.path, "status", "--porcelain") == ""


def test_a_push_replaces_the_history_of_the_remote_and_a_pull_follows(family: Family) -> None:
    one, two, page = leaked(family)
    erase(one, page)
    assert push(one.store, ANNA).replaced
    pulled = pull(two.store, ANNA)
    assert pulled.outcome == "forward"
    assert [(gone.page_id, gone.path) for gone in pulled.erased] == [(page, "key.md")]
    assert pull(two.store, ANNA).erased == ()
    is_clean([one, two])
    check_all_alike([one, two])


def test_what_the_other_clone_wrote_since_is_kept(family: Family) -> None:
    one, two, page = leaked(family)
    kept = two.write("# Buoys\nRed to port.\n", path="buoys.md").page_id
    two.revise(page, TEXT + "and a line that only this clone has: 4711-blue-heron-0815\n")
    erase(one, page)
    push(one.store, ANNA)
    pull(two.store, ANNA)
    is_clean([two])
    assert two.session.payload(kept) == b"# Buoys\nRed to port.\n"
    assert not push(two.store, ANNA).replaced
    pull(one.store, ANNA)
    is_clean([one, two])
    check_all_alike([one, two])


def test_a_plain_pull_brings_it_back_and_the_next_command_removes_it(family: Family) -> None:
    one, two, page = leaked(family)
    two.write("# Buoys\nRed to port.\n", path="buoys.md")
    erase(one, page)
    run(two.path, "push", "--quiet", "origin", "main")
    plain_pull(one)
    one.session.scopes()
    assert one.store.catalog.page(page) is None
    assert [p for p in holds(one.path, *WORDS) if not p.startswith(("git", ".git"))] == []
    assert pending(one.store.workshop).keys() == {page}
    assert run(one.path, "status", "--porcelain") == ""
    assert maintain(one.store).erased == (page,)
    is_clean([one])
    assert pending(one.store.workshop) == {}
    assert push(one.store, ANNA).replaced
    pull(two.store, ANNA)
    is_clean([one, two])
    check_all_alike([one, two])


@pytest.mark.parametrize("remote", ["origin", "no name"])
def test_what_a_plain_fetch_brings_back_is_pending_and_maintain_removes_it(
    family: Family, remote: str
) -> None:
    one, two, page = leaked(family)
    erase(one, page)
    assert pending(one.store.workshop) == {}
    two.write("# Buoys\nRed to port.\n", path="buoys.md")
    run(two.path, "push", "--quiet", "origin", "main")
    where = "origin" if remote == "origin" else run(one.path, "remote", "get-url", "origin").strip()
    run(one.path, "fetch", "--quiet", where)
    assert holds(one.path, *WORDS) != []
    assert pending(one.store.workshop).keys() == {page}
    assert pending(one.store.workshop).keys() == {page}
    assert maintain(one.store).erased == (page,)
    is_clean([one])
    assert pending(one.store.workshop) == {}


def test_history_that_comes_below_a_shallow_one_is_looked_through(family: Family) -> None:
    one, _, page = leaked(family)
    folder = one.path.with_name("shallow")
    run(one.path.parent, "clone", "-q", "--depth=1", one.path.as_uri(), str(folder))
    clone = Clone.at(folder)
    erase(clone, page)
    assert pending(clone.store.workshop) == {}
    run(folder, "fetch", "--quiet", "--unshallow")
    assert pending(clone.store.workshop).keys() == {page}
    assert maintain(clone.store).erased == (page,)
    is_clean([clone])
    clone.close()


def test_a_pull_of_ours_from_a_remote_that_has_it_still_does_not_take_it(family: Family) -> None:
    one, two, page = leaked(family)
    erase(one, page)
    two.write("# Buoys\nRed to port.\n", path="buoys.md")
    run(two.path, "push", "--quiet", "origin", "main")
    with pytest.raises(Conflict):
        push(one.store, ANNA)
    pull(one.store, ANNA)
    is_clean([one])
    assert push(one.store, ANNA).replaced
    pull(two.store, ANNA)
    is_clean([one, two])
    check_all_alike([one, two])


def test_a_clone_that_git_merged_with_the_new_history_is_cleaned_as_well(family: Family) -> None:
    one, two, page = leaked(family)
    two.write("# Buoys\nRed to port.\n", path="buoys.md")
    erase(one, page)
    push(one.store, ANNA)
    plain_pull(two)
    two.session.scopes()
    assert two.store.catalog.page(page) is None
    maintain(two.store)
    is_clean([two])
    push(two.store, ANNA)
    pull(one.store, ANNA)
    is_clean([one, two])
    check_all_alike([one, two])


def test_a_remote_that_lost_more_than_the_erased_page_is_refused(family: Family) -> None:
    one, two, page = leaked(family)
    before = run(one.path, "rev-parse", "HEAD~1").strip()
    pull(two.store, ANNA)
    one.close()
    run(one.path, "reset", "-q", "--hard", before)
    one.open()
    erase(one, page)
    run(one.path, "push", "--quiet", "--force", "origin", "main")
    head = run(two.path, "rev-parse", "HEAD")
    with pytest.raises(Conflict, match="no longer holds"):
        pull(two.store, ANNA)
    assert run(two.path, "rev-parse", "HEAD") == head
    assert two.store.catalog.page(page) is not None


def test_an_erased_event_does_not_come_back_and_the_others_stay(family: Family) -> None:
    one = family.clones[0]
    said = [event(f"event {n}: something happened at the harbour") for n in range(3)]
    said[1] = event(SECRET, title=TITLE)
    written = one.session.ingest("project:log", said)
    run(one.path, "push", "--quiet", "origin", "main")
    two = family.clone()
    two.session.ingest("project:log", [event("event 4: later")])
    erase(one, written[1].page_id)
    push(one.store, ANNA)
    pull(two.store, ANNA)
    is_clean([one, two])
    plain = [row.title for row in two.store.catalog.pages("is_event")]
    assert len(plain) == 3
    assert two.session.payload(written[0].revision_id) == said[0].payload
    push(two.store, ANNA)
    pull(one.store, ANNA)
    check_all_alike([one, two])


def test_an_event_that_a_plain_pull_brings_back_is_removed(family: Family) -> None:
    one = family.clones[0]
    written = one.session.ingest(
        "project:log", [event("event 1: something"), event(SECRET, title=TITLE)]
    )
    run(one.path, "push", "--quiet", "origin", "main")
    two = family.clone()
    two.write("# Buoys\nRed to port.\n", path="buoys.md")
    run(two.path, "push", "--quiet", "origin", "main")
    erase(one, written[1].page_id)
    plain_pull(one)
    one.session.scopes()
    assert one.store.catalog.page(written[1].page_id) is None
    assert [p for p in holds(one.path, *WORDS) if not p.startswith(("git", ".git"))] == []
    maintain(one.store)
    is_clean([one])
    assert one.session.payload(written[0].revision_id) == b"event 1: something"


def test_a_pull_of_ours_does_not_let_an_erased_event_into_history(family: Family) -> None:
    one = family.clones[0]
    written = one.session.ingest(
        "project:log", [event("event 1: something"), event(SECRET, title=TITLE)]
    )
    run(one.path, "push", "--quiet", "origin", "main")
    two = family.clone()
    two.write("# Buoys\nRed to port.\n", path="buoys.md")
    run(two.path, "push", "--quiet", "origin", "main")
    erase(one, written[1].page_id)
    pull(one.store, ANNA)
    assert pending(one.store.workshop) == {}
    is_clean([one])
    assert one.session.payload(written[0].revision_id) == b"event 1: something"
