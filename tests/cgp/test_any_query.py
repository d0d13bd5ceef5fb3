"""Whatever is asked, the answer keeps every rule (`hosting.require_sound` looks at each)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.model import cgp
from tests.cgp.hosting import Host
from tests.cgp.test_provider import NOTE, ROUTER
from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace

WORDS = st.sampled_from(
    ["router", "prefix", "match", "zebra", "greedy", '"the longest"', "pre*", "C++", "数据库", "\0"]
)
GOALS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join) | st.text(min_size=1, max_size=12)
ANCHORS = st.sampled_from(
    """router.py app/zebra.md Router.match / .. ./router.py#x file:/// file:///etc/passwd
    file:///%00 pcpfs://x/y pg_ fr_00000000 %00 \ud800""".split()  # noqa: SIM905 - easier to read
)


@pytest.fixture
def stocked(app: SourceTree, place: Workplace, host: Host) -> Host:
    """A little of everything, and a source that has changed since."""
    app.write("router.py", ROUTER)
    app.write("zebra.md", "# Zebras\n\nThe router of zebras.\n\n## Greedy ones\n\nThey match.\n")
    app.write("plain.txt", "\n".join(f"zebra {n}" for n in range(200)))
    app.add()
    place.write(NOTE, title="Greedy", cites=(str(app.symbol("match").frame_id),))
    place.write("", title="An empty page about a zebra")
    place.write(b"\0\1\2zebra", title="zebra", media_type="application/octet-stream")
    app.edit("router.py", "longest", "shortest")
    return host


QUERIES = st.fixed_dictionaries(
    {
        "max_frames": st.integers(0, 12) | st.just(2**32 - 1),
        "max_tokens": st.integers(0, 600) | st.just(2**32 - 1),
        "kinds": st.lists(st.sampled_from(list(cgp.FrameKind)), max_size=3).map(tuple),
        "anchors": st.lists(ANCHORS, max_size=3).map(tuple),
        "as_of": st.none() | st.sampled_from(["2020-01-01T00:00:00Z", "2040-01-02T00:00:00Z"]),
        "representation_preferences": st.lists(
            st.sampled_from(["full", "compact", "reference", "hologram"]), max_size=2
        ).map(tuple),
    }
)


@given(goal=GOALS.filter(str.strip), query=QUERIES)
@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_query_gets_a_sound_answer(stocked: Host, goal: str, query: dict[str, object]) -> None:
    result = stocked.result(goal, **query)
    assert set(stocked.verdicts(result.frames)) <= {"valid"}
