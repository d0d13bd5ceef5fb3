"""The rules as pure functions: what keeps them and what does not."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model import cgp
from pcpfs.model.cgp_rules import (
    advertised_breaches,
    consent_breaches,
    content_digest,
    digest_breaches,
    dimensions,
    duplicate_breaches,
    expired_breaches,
    frame_breaches,
    future_breaches,
    is_anchored,
    kind_breaches,
    line_range,
    lines_at,
    representation_breaches,
    respects_budget,
)
from pcpfs.model.instants import Instant

NOON = Instant.parse("2026-03-01T12:00:00Z")


def frame(content: str | None = "twelve bytes", **given: Any) -> cgp.ContextFrame:
    """A frame that keeps every rule."""
    members: dict[str, Any] = {
        "id": "f1",
        "kind": "doc",
        "title": "A title",
        "content": content,
        "content_digest": content and content_digest(content),
        "score": 0.5,
        "token_cost": cgp.token_cost(content or ""),
        "citation_label": "notes.md:1",
    }
    return cgp.ContextFrame(**(members | given))


def result(*frames: cgp.ContextFrame) -> cgp.QueryResult:
    return cgp.QueryResult(frames=frames, truncated=False)


def query(max_frames: int = 8, max_tokens: int = 100) -> cgp.ContextQuery:
    return cgp.ContextQuery(goal="g", max_frames=max_frames, max_tokens=max_tokens)


@pytest.mark.parametrize(
    ("content", "cost"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 2, 1), ("€€", 2)]
)
def test_a_token_is_four_bytes_rounded_up(content: str, cost: int) -> None:
    """B3."""
    assert cgp.token_cost(content) == cost


def test_an_answer_within_its_budget_respects_it() -> None:
    assert respects_budget(result(frame(), frame(id="f2")), query(max_frames=2, max_tokens=6))
    assert respects_budget(result(), query(max_frames=0, max_tokens=0))


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (result(frame(), frame()), query(max_tokens=5)),  # B1
        (result(frame(token_cost=2)), query()),  # B3, too low
        (result(frame(token_cost=4)), query()),  # B3, too high
        (result(frame(), frame()), query(max_frames=1)),  # B4
        (result(frame(content=None, content_digest=None, token_cost=1)), query()),  # P3
    ],
)
def test_an_answer_that_breaks_its_budget_is_seen(
    answer: cgp.QueryResult, asked: cgp.ContextQuery
) -> None:
    assert not respects_budget(answer, asked)


def test_a_sound_frame_breaks_no_rule() -> None:
    sound = frame(
        valid_from="2026-01-01T00:00:00Z",
        valid_to="2026-01-01T00:00:00.5Z",
        provenance=(
            cgp.Provenance(type="file", uri="file:///a", range="L1-2", digest="sha256:" + "0" * 64),
            cgp.Provenance(type="derivation", method="m", by="b"),
        ),
        relations=(cgp.FrameRelation(rel="code.calls", target_uri="u", display_name="d"),),
    )
    assert frame_breaches(sound) == representation_breaches(sound) == digest_breaches(sound) == ()
    assert kind_breaches(sound) == ()


@pytest.mark.parametrize(
    ("rule", "members"),
    [
        ("F1", {"score": 1.0001}),
        ("F1", {"score": -0.1}),
        ("F2", {"title": "  "}),
        ("F3", {"citation_label": None}),
        ("F3", {"citation_label": "f1"}),
        ("F3", {"title": "pg_01k0w3v5c8e2f9g4h6j7k8m9na"}),
        ("F4", {"valid_from": "2026-01-01T00:00:00+00:00"}),
        ("F4", {"valid_to": "2026-01-01t00:00:00Z"}),
        ("F4", {"recorded_at": "2026-02-30T00:00:00Z"}),
        ("F4", {"valid_from": "2026-01-02T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}),
        ("F5", {"provenance": (cgp.Provenance(type="file", uri="file:///a"),)}),
        ("F5", {"provenance": (cgp.Provenance(type="file", digest="sha256:" + "0" * 64),)}),
        (
            "F5",
            {"provenance": (cgp.Provenance(type="file", uri="u", digest="sha256:" + "A" * 64),)},
        ),
        (
            "F5",
            {
                "provenance": (
                    cgp.Provenance(
                        type="file", uri="u", digest="sha256:" + "a" * 64, range="L1-L2"
                    ),
                )
            },
        ),
        ("G1", {"relations": (cgp.FrameRelation(rel="r", target_uri="u"),)}),
    ],
)
def test_a_frame_that_breaks_a_rule_is_told_which(rule: str, members: dict[str, Any]) -> None:
    assert [breach.rule for breach in frame_breaches(frame(**members))] == [rule]


REF = cgp.ContentRef(provider_id="p", uri="u")
HOW = cgp.Transform(method="m", implementation="i", version="1")


@pytest.mark.parametrize(
    ("rule", "members"),
    [
        ("P1", {"content": None}),
        ("P1", {"content_ref": REF}),
        ("P1", {"transform": HOW}),
        ("P1", {"canonical_content_hash": "sha256:x"}),
        ("P1", {"representation": "hologram"}),
        ("P2", {"representation": "compact", "content_ref": REF, "transform": HOW}),
        (
            "P3",
            {"representation": "reference", "content_ref": REF, "canonical_content_hash": "h"}
            | {"content_digest": None},
        ),
    ],
)
def test_members_that_a_representation_may_not_have(rule: str, members: dict[str, Any]) -> None:
    assert [breach.rule for breach in representation_breaches(frame(**members))] == [rule]


def test_compact_frames_need_resolve_and_an_offer() -> None:
    """P4, P5."""
    compact = replace(frame(), representation="compact")
    kinds = cgp.QueryCapability(kinds=())
    for capabilities, rules in [
        (cgp.Capabilities(query=kinds), ["P5"]),
        (cgp.Capabilities(query=kinds, representations=("compact",)), ["P5", "P5"]),
        (cgp.Capabilities(query=kinds, resolve=True), ["P4"]),
        (cgp.Capabilities(query=kinds, representations=("compact",), resolve=True), []),
    ]:
        assert [b.rule for b in advertised_breaches([compact], capabilities)] == rules


def test_a_content_digest_is_of_the_inline_content() -> None:
    """D2."""
    assert digest_breaches(frame(content_digest=content_digest("twelve bytes "))) != ()
    assert digest_breaches(frame(content_digest=None)) == ()


def test_two_frames_of_one_id_are_seen() -> None:
    assert duplicate_breaches([frame(), frame(id="f2")]) == ()
    assert [b.rule for b in duplicate_breaches([frame(), frame()])] == ["D1"]


@pytest.mark.parametrize(
    ("start", "end", "future", "expired"),
    [
        (None, None, False, False),
        ("2026-03-01T12:00:00Z", None, False, False),
        ("2026-03-01T12:00:00.000001Z", None, True, False),
        (None, "2026-03-01T12:00:00Z", False, True),
        (None, "2026-03-01T12:00:00.5Z", False, False),
    ],
)
def test_intervals_are_half_open(
    start: str | None, end: str | None, future: bool, expired: bool
) -> None:
    held = frame(valid_from=start, valid_to=end)
    assert bool(future_breaches([held], NOON)) == future
    assert bool(expired_breaches([held], NOON)) == expired


def test_a_frame_is_at_an_anchor_by_its_uri_or_by_an_edge() -> None:
    """G3."""
    edge = cgp.FrameRelation(rel="r", target_uri="b", display_name="d")
    anchored = frame(uri="a", relations=(edge,))
    assert [is_anchored(anchored, [anchor]) for anchor in ("a", "b", "c")] == [True, True, False]


@pytest.mark.parametrize(
    ("egress", "scopes", "sound"),
    [
        (False, (), True),
        (False, ("local-only",), True),
        (True, ("third-party-model", "acme:store"), True),
        (False, ("org-tenant",), False),  # C5
        (True, ("the-moon",), False),
        (True, (":x",), False),
    ],
)
def test_a_data_flow_does_not_contradict_itself(
    egress: bool, scopes: tuple[str, ...], sound: bool
) -> None:
    flow = cgp.DataFlow(reads=True, writes=False, egress=egress, egress_scopes=scopes)
    assert (consent_breaches(flow) == ()) == sound


@pytest.mark.parametrize(
    ("text", "length"),
    [("bge/384", 384), ("bge/384/l2", 384), ("bge", None), ("bge/x", None), ("/3", None)],
)
def test_a_fingerprint_tells_the_length_of_its_vectors(text: str, length: int | None) -> None:
    """E1."""
    assert dimensions(text) == length


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("L5", (5, 5)),
        ("L5-9", (5, 9)),
        ("L9-5", None),
        ("L0", None),
        ("5-9", None),
        ("L1-L2", None),
    ],
)
def test_a_range_is_of_lines_from_1(text: str, lines: tuple[int, int] | None) -> None:
    """F5."""
    assert line_range(text) == lines


def test_lines_keep_their_line_feed_and_nothing_else_ends_one() -> None:
    raw = b"one\r\ntwo\rstill\n\xff\xfe\nlast"
    assert lines_at(raw, (1, 1)) == b"one\r\n"
    assert lines_at(raw, (2, 3)) == b"two\rstill\n\xff\xfe\n"
    assert lines_at(raw, (4, 4)) == b"last"
    assert lines_at(raw, (4, 5)) is None
    assert lines_at(raw, None) == raw
    assert lines_at(b"", (1, 1)) is None


@given(st.lists(st.sampled_from([b"", b"a", b"\r", b"\xe9"]), min_size=1, max_size=6))
def test_all_lines_together_are_the_bytes(parts: list[bytes]) -> None:
    raw = b"\n".join(parts)
    count = raw.count(b"\n") + (not raw.endswith(b"\n")) if raw else 0
    cut = [lines_at(raw, (n, n)) or b"" for n in range(1, count + 1)]
    assert hashlib.sha256(b"".join(cut)).digest() == hashlib.sha256(raw).digest()
