"""Any history of files: the store says of each moment what was there then."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace

WORDS = st.sampled_from(["alpha", "beta", "gamma"])


BODIES = st.dictionaries(WORDS, st.integers(0, 2), max_size=3)


STATES = st.lists(
    st.dictionaries(st.sampled_from(["a.py", "b.py"]), BODIES, max_size=2), max_size=4
)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(states=STATES)
def test_whatever_happens_to_files_the_store_says_at_each_moment_what_was_there(
    app: SourceTree, states: list[dict[str, dict[str, int]]]
) -> None:
    folder = app.path / f"h{app.place.clock.time.microseconds}"
    folder.mkdir()
    tree = SourceTree(folder, app.place)
    tree.add(name=folder.name)
    moments: list[tuple[Instant, dict[str, dict[str, int]]]] = []
    for state in states:
        for name in ("a.py", "b.py"):
            if name in state:
                body = "".join(f"def {f}():\n    return {n}\n\n\n" for f, n in state[name].items())
                tree.write(name, body)
            elif (folder / name).exists():
                (folder / name).unlink()
        tree.sync([folder.name])
        moments.append((app.place.clock.now(), state))
    for moment, state in moments:
        assert seen(app.place, folder.name, Pins(as_of=moment)) == state
        assert seen(app.place, folder.name, Pins(recorded_as_of=moment)) == state
    if states:
        assert seen(app.place, folder.name, Pins()) == states[-1]


def seen(place: Workplace, root: str, pins: Pins) -> dict[str, dict[str, int]]:
    """What a store says of a root: file, function, the number that it returns."""
    found: dict[str, dict[str, int]] = {}
    reader = place.session.reader(pins)
    (row,) = [row for row in place.store.catalog.roots() if row.name == root]
    for page in place.store.catalog.pages("root_id = ?", (row.root_id,)):
        try:
            frames = reader.frames_of(page.page_id)
        except NotFound:
            continue
        for frame in frames:
            bodies = found.setdefault(frame.path, {})
            if frame.kind != "file":
                source = reader.frame_source(frame.frame_id)
                bodies[frame.name] = int(source.rpartition(b" ")[2])
    return found
