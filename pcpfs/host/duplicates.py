"""Frames of several providers that are one: the better one speaks, for all their sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pcpfs.host.audit import Excluded, Offered, Reason
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

    A `graph` frame cites a file but shows what is around it: its file makes it nobody's duplicate.
    """
    kept: dict[int, Offered] = {}
    by_content: dict[str, int] = {}
    by_file: dict[tuple[str, str], list[int]] = {}
    excluded = []
    for number, each in enumerate(sorted(offered, key=_best_first)):
        digest, file = _digest(each), _file(each)
        twin = by_content.get(digest)
        if twin is None and file is not None:
            same = by_file.get(file, ())
            twin = next((n for n in same if _provider(kept[n]) != _provider(each)), None)
        if twin is not None:
            excluded.append(_duplicate(each, kept[twin]))
            kept[twin] = _united(kept[twin], each)
            continue
        kept[number] = each
        by_content[digest] = number
        if file is not None:
            by_file.setdefault(file, []).append(number)
    return Merged(tuple(sorted(kept.values(), key=lambda each: each.order)), tuple(excluded))


def _best_first(each: Offered) -> tuple[float, Order]:
    return -each.frame.score, each.order


def _provider(each: Offered) -> str:
    return each.identity.provider_id


def _digest(each: Offered) -> str:
    """Of its content; one that was given is known to be right (D2)."""
    return each.frame.content_digest or content_digest(each.frame.content or "")


def _file(each: Offered) -> tuple[str, str] | None:
    """The first file that it comes from, with its lines."""
    files = (o for o in each.frame.provenance if o.type == "file")
    first = next(files, None)
    if first is None or first.uri is None or each.frame.kind == FrameKind.GRAPH:
        return None
    return first.uri, first.range or ""


def _duplicate(each: Offered, survivor: Offered) -> Excluded:
    name = f"{survivor.identity.provider_id} {survivor.identity.frame_id}"
    return Excluded(each.identity, Reason.DUPLICATE, f"the same as {name[:200]}", survivor.identity)


def _united(survivor: Offered, twin: Offered) -> Offered:
    """The survivor, with the origins that only its twin knew."""
    known = survivor.frame.provenance
    more: tuple[Provenance, ...] = tuple(o for o in twin.frame.provenance if o not in known)
    frame = replace(survivor.frame, provenance=(*known, *dict.fromkeys(more)))
    return replace(survivor, frame=frame)
