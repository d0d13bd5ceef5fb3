"""What an erasure leaves: one small file that says that a page was there, and nothing of what it
said. It outranks every object of its page, wherever that comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.model.codec import canonical, decode
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal


@dataclass(frozen=True, slots=True)
class Receipt:
    """Who erased a page, when and why, and how many revisions went. `kind`: page, source or event.

    `commits` are the commits that were rewritten, old and new names: by them other clones follow.
    `excluded` are source pages that are not taken in again because they are this one under another
    path. `override` is why a hold was overridden.
    """

    namespace: Namespace
    page: PageId
    at: Instant
    by: Principal
    why: str
    revisions: int
    kind: str = "page"
    override: str | None = None
    excluded: tuple[PageId, ...] = ()
    commits: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        return canonical(
            {
                "namespace": self.namespace,
                "page": self.page,
                "at": str(self.at),
                "by": str(self.by),
                "why": self.why,
                "revisions": self.revisions,
                "kind": self.kind,
                "override": self.override,
                "excluded": list(self.excluded) or None,
                "commits": dict(self.commits) or None,
            }
        )

    @classmethod
    def decode(cls, raw: bytes, what: str) -> Self:
        """Read a receipt; Corrupt, naming `what`, where it is none."""
        value: dict[str, Any] = decode(raw, what)
        try:
            return cls(
                Namespace(value["namespace"]),
                PageId(value["page"]),
                Instant.parse(value["at"]),
                Principal(value["by"]),
                str(value["why"]),
                int(value["revisions"]),
                str(value.get("kind", "page")),
                value.get("override"),
                tuple(map(PageId, value.get("excluded", ()))),
                {str(old): str(new) for old, new in value.get("commits", {}).items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError, PcpfsError) as error:
            raise Corrupt(f"{what} is no receipt of an erasure: {error}", path=what) from error
