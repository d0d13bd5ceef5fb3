"""Frames of several providers that are one: the better one speaks, for all their sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pcpfs.host.audit import Excluded, Offered, Reason
from pcpfs.host.evidence import Standing
from pcpfs.host.identities import Order
from pcpfs.model.cgp import FrameKind, Provenance
from pcpfs.model.cgp_rules import content_digest


@dataclass(frozen=True, slots=True)
class Merged:
    """Frames that differ, in canonical order, and the duplicates that were left out."""

    frames: tuple[Offered, ...]
    excluded: tuple[Excluded, ...]


def merge(offered: Iterable[Offered]) -> Merged:
    """Leave out what is there already: equal content, else the same lines of the same file from
    another provider. The higher score survives (of equal ones the first in canonical order), with
    the union of provenance. The result does not depend on the order of arrival.

    Of two that cite the same lines, one whose content *is* these lines goes before one that only
    says so, whatever their scores: nobody talks the text itself away. A `graph` frame cites a file
    but shows what is around it: its file makes it nobody's duplicate.
    """
    distinct = _without(sorted(offered, key=_best_first), _same_content)
    apart = _without(sorted(distinct.frames, key=_truest_first), _same_lines)
    frames = sorted(apart.frames, key=lambda each: each.order)
    return Merged(tuple(frames), (*distinct.excluded, *apart.excluded))


def _without(ranked: Iterable[Offered], same: Callable[[Offered], _Place | None]) -> Merged:
    """The first of those that are the same, with the sources of the others."""
    kept: list[Offered] = []
    places: dict[tuple[str, str], list[tuple[int, str]]] = {}
    excluded = []
    for each in ranked:
        place = same(each)
        known = places.setdefault(place.key, []) if place else []
        twin = next((at for at, provider in known if place and place.differs(provider)), None)
        if twin is not None:
            excluded.append(_duplicate(each, kept[twin]))
            kept[twin] = _united(kept[twin], each)
            continue
        known.append((len(kept), _provider(each)))
        kept.append(each)
    return Merged(tuple(kept), tuple(excluded))


@dataclass(frozen=True, slots=True)
class _Place:
    """What two frames have in common if they are one. With `other_than` only frames of other
    providers are meant."""

    key: tuple[str, str]
    other_than: str | None = None

    def differs(self, provider: str) -> bool:
        return provider != self.other_than


def _same_content(each: Offered) -> _Place:
    """A digest that was given is known to be right (D2)."""
    digest = each.frame.content_digest or content_digest(each.frame.content or "")
    return _Place((digest, ""))


def _same_lines(each: Offered) -> _Place | None:
    """The first file that it comes from, with its lines."""
    first = next((o for o in each.frame.provenance if o.type == "file"), None)
    if first is None or first.uri is None or each.frame.kind == FrameKind.GRAPH:
        return None
    return _Place((first.uri, first.range or ""), _provider(each))


def _best_first(each: Offered) -> tuple[float, Order]:
    return -each.frame.score, each.order


def _truest_first(each: Offered) -> tuple[bool, float, Order]:
    return each.standing is not Standing.EXACT, -each.frame.score, each.order


def _provider(each: Offered) -> str:
    return each.identity.provider_id


def _duplicate(each: Offered, survivor: Offered) -> Excluded:
    name = f"{survivor.identity.provider_id} {survivor.identity.frame_id}"
    return Excluded(each.identity, Reason.DUPLICATE, f"the same as {name[:200]}", survivor.identity)


def _united(survivor: Offered, twin: Offered) -> Offered:
    """The survivor, with the origins that only its twin knew."""
    known = survivor.frame.provenance
    more: tuple[Provenance, ...] = tuple(o for o in twin.frame.provenance if o not in known)
    frame = replace(survivor.frame, provenance=(*known, *dict.fromkeys(more)))
    return replace(survivor, frame=frame)
