"""Answers become JSON without anything that is absent."""

from __future__ import annotations

import json

import pytest

from pcpfs.model.answers import Pins, Skipped, Suspicion, plain
from pcpfs.model.ids import Digest, FrameId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Facets, Principal


def test_absent_members_are_left_out_and_values_become_texts() -> None:
    at = Instant.read("2026-03-01T12:00:00Z")
    suspicion = Suspicion(
        FrameId("fr_" + "0" * 26), "f", "a.py", Digest.of(b""), "gone", closed_at=at
    )
    assert plain(suspicion) == {
        "frame_id": "fr_" + "0" * 26,
        "qualified_name": "f",
        "path": "a.py",
        "digest": str(Digest.of(b"")),
        "status": "gone",
        "closed_at": "2026-03-01T12:00:00Z",
    }
    assert plain(Pins()) == {}
    assert plain(Principal("user:anna")) == "user:anna"
    assert plain(Facets(title="x")) == {"title": "x"}


def test_odd_bytes_of_a_path_can_still_be_printed() -> None:
    shown = plain(Skipped("a\udcff.py", "binary"))
    assert json.dumps(shown, ensure_ascii=False).encode()
    assert shown == {"path": "a\ufffd.py", "reason": "binary"}


def test_sets_are_sorted_and_other_things_refused() -> None:
    assert plain({"b": {"y", "x"}, "a": None}) == {"b": ["x", "y"]}
    with pytest.raises(TypeError):
        plain(object())
