"""`pull` and `push`: what they take, give and refuse."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pcpfs.errors import Conflict, NotFound, Unavailable
from pcpfs.sources.service import Sources
from pcpfs.store.config import Config
from pcpfs.store.merges.remote import pull, push
from pcpfs.store.store import Store
from tests.merge.clones import (
    Clone,
    Family,
    agree,
    check_all_alike,
    driven_pull,
    our_pull,
    plain_pull,
    pulled_as_text,
    rebase_pull,
    run,
)
from tests.store.workplace import ANNA

CONFIG = "pcpfs.toml"


def commit(clone: Clone, path: str, text: str) -> None:
    """A person changes a file of their own and commits it."""
    (clone.path / path).write_text(text)
    run(clone.path, "add", "--", path)
    run(clone.path, "commit", "--quiet", "-m", f"change {path}")


def test_nothing_new_is_said(family: Family) -> None:
    pulled = pull(family.clones[0].store, ANNA)
    assert (pulled.outcome, pulled.changes, pulled.before) == ("current", 0, pulled.commit)


def test_a_pull_behind_goes_forward_without_a_commit_of_its_own(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    page = one.write("one line\n", path="x.md")
    push(one.store, ANNA)
    pulled = pull(other.store, ANNA)
    assert (pulled.outcome, pulled.changes) == ("forward", 2)
    assert pulled.commit == page.commit
    assert other.tree() == {"x.md": b"one line\n"}
    check_all_alike([one, other])


def test_a_merge_says_its_conflicts_and_is_one_commit(family: Family) -> None:
    one = family.clones[0]
    page = one.write("text\n", path="x.md").page_id
    push(one.store, ANNA)
    other = family.clone()
    one.revise(page, "text of one\n")
    push(one.store, ANNA)
    other.revise(page, "text of other\n")
    before = other.commits()
    pulled = pull(other.store, ANNA)
    assert pulled.outcome == "merged"
    assert [(c.page_id, c.kind) for c in pulled.conflicts] == [(page, "heads")]
    assert other.commits() == before + 2
    assert pulled.left == ()
    assert push(other.store, ANNA).moved
    our_pull(one)
    check_all_alike([one, other])


def test_a_push_behind_is_refused_with_a_hint(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    one.write("one\n")
    push(one.store, ANNA)
    other.write("other\n")
    with pytest.raises(Conflict, match="pcpfs pull"):
        push(other.store, ANNA)
    our_pull(other)
    assert push(other.store, ANNA).moved
    assert not push(other.store, ANNA).moved


def test_a_rewritten_remote_that_lost_revisions_is_refused_and_named(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    lost = one.write("lost line\n")
    push(one.store, ANNA)
    our_pull(other)
    run(one.path, "reset", "--quiet", "--hard", "HEAD~1")
    one.write("other line\n")
    run(one.path, "push", "--quiet", "--force", "origin", "main")
    for _ in range(2):
        with pytest.raises(Conflict, match="rewritten") as refused:
            pull(other.store, ANNA)
        assert lost.revision_id in refused.value.fields["dropped"]  # type: ignore[operator]
        run(other.path, "fetch", "--quiet", "origin")
    assert other.session.payload(lost.page_id) == b"lost line\n"
    assert other.status() == ""


def test_a_rewritten_remote_that_lost_nothing_is_merged(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    one.write("one line\n")
    push(one.store, ANNA)
    our_pull(other)
    other.write("other line\n")
    run(one.path, "commit", "--quiet", "--amend", "-m", "said otherwise")
    run(one.path, "push", "--quiet", "--force", "origin", "main")
    assert pull(other.store, ANNA).outcome == "merged"
    push(other.store, ANNA)
    our_pull(one)
    check_all_alike([one, other])


def test_another_store_is_refused(family: Family, tmp_path: Path) -> None:
    another = Store.init(tmp_path / "another", owner=ANNA)
    one = family.clones[0]
    with pytest.raises(Conflict, match="another store"):
        pull(one.store, ANNA, str(another.path))
    run(tmp_path, "init", "--quiet", "-b", "main", "project")
    run(tmp_path / "project", "commit", "--quiet", "--allow-empty", "-m", "no store")
    with pytest.raises(Conflict, match="no store"):
        pull(one.store, ANNA, str(tmp_path / "project"))
    assert one.status() == ""
    another.close()


def test_settings_that_both_sides_changed_are_left_to_the_person(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    text = (one.path / CONFIG).read_text()
    commit(one, CONFIG, text.replace("# A pcpfs", "# Our pcpfs"))
    push(one.store, ANNA)
    commit(other, CONFIG, text.replace("# A pcpfs", "# Their pcpfs"))
    page = other.write("one\n")
    with pytest.raises(Conflict, match=CONFIG) as refused:
        pull(other.store, ANNA)
    assert refused.value.fields["paths"] == [CONFIG]
    assert not (other.path / ".git" / "MERGE_HEAD").exists()
    assert other.session.payload(page.page_id) == b"one\n"
    assert other.status() == ""


def test_settings_that_one_side_changed_are_taken(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    changed = (one.path / CONFIG).read_text().replace("# A pcpfs", "# Our pcpfs")
    commit(one, CONFIG, changed)
    commit(one, "notes.txt", "a file of a person's own\n")
    push(one.store, ANNA)
    other.write("one\n")
    our_pull(other)
    assert (other.path / CONFIG).read_text() == changed
    assert (other.path / "notes.txt").read_text() == "a file of a person's own\n"
    push(other.store, ANNA)
    our_pull(one)
    check_all_alike([one, other])


def test_an_edit_of_settings_in_progress_is_not_overwritten(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    text = (one.path / CONFIG).read_text()
    commit(one, CONFIG, text.replace("# A pcpfs", "# Our pcpfs"))
    push(one.store, ANNA)
    mine = text.replace("# A pcpfs", "# My pcpfs")
    (other.path / CONFIG).write_text(mine)
    with pytest.raises(Conflict, match="edit of yours"):
        pull(other.store, ANNA)
    assert (other.path / CONFIG).read_text() == mine
    assert other.status() == f" M {CONFIG}\n"


def test_an_edit_in_the_tree_survives_a_pull(family: Family) -> None:
    one = family.clones[0]
    page = one.write("text\n", path="x.md").page_id
    push(one.store, ANNA)
    other = family.clone()
    one.revise(page, "text of one\n")
    push(one.store, ANNA)
    other.tree_file("x.md").write_text("an edit\n")
    pulled = pull(other.store, ANNA)
    assert pulled.left == ("scopes/project/a/tree/x.md",)
    assert other.tree_file("x.md").read_text() == "an edit\n"


@pytest.mark.parametrize("way", [our_pull, plain_pull])
def test_what_a_person_committed_elsewhere_without_us_arrives(family: Family, way) -> None:  # type: ignore[no-untyped-def]
    one = family.clones[0]
    page = one.write("text 1\ntext 2\ntext 3\n", path="x.md").page_id
    push(one.store, ANNA)
    other = family.clone()
    commit(other, "scopes/project/a/tree/x.md", "text 1\ntext 2\ntext 3, edited\n")
    run(other.path, "push", "--quiet", "origin", "main")
    one.write("something else\n", path="y.md")
    way(one)
    assert one.tree_file("x.md").read_text() == "text 1\ntext 2\ntext 3, edited\n"
    assert one.store.edits() == ("scopes/project/a/tree/x.md",)
    assert one.session.payload(page) == b"text 1\ntext 2\ntext 3\n"


@pytest.mark.parametrize("way", [our_pull, plain_pull, driven_pull, pulled_as_text, rebase_pull])
def test_it_becomes_a_head_of_its_own_beside_ours(family: Family, way) -> None:  # type: ignore[no-untyped-def]
    one = family.clones[0]
    page = one.write("text 1\ntext 2\ntext 3\n", path="x.md").page_id
    push(one.store, ANNA)
    other = family.clone()
    commit(other, "scopes/project/a/tree/x.md", "text 1\ntext 2\ntext 3, edited\n")
    run(other.path, "push", "--quiet", "origin", "main")
    one.revise(page, "text 1, revised\ntext 2\ntext 3\n")
    way(one)
    assert one.session.payload(page) == b"text 1, revised\ntext 2\ntext 3\n"
    assert b"text 1\ntext 2\ntext 3, edited\n" in one.tree().values()
    with Sources(one.store, ANNA) as sources:
        sources.sync()
    assert len(one.session.manifest(page).heads) == 2
    assert set(one.tree().values()) == {
        b"text 1, revised\ntext 2\ntext 3\n",
        b"text 1\ntext 2\ntext 3, edited\n",
    }
    assert one.status() == ""


def test_without_a_remote_it_says_how_to_get_one(family: Family) -> None:
    one = family.clones[0]
    run(one.path, "remote", "remove", "origin")
    with pytest.raises(NotFound, match="git remote add"):
        pull(one.store, ANNA)
    with pytest.raises(NotFound, match="no remote upstream"):
        pull(one.store, ANNA, "upstream")
    with pytest.raises(Unavailable, match="cannot fetch"):
        pull(one.store, ANNA, str(one.path / "nowhere"))


def test_a_first_push_makes_the_branch(family: Family, tmp_path: Path) -> None:
    one = family.clones[0]
    run(tmp_path, "init", "--quiet", "--bare", "-b", "main", "empty.git")
    run(one.path, "remote", "add", "empty", str(tmp_path / "empty.git"))
    with pytest.raises(NotFound, match="pcpfs push"):
        pull(one.store, ANNA, "empty")
    assert push(one.store, ANNA, "empty").moved
    assert pull(one.store, ANNA, "empty").outcome == "current"


def test_nothing_that_a_copied_folder_says_is_run(family: Family, tmp_path: Path) -> None:
    one, other = family.clones[0], family.clone()
    other.write("other\n")
    push(other.store, ANNA)
    one.write("one\n")
    sprung = tmp_path / "sprung"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\nexit 1\n")
    trap.chmod(0o755)
    for key in (
        "core.sshCommand", "core.gitProxy", "core.fsmonitor", "core.askPass", "core.editor",
        "credential.helper", "merge.pcpfs.driver", "merge.evil.driver", "remote.origin.uploadpack",
        "remote.origin.receivepack", "filter.evil.clean", "filter.evil.smudge", "gpg.program",
        "core.alternateRefsCommand", "uploadpack.packObjectsHook", "diff.external",
    ):  # fmt: skip
        run(one.path, "config", key, str(trap))
    (one.path / ".git" / "info" / "attributes").write_text("* merge=evil filter=evil\n")
    hooks = one.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("pre-push", "post-merge", "pre-merge-commit", "reference-transaction"):
        shutil.copy(trap, hooks / hook)
    our_pull(one)
    push(one.store, ANNA)
    assert not sprung.exists()
    run(one.path, "remote", "set-url", "origin", f"ext::{trap}")
    with pytest.raises(Unavailable):
        pull(one.store, ANNA)
    assert not sprung.exists()
    assert os.path.exists(trap)


def test_a_password_in_an_address_is_not_shown(family: Family) -> None:
    one = family.clones[0]
    run(one.path, "remote", "set-url", "origin", "file://anna:secret@nowhere/x.git")
    with pytest.raises(Unavailable) as refused:
        pull(one.store, ANNA)
    assert "secret" not in refused.value.message


def test_ours_and_plain_merges_meet(family: Family) -> None:
    clones = [family.clones[0], family.clone(), family.clone()]
    for number, clone in enumerate(clones):
        clone.write(f"text {number}\n")
    for clone, way in zip(clones, (our_pull, plain_pull, our_pull), strict=True):
        way(clone)
        push(clone.store, ANNA)
    agree(clones, our_pull)
    check_all_alike(clones)
    assert Config.decode((clones[0].path / CONFIG).read_bytes(), "x").owner == ANNA
