"""Ids: checked at birth, injective, and sorted as the bytes they come from."""

from __future__ import annotations

import hashlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.errors import InvalidName
from pcpfs.model import ids
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId, base32, derived

ALL = (
    ids.PageId,
    ids.RevisionId,
    ids.ChangeId,
    ids.FrameId,
    ids.RelationId,
    ids.RootId,
    ids.CloneId,
    ids.StoreId,
    ids.Digest,
)
B32 = "0123456789abcdefghjkmnpqrs"
HOSTILE = ("", "../x", "pg_", "x" * 1000, "pg_\0", "rev_" + "g" * 64, "sha256:" + "A" * 64)


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_base32_is_injective_and_keeps_the_order(one: bytes, other: bytes) -> None:
    assert len(base32(one)) == 26
    assert (one < other) == (base32(one) < base32(other))
    assert (one == other) == (base32(one) == base32(other))


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=4), max_size=4))
def test_no_two_part_lists_share_a_derived_id(parts: list[str]) -> None:
    joined = derived(*parts)
    assert derived("".join(parts)) != joined or len(parts) == 1
    assert derived(*parts, "") != joined
    assert derived("", *parts) != joined


def test_parts_that_only_look_alike_give_other_ids() -> None:
    alike = ["é", "e\u0301", "E\u0301", "e", "É", "e ", "e\0", "\udcc3\udca9"]
    assert len({derived(text) for text in alike}) == len(alike) - 1  # the last is é as bytes
    assert derived("a", "b") != derived("ab") != derived("a", "", "b")


def test_the_id_of_a_source_page_tells_scope_root_and_path_apart() -> None:
    made = {
        PageId.of_source("s", "r", "a/b"),
        PageId.of_source("s", "r/a", "b"),
        PageId.of_source("s:r", "", "a/b"),
        PageId.of_source("s", "r", "A/b"),
        PageId.keyed("s", "a/b", 0),
        PageId.keyed("s", "a/b", 1),
    }
    assert len(made) == 6


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_id_takes_what_is_none(kind: type[ids.Id], text: str) -> None:
    with pytest.raises(InvalidName):
        kind(text)


@pytest.mark.parametrize("kind", [k for k in ALL if "26" in k.pattern.pattern])
def test_ids_are_lower_case_and_whole(kind: type[ids.Id]) -> None:
    prefix = kind.pattern.pattern.partition("[")[0]
    good = kind(prefix + B32)
    assert good == prefix + B32
    for bad in (good.upper(), good + "0", good[:-1], good + "\n", " " + good, prefix + "u" * 26):
        with pytest.raises(InvalidName):
            kind(bad)


def test_content_addresses_are_what_sha256sum_prints() -> None:
    raw = b"---\r\nbytes\n"
    assert Digest.of(raw).hex == hashlib.sha256(raw).hexdigest()
    assert RevisionId.of(raw) == "rev_" + hashlib.sha256(raw).hexdigest()
    assert ChangeId.of(raw) == "chg_" + hashlib.sha256(raw).hexdigest()[:32]


def test_ids_survive_pickling_as_their_own_type() -> None:
    page = PageId("pg_" + B32)
    copy = pickle.loads(pickle.dumps(page))
    assert copy == page
    assert type(copy) is PageId
