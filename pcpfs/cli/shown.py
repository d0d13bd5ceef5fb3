"""How pages and symbols look to people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import fields, interval, readable, short, size, styled
from pcpfs.model.marks import marks
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import FrameView, Manifest, SuspectPage, Suspicion


def page_lines(page: Manifest, payload: bytes | None) -> Iterator[str]:
    """Title, where and when, what to be careful about, then the text."""
    yield styled(safe(page.title or page.path or page.page_id), "bold")
    kind = f"{page.payload.media_type}, {size(page.payload.size)}" if page.payload else None
    holds = page.valid_from or page.valid_to
    yield from fields(
        [
            ("scope", page.scope),
            ("path", page.path),
            ("kind", kind),
            ("marks", marks(page)),
            ("tags", ", ".join(page.facets.tags)),
            ("page", page.page_id),
            ("revision", short(page.revision_id)),
            ("written", f"{page.created_at} by {page.created_by}"),
            ("holds", interval(page.valid_from, page.valid_to) if holds else None),
            ("source", ", ".join(page.source_refs)),
            ("state", None if page.lifecycle_status == "active" else page.lifecycle_status),
            ("heads", ", ".join(map(short, page.heads)) if len(page.heads) > 1 else None),
        ]
    )
    yield from suspicion_lines(page.suspect or ())
    yield ""
    yield from _text_lines(payload)


def frame_lines(frame: FrameView, source: bytes) -> Iterator[str]:
    """The symbol's label, where and over which time it holds, then its text."""
    label = styled(safe(frame.citation_label), "bold")
    yield f"{label}  {styled(safe(frame.kind), 'cyan')}"
    yield from fields(
        [
            ("scope", frame.scope),
            ("name", frame.qualified_name),
            ("marks", marks(frame)),
            ("file", f"{frame.root}/{frame.path}:{frame.lines[0]}-{frame.lines[1]}"),
            ("frame", frame.frame_id),
            ("holds", interval(frame.valid_from, frame.valid_to)),
            ("digest", short(frame.digest)),
        ]
    )
    yield ""
    yield from _text_lines(source)


def suspect_lines(pages: Iterable[SuspectPage]) -> Iterator[str]:
    """Pages that are suspect, each with the reasons."""
    for page in pages:
        yield f"{styled(safe(page.title), 'bold')}  {safe(page.scope)}  {page.page_id}"
        yield from (f"  {line}" for line in suspicion_lines(page.frames))


def suspicion_lines(suspicions: Iterable[Suspicion]) -> Iterator[str]:
    """What has happened to the symbols that a page cites."""
    for one in suspicions:
        when = f" at {one.closed_at}" if one.closed_at else ""
        what = styled(f"suspect: cites {safe(one.qualified_name)}", "red")
        place = f"{one.root}/{one.path}" if one.root else one.path
        yield f"{what} in {safe(place)}, {safe(one.status)}{when}  {short(one.frame_id)}"


def _text_lines(content: bytes | None) -> Iterator[str]:
    if content is None:
        yield "(the text is no longer kept)"
        return
    text = readable(content)
    if text is None:
        yield f"({size(len(content))}, no text; --projection payload writes it as it is)"
    elif text:
        yield text.removesuffix("\n")
