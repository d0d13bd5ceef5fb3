"""The bytes that an event tells of."""

from __future__ import annotations

from pcpfs.model.branches import Beside, Version
from pcpfs.model.changes import Closed, Event, Observed, RevisionWritten
from pcpfs.model.ids import RevisionId


def versions_of(event: Event) -> tuple[Version, ...]:
    """What an adapter has looked at, in order of time; nothing of what tells of no source."""
    if isinstance(event, Observed):
        return (Version(event.revision, event.adapter),)
    return event.versions if isinstance(event, Beside) else ()


def revisions_of(event: Event) -> tuple[RevisionId, ...]:
    """The revisions of its page that an event names."""
    if isinstance(event, RevisionWritten | Closed):
        return (event.revision,)
    return tuple(version.revision for version in versions_of(event))
