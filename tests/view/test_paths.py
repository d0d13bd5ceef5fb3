"""Folders made of sorted paths: in order, in parts, asking for nothing else."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.instants import Instant
from pcpfs.view.nodes import Directory, File, Node, in_batches, listed
from pcpfs.view.paths import Paths, Place, plain_part, shown_part

FILE = File(0, Instant(0), bytes)
part = st.text("ab-./0A~", min_size=1, max_size=3).map(lambda text: text.replace("/", "_"))
paths = st.lists(st.lists(part, min_size=1, max_size=3).map("/".join), max_size=12)


@dataclass
class Shelf:
    """Sorted paths, and how many of them were asked for."""

    paths: Sequence[str]
    asked: int = field(default=0)

    def places(self, start: str, end: str | None) -> Iterator[Place]:
        for path in in_batches(self.rows, lambda path: f"{path}\0", start):
            if end is not None and path >= end:
                return
            yield Place(path, f"{path}\0", shown_part(path.rpartition("/")[2]), FILE)

    def rows(self, start: str, count: int) -> Sequence[str]:
        at = bisect.bisect_left(self.paths, start)
        found = self.paths[at : at + count]
        self.asked += len(found)
        return found

    def at(self, folder: str, name: str) -> Node | None:
        path = folder + (plain_part(name) or "/")
        return FILE if path in self.paths else None

    def folder(self) -> Directory:
        return Paths(self.places, self.at, shown_part, plain_part).folder()


def tree(folder: Directory, path: str = "") -> Iterator[str]:
    for _, name, node in folder.entries():
        if isinstance(node, Directory):
            yield from tree(node, f"{path}{name}/")
        else:
            yield path + name


def consistent(given: list[str]) -> list[str]:
    """Paths of which none is the folder of another."""
    chosen = sorted(set(given))
    return [p for p in chosen if not any(q.startswith(f"{p}/") for q in chosen)]


@given(paths.map(consistent))
def test_all_paths_are_shown_once_in_the_order_of_git(given_paths: list[str]) -> None:
    shown = list(tree(Shelf(given_paths).folder()))
    assert shown == ["/".join(map(shown_part, p.split("/"))) for p in given_paths]


@given(paths.map(consistent), st.integers(0, 12))
def test_a_list_goes_on_where_it_stopped(given_paths: list[str], at: int) -> None:
    folder = Shelf(given_paths).folder()
    whole = list(folder.entries())
    first = whole[:at]
    rest = list(folder.entries(first[-1].next)) if first else whole
    assert [entry.name for entry in (*first, *rest)] == [entry.name for entry in whole]


@given(paths.map(consistent), st.sampled_from(["a", "b", "a-", "a0"]))
def test_what_comes_and_goes_meanwhile_repeats_nothing(given_paths: list[str], new: str) -> None:
    before = list(Shelf(given_paths).folder().entries())
    for place, entry in enumerate(before):
        others = [p for p in given_paths if not p.startswith(entry.name)]
        later = Shelf(consistent([*others, new])).folder().entries(entry.next)
        given_names = {e.name for e in before[: place + 1]} - {new}
        assert not given_names & {e.name for e in later}


@given(paths.map(consistent))
def test_every_name_that_is_shown_is_found(given_paths: list[str]) -> None:
    def check(folder: Directory) -> None:
        for _, name, node in folder.entries():
            found = folder.find(name)
            assert found is not None
            assert found.kind == node.kind
            if isinstance(node, Directory):
                check(node)

    check(Shelf(given_paths).folder())


def test_what_lies_in_folders_is_not_asked_for() -> None:
    shelf = Shelf(sorted(f"{top}/{n:05d}" for top in ("a", "b", "c") for n in range(30_000)))
    assert [entry.name for entry in shelf.folder().entries()] == ["a", "b", "c"]
    assert shelf.asked < 50


def test_a_long_folder_is_read_as_far_as_it_is_listed() -> None:
    shelf = Shelf([f"{n:06d}" for n in range(100_000)])
    entries = shelf.folder().entries()
    assert [next(entries).name for _ in range(20)][-1] == "000019"
    assert shelf.asked < 100
    assert sum(1 for _ in entries) == 99_980


def test_few_names_are_sorted_and_go_on_likewise() -> None:
    folder = listed(lambda: {"b": FILE, "a": FILE, "c": FILE})
    first = next(folder.entries())
    assert first.name == "a"
    assert [entry.name for entry in folder.entries(first.next)] == ["b", "c"]
    assert folder.find("x") is None
