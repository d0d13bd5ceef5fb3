"""What git's merges get wrong on immutable files is put right by the next command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.merge.clones import (
    Clone,
    Family,
    agree,
    check_all_alike,
    forget_us,
    plain_pull,
    pulled_as_text,
    push,
    rebase_pull,
    rebased_as_text,
    run,
    web_merge,
)

LONG = "".join(f"line {n} of a long text that git takes for the same file\n" for n in range(40))


def payload_files(path: Path) -> list[Path]:
    return [file for file in (path / "scopes").rglob("payloads/*/*/*") if file.is_file()]


def moved_and_edited(family: Family) -> tuple[Clone, Clone, str]:
    """One clone renames and revises a page, the other revises it."""
    one = family.clones[0]
    page = one.write(LONG, path="notes/x.md").page_id
    push(one)
    other = family.clone()
    with one.store.writing("name", one.session.principal):
        pass
    one.rename(page, "elsewhere/y.md")
    one.revise(page, LONG.replace("line 3 ", "LINE 3 "))
    one.session.tombstone(page, "gone")
    other.revise(page, LONG.replace("line 30 ", "LINE 30 "))
    return one, other, page


WAYS = (plain_pull, pulled_as_text, web_merge, rebase_pull, rebased_as_text)


@pytest.mark.parametrize("way", WAYS)
def test_a_payload_into_which_git_merged_an_edit_is_restored(family: Family, way) -> None:  # type: ignore[no-untyped-def]
    one, other, page = moved_and_edited(family)
    push(one)
    way(other)
    push(other)
    way(one)
    agree([one, other], plain_pull)
    check_all_alike([one, other])
    texts = {file.read_bytes() for file in payload_files(one.path)}
    assert LONG.replace("line 3 ", "LINE 3 ").encode() in texts
    assert LONG.replace("line 30 ", "LINE 30 ").encode() in texts
    assert one.session.manifest(page).lifecycle_status == "active"


def test_files_that_a_merge_dropped_come_back(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    kept = one.write("one line\n")
    push(one)
    lost = other.write("other line\n")
    other.close()
    run(other.path, "fetch", "--quiet")
    run(other.path, "merge", "--quiet", "-s", "ours", "-m", "wrong", "origin/main")
    other.open()
    assert other.session.payload(kept.page_id) == b"one line\n"
    assert other.session.payload(lost.page_id) == b"other line\n"
    agree([one, other], plain_pull)
    check_all_alike([one, other])


def test_a_pull_to_a_wrong_merge_puts_it_right_here_too(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    kept = one.write("one line\n")
    push(one)
    other.write("other line\n")
    other.close()
    run(other.path, "fetch", "--quiet")
    run(other.path, "merge", "--quiet", "-s", "ours", "-m", "wrong", "origin/main")
    run(other.path, "push", "--quiet", "origin", "main")
    plain_pull(one)
    assert one.session.payload(kept.page_id) == b"one line\n"
    third = family.clone()
    assert third.session.payload(kept.page_id) == b"one line\n"
    other.open()
    agree([one, other, third], plain_pull)
    check_all_alike([one, other, third])


def same_line_twice(family: Family) -> tuple[Clone, Clone]:
    one = family.clones[0]
    page = one.write("text\nline\n", path="x.md").page_id
    push(one)
    other = family.clone()
    one.revise(page, "text of one\nline\n")
    push(one)
    other.revise(page, "text of other\nline\n")
    return one, other


@pytest.mark.parametrize("way", [pulled_as_text, rebased_as_text])
def test_a_text_with_markers_is_laid_anew(family: Family, way) -> None:  # type: ignore[no-untyped-def]
    one, other = same_line_twice(family)
    way(other)
    assert sorted(other.tree().values()) == [b"text of one\nline\n", b"text of other\nline\n"]
    agree([one, other], plain_pull)
    check_all_alike([one, other])


def test_what_a_person_writes_into_a_stopped_merge_stays_their_edit(family: Family) -> None:
    _, other = same_line_twice(family)
    other.close()
    forget_us(other.path)
    run(other.path, "pull", "--quiet", "--no-rebase", "--no-edit", fails=True)
    other.tree_file("x.md").write_text("text of both, by hand\nline\n")
    other.open()
    assert other.tree_file("x.md").read_text() == "text of both, by hand\nline\n"
    assert other.store.edits() == ("scopes/project/a/tree/x.md",)
    assert run(other.path, "ls-files", "-u") == ""
    assert other.status() == " M scopes/project/a/tree/x.md\n"
    assert not (other.path / ".git" / "MERGE_HEAD").exists()
