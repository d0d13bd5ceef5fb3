"""What an answer is chosen from: all that has a wanted kind, whatever else ranks higher."""

from __future__ import annotations

import pytest

from pcpfs.store.events.ingest import EventDraft, Ingest
from tests.cgp.hosting import Host
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA, Workplace

IN_PASSING = "In passing it says " * 30 + "zebra.\n"


@pytest.fixture
def crowd(app: SourceTree, place: Workplace) -> SourceTree:
    """Ninety events and ninety symbols about zebras."""
    events = [EventDraft(f"zebra {n} zebra\n".encode(), "text/plain") for n in range(90)]
    Ingest(place.store, ANNA).take("thread:talk", events)
    app.write("zebras.py", "".join(f"def zebra_{n}():\n    return {n}\n" for n in range(90)))
    app.add()
    return app


def test_each_kind_is_found_behind_a_crowd_of_others(
    crowd: SourceTree, place: Workplace, host: Host
) -> None:
    """Q1: the kinds say what may be served, not which of the best hits are kept."""
    place.write(IN_PASSING, title="Remembered")
    place.write(IN_PASSING + "A fact.\n", title="Known", tags=("fact",))
    crowd.write("passing.md", IN_PASSING)
    crowd.write("passing.py", "X = 1\n# " + IN_PASSING)
    crowd.sync()
    for kind in ("memory", "fact", "doc"):
        result = host.result("zebra", kinds=(kind,), max_frames=1)
        assert [frame.kind for frame in result.frames] == [kind]
        assert not result.truncated
    both = host.result("zebra", kinds=("fact", "doc"), max_frames=2)
    assert {frame.kind for frame in both.frames} == {"fact", "doc"}
    assert host.frames("zebra", kinds=("snippet",), max_frames=1)[0].kind == "snippet"


def test_a_symbol_is_found_behind_a_crowd_of_sections(app: SourceTree, host: Host) -> None:
    app.write("zebras.md", "".join(f"# Zebra {n}\n\nzebra\n\n" for n in range(90)))
    app.write("one.py", f"def one():\n    # {IN_PASSING}    return 1\n")
    app.add()
    (frame,) = host.frames("zebra", kinds=("symbol",), max_frames=3)
    assert frame.title == "one"


def test_a_graph_is_found_at_an_anchor_only(crowd: SourceTree, host: Host) -> None:
    assert host.result("zebra", kinds=("graph",)).frames == ()
    assert host.frames("zebra", kinds=("graph",), anchors=("zebras.py",))


def test_wanted_ones_that_found_no_room_are_counted_behind_a_crowd(
    crowd: SourceTree, place: Workplace, host: Host
) -> None:
    for n in range(3):
        place.write(f"{n} {IN_PASSING}")
    result = host.result("zebra", kinds=("memory",), max_frames=1)
    assert (len(result.frames), result.truncated, result.dropped_estimate) == (1, True, 2)


@pytest.mark.parametrize("pinned", [False, True])
def test_kinds_hold_under_a_pin(
    crowd: SourceTree, place: Workplace, host: Host, pinned: bool
) -> None:
    written = place.write(IN_PASSING, title="Remembered")
    before = str(place.clock.time)
    place.clock.time = place.clock.time.read("2041-01-01")
    place.revise(written.page_id, "Nothing of the kind.\n")
    result = host.result("zebra", kinds=("memory",), as_of=before if pinned else None)
    assert [frame.content for frame in result.frames] == [IN_PASSING] * pinned


def test_an_answer_without_bounds_ends_and_says_that_there_was_more(
    app: SourceTree, host: Host
) -> None:
    for part in range(4):
        names = range(300 * part, 300 * part + 300)
        text = "".join(f"def zebra_{n}():\n    return {n}\n" for n in names)
        app.write(f"zebras_{part}.py", text)
    app.add()
    result = host.result("zebra", max_frames=2**32 - 1, max_tokens=2**32 - 1)
    assert len(result.frames) == 1000
    assert result.truncated


def test_more_of_the_same_text_is_no_more(place: Workplace, host: Host) -> None:
    """What another frame shows already has found its room."""
    for title in ("one", "two", "three"):
        place.write("A zebra.\n", title=title)
    assert host.result("zebra", max_frames=1).dropped_estimate is None


def test_a_symbol_at_an_anchor_is_called_by_its_last_or_whole_name(
    app: SourceTree, host: Host
) -> None:
    app.write("a.py", "class Herd:\n    def lead(self):\n        pass\n")
    app.write("b.py", "def leader():\n    pass\n")
    app.add()
    for name in ("lead", "Herd.lead", "Herd::lead", "lead()"):
        frame = host.frames("xylophone", anchors=(name,))[0]
        assert (frame.title, frame.relations[0].target_uri) == ("Herd.lead", name)
    assert host.frames("xylophone", anchors=("LEAD", "lea", "rd.lead")) == ()


@pytest.mark.parametrize("start", ["", "pg_", "fr_", "a/", "file:///", "/", "A."])
def test_an_anchor_of_any_length_does_no_harm(place: Workplace, host: Host, start: str) -> None:
    place.write("A zebra.\n")
    assert len(host.frames("zebra", anchors=(start + "a" * 100_000,))) == 1
