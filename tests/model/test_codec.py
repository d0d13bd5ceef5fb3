"""Canonical bytes: one spelling for one meaning."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from pcpfs.errors import Corrupt
from pcpfs.model.codec import canonical, decode
from tests.model.strategies import json_objects


def test_a_document_has_one_member_a_line_and_ends_with_a_line_feed() -> None:
    raw = canonical({"b": [1, {"z": True, "a": "é"}], "a": 'say "hi"\n'})
    assert raw == '{\n"a":"say \\"hi\\"\\n",\n"b":[1,{"a":"é","z":true}]\n}\n'.encode()


def test_the_empty_document_is_an_object_too() -> None:
    assert canonical({}) == b"{\n\n}\n"
    assert decode(canonical({}), "x") == {}


def test_what_is_none_is_absent_at_every_depth() -> None:
    assert canonical({"a": None, "b": {"c": None, "d": 1}}) == b'{\n"b":{"d":1}\n}\n'


@pytest.mark.parametrize("value", [1.0, float("nan"), b"bytes", {1: 2.5}, [0.5], object()])
def test_floats_and_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical({"a": value})


@given(json_objects)
def test_any_json_comes_back_from_its_canonical_bytes(members: dict[str, Any]) -> None:
    assert decode(canonical(members), "x") == members


@given(json_objects)
def test_the_order_in_which_members_were_made_does_not_show(members: dict[str, Any]) -> None:
    turned = dict(reversed(members.items()))
    assert canonical(turned) == canonical(members)


@given(json_objects)
def test_canonical_bytes_are_the_sorted_compact_json_but_for_line_feeds(
    members: dict[str, Any],
) -> None:
    compact = json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert json.loads(canonical(members)) == json.loads(compact)
    assert canonical(members).count(b"\n") == max(len(members), 1) + 2


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"1", b'"x"', b"null", b"\xff\xfe", b"{}garbage"]
)
def test_what_is_no_json_object_is_corrupt_and_named(raw: bytes) -> None:
    with pytest.raises(Corrupt, match=r"pages/x\.json"):
        decode(raw, "pages/x.json")
