"""What a draft says: checked, completed from the revision before it, and compared with that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pcpfs.errors import UsageError
from pcpfs.model.front import read_front
from pcpfs.model.grants import LINK, WRITE
from pcpfs.model.ids import Digest
from pcpfs.model.names import refuse_unprintable
from pcpfs.model.pages import EPISTEMIC, ContentRef, Facets, Payload, Revision
from pcpfs.model.requests import Draft

UNKNOWN_TYPE = "application/octet-stream"


def check(draft: Draft) -> None:
    """Refuse what could not be shown, or would not mean anything."""
    texts: Iterable[tuple[str, str | None]] = (
        ("title", draft.title),
        ("summary", draft.summary),
        *(("tag", tag) for tag in draft.tags or ()),
        *(("keyword", word) for word in draft.keywords or ()),
        *(("anchor", anchor) for anchor in draft.anchors or ()),
        *(("source ref", ref) for ref in draft.source_refs),
        *((draft.epistemic or {}).items()),
    )
    for what, text in texts:
        if text is not None:
            refuse_unprintable(text, what)
    unknown = set(draft.epistemic or {}) - set(EPISTEMIC)
    if unknown:
        raise UsageError(f"{sorted(unknown)[0]} is none of {', '.join(EPISTEMIC)}")
    if draft.payload is not None and draft.content_ref is not None:
        raise UsageError("a page has its payload here or elsewhere, not both; leave one away")


def needed(draft: Draft) -> tuple[str, ...]:
    """What a writer must be allowed to do; relations that come with a text are links as well."""
    is_linking = draft.cites or draft.derived_from or draft.relations
    return (WRITE, LINK) if is_linking else (WRITE,)


def payload_of(draft: Draft) -> Payload | None:
    """What the envelope says of the bytes; None where there are none here."""
    if draft.payload is None:
        return None
    media_type = draft.media_type or UNKNOWN_TYPE
    return Payload(media_type, Digest.of(draft.payload), len(draft.payload))


def content_ref_of(draft: Draft) -> ContentRef | None:
    if draft.content_ref is None or draft.media_type is None:
        return draft.content_ref
    return replace(draft.content_ref, media_type=draft.media_type)


def facets_of(draft: Draft) -> Facets:
    return Facets(
        title=draft.title,
        tags=draft.tags or (),
        summary=draft.summary,
        keywords=draft.keywords or (),
        anchors=draft.anchors or (),
    )


def own_title(draft: Draft) -> str | None:
    """What the text calls itself."""
    is_text = (draft.media_type or "").startswith("text/") and draft.payload is not None
    return read_front(draft.payload or b"").title if is_text else None


def holds_the_same(draft: Draft, body: Revision) -> bool:
    """Whether a retry of a first write gives what was written then."""
    if draft.payload is None:
        there = (body.payload, body.content_ref, body.source_refs)
        return there == (None, content_ref_of(draft), draft.source_refs)
    return body.payload == payload_of(draft)


def inherited(draft: Draft, body: Revision) -> Draft:
    """CASES: a revision inherits what is not given from its first parent."""
    facets = body.facets
    if draft.payload is None and draft.content_ref is None:
        raise UsageError("a revision needs a text, or a reference to where it lies (--ref)")
    known = body.payload or body.content_ref
    return replace(
        draft,
        media_type=draft.media_type or (known.media_type if known else None),
        title=draft.title if draft.title is not None else facets.title,
        tags=draft.tags if draft.tags is not None else facets.tags,
        summary=draft.summary if draft.summary is not None else facets.summary,
        keywords=draft.keywords if draft.keywords is not None else facets.keywords,
        anchors=draft.anchors if draft.anchors is not None else facets.anchors,
        source_refs=draft.source_refs or body.source_refs,
        epistemic=draft.epistemic if draft.epistemic is not None else body.epistemic,
    )


def says_the_same(draft: Draft, body: Revision) -> bool:
    """Whether a completed draft says nothing that its parent does not say."""
    told = (payload_of(draft), content_ref_of(draft), facets_of(draft), draft.source_refs)
    return (
        told == (body.payload, body.content_ref, body.facets, body.source_refs)
        and draft.epistemic == body.epistemic
        and not (draft.cites or draft.derived_from or draft.relations)
        and not (draft.valid_from or draft.valid_to)
    )
