"""A look at `tree/` that the power cuts short, at each call of the disk: the next one ends it, and
what a person wrote becomes what it would have become."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pcpfs_conformance.broken_disks import PowerCut, PowerWentOut

from pcpfs.disk import Disk, SystemCalls
from tests.crash.scenes import Scene, furnished
from tests.store.workplace import Workplace
from tests.tree.hands import Hands

NEVER = 1_000_000_000
STRIDE = 3


def saved_in_another_case(hands: Hands) -> None:
    """A new page whose name another one has already, for some systems."""
    hands.save("ONE.md", "# Another\n")


def sibling_edited(hands: Hands) -> None:
    """Its file gets another name, that of the new revision."""
    (name,) = (name for name in hands.place.tree() if name.startswith("two~"))
    hands.save(name, "# Two\nbeside\nand more\n")


def prepared(folder: Path, edit: Callable[[Hands], None]) -> Scene:
    scene = furnished(folder)
    with scene.opened() as place:
        page = place.write("# Two\n", path="two.md")
        place.revise(page.page_id, "# Two\nours\n")
        place.revise(page.page_id, "# Two\nbeside\n", branch=page.revision_id)
        edit(Hands(place))
    scene.keep()
    return scene


def cut_short(scene: Scene, at: int) -> bool:
    calls = PowerCut(SystemCalls(), NEVER)
    try:
        with scene.opened(Disk(calls)) as place:
            calls.arm(at)
            Hands(place).taken()
    except PowerWentOut:
        return True
    return False


def state(place: Workplace) -> object:
    """Titles, files, and the texts of all heads."""
    pages = place.store.catalog.pages("lifecycle = 'active'")
    heads = {text for row in pages for text in Hands(place).heads(row.page_id)}
    return sorted(row.title for row in pages), sorted(place.tree().values()), sorted(heads)


@pytest.mark.parametrize("edit", [saved_in_another_case, sibling_edited])
def test_a_look_that_was_cut_short_is_ended_by_the_next(
    tmp_path: Path, edit: Callable[[Hands], None]
) -> None:
    scene = prepared(tmp_path / "scene", edit)
    with scene.opened() as place:
        Hands(place).sync()
        wanted = state(place)
    at, wrong, was_cut = 1, [], True
    while was_cut:
        scene.again()
        was_cut = cut_short(scene, at)
        with scene.opened() as place:
            Hands(place).sync()
            if state(place) != wanted:
                wrong.append(at)
        at += STRIDE
    assert at > 2 * STRIDE
    assert wrong == []
