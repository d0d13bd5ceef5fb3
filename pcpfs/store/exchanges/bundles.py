"""Bundles: parts of several pages in one bounded answer, each with its ids and source (PCP-B1)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pcpfs.errors import PcpfsError, UsageError
from pcpfs.model.answers import Manifest, plain
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import source_ref
from pcpfs.model.requests import MOST_RESULTS, PROJECTIONS
from pcpfs.store.reading import Reader

MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Fragment:
    """One projection of one revision. Text is in `text`, other bytes in `base64`, what is no
    payload in `value`. `digest` is that of the whole payload; `bytes` says which of it are here,
    half-open, and `of` how many there are."""

    page_id: PageId
    revision_id: RevisionId
    scope: str
    projection: str
    title: str
    source_refs: tuple[str, ...]
    text: str | None = None
    base64: str | None = None
    value: object = None
    digest: Digest | None = None
    bytes: tuple[int, int] | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was asked for and is not here, and why: `budget`, or the code of an error."""

    given: str
    projection: str
    reason: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """Fragments in the order asked for; `size` is the bytes of their contents, at most `budget`."""

    fragments: tuple[Fragment, ...]
    left_out: tuple[LeftOut, ...]
    size: int
    budget: int


def bundle(reader: Reader, given: Sequence[str], projections: Sequence[str], budget: int) -> Bundle:
    """The parts that fit, in order; a payload is cut at the end of a line, all else fits or not."""
    unknown = [name for name in projections if name not in PROJECTIONS]
    if unknown:
        raise UsageError(f"{unknown[0]} is no projection; they are {', '.join(PROJECTIONS)}")
    if not 1 <= budget <= MOST_BYTES:
        raise UsageError(f"a budget is 1 to {MOST_BYTES} bytes, not {budget}")
    if not 1 <= len(given) * len(projections) <= MOST_RESULTS:
        raise UsageError(f"a bundle has 1 to {MOST_RESULTS} fragments")
    fragments: list[Fragment] = []
    left: list[LeftOut] = []
    room = budget
    for name in given:
        for projection in projections:
            try:
                fragment = _fragment(reader, name, projection)
            except PcpfsError as error:
                left.append(LeftOut(name, projection, error.code))
                continue
            cut = _cut(fragment, room)
            if cut is None:
                left.append(LeftOut(name, projection, "budget"))
                continue
            fragments.append(cut)
            room -= _size(cut)
    return Bundle(tuple(fragments), tuple(left), budget - room, budget)


def _fragment(reader: Reader, name: str, projection: str) -> Fragment:
    manifest = reader.manifest(name)
    whole = Fragment(
        manifest.page_id,
        manifest.revision_id,
        manifest.scope,
        projection,
        manifest.title,
        manifest.source_refs,
    )
    if projection != "payload":
        return replace(whole, value=list(_value(reader, manifest, projection)))
    raw = reader.payload(f"{manifest.page_id}@{manifest.revision_id}")
    found = replace(whole, digest=Digest.of(raw), bytes=(0, len(raw)), of=len(raw))
    try:
        return replace(found, text=raw.decode("utf-8"))
    except UnicodeDecodeError:
        return replace(found, base64=base64.b64encode(raw).decode("ascii"))


def _value(reader: Reader, manifest: Manifest, projection: str) -> Iterator[object]:
    at = f"{manifest.page_id}@{manifest.revision_id}"
    if projection == "manifest":
        yield plain(manifest)
    elif projection == "facets":
        yield manifest.facets.to_json()
    elif projection == "relations":
        yield from map(plain, reader.relations(manifest.page_id))
    elif projection == "history":
        yield from map(plain, reader.log(manifest.page_id))
    else:
        yield from ({"source_ref": ref} for ref in manifest.source_refs)
        for frame in reader.frames_of(at):
            where = source_ref(frame.root, frame.path, frame.lines)
            yield {"source_ref": where, "frame_id": frame.frame_id, "digest": frame.digest}


def _cut(fragment: Fragment, room: int) -> Fragment | None:
    """The fragment, or as many whole lines of its text as there is room for; None for nothing."""
    if _size(fragment) <= room:
        return fragment
    if fragment.text is None:
        return None
    raw = fragment.text.encode("utf-8")[:room]
    end = raw.rfind(b"\n") + 1
    return replace(fragment, text=raw[:end].decode("utf-8"), bytes=(0, end)) if end else None


def _size(fragment: Fragment) -> int:
    """The bytes that a fragment's content takes."""
    if fragment.text is not None:
        return len(fragment.text.encode("utf-8"))
    if fragment.base64 is not None:
        return len(fragment.base64)
    return len(json.dumps(fragment.value, ensure_ascii=False).encode("utf-8"))
