"""A provider serves what its principal may read, and no secret."""

from __future__ import annotations

from pcpfs.model.grants import LOCAL_MODEL
from tests.cgp.hosting import Host
from tests.integration.source_tree import SourceTree
from tests.secrets.test_writing import TOKEN
from tests.store.workplace import Workplace

CODE = 'def zebra():\n    """Of the savanna."""\n    return "stripes"\n'


def test_what_is_revoked_is_served_no_longer(place: Workplace, host: Host) -> None:
    open_, hidden = place.write("A zebra here.\n"), place.write("A zebra there.\n", "project:b")
    place.session.link(open_.page_id, "depends_on", hidden.page_id)
    frames = host.frames("zebra")
    assert len(frames) == 2
    place.session.governing.revoke("project:b", LOCAL_MODEL)
    (left,) = host.frames("zebra")
    assert "here" in (left.content or "")
    assert left.relations == ()
    verdicts = dict(zip([f.content for f in frames], host.verdicts(frames), strict=True))
    assert verdicts == {"A zebra here.\n": "valid", "A zebra there.\n": "unknown"}
    for anchor in (hidden.page_id, hidden.revision_id, "scopes/project/b/tree/"):
        assert all(
            "there" not in (f.content or "") for f in host.frames("zebra", anchors=(anchor,))
        )


def test_a_source_that_gets_a_secret_is_served_no_longer(app: SourceTree, host: Host) -> None:
    """Before any sync: a frame is looked at again before it is served."""
    app.write("zebra.py", CODE)
    app.add()
    frames = host.frames("zebra savanna")
    assert frames
    app.write("zebra.py", CODE.replace("stripes", TOKEN))
    assert host.frames("zebra savanna") == ()
    assert "valid" not in host.verdicts(frames)
