"""The provider: what it says of itself, answers to queries, and verdicts.

The store is opened at the first question, so that the handshake does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pcpfs import __version__
from pcpfs.errors import BadMessage, InvalidInstant, Unavailable
from pcpfs.model import cgp
from pcpfs.model.instants import Instant

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins
    from pcpfs.ports import AdapterRegistry
    from pcpfs.provider.answering import Desk
    from pcpfs.sources.roots import Root
    from pcpfs.store.searches.index_process import IndexProcess
    from pcpfs.store.session import Session

NAME = "pcpfs"


class UnsupportedKind(BadMessage):
    """All the kinds that were asked for are unknown (Q1, U2)."""

    code = "unsupported_kind"


ACK = cgp.HandshakeAck(
    protocol_version=cgp.VERSION,
    provider=cgp.ProviderInfo(
        name=NAME,
        version=__version__,
        # It answers from the disk to whoever started it, and sends nothing anywhere (C1, C5).
        data_flow=cgp.DataFlow(reads=True, writes=False, egress=False),
    ),
    capabilities=cgp.Capabilities(
        query=cgp.QueryCapability(kinds=tuple(map(str, cgp.FrameKind))),
        correlation=True,
        graph=True,
        verify=True,
        representations=(cgp.FULL, cgp.COMPACT),
        # A content_ref is resolved by a query that has its uri as an anchor.
        resolve=True,
    ),
)


MOST_BACKLOG = 1_000
"""So many documents are indexed while a question waits, in about half a second."""


class Provider:
    """Answers for one session, which `open_session` gives when the first question comes.

    Where more than `most_backlog` documents wait to be indexed, another process does it, and
    questions are answered `unavailable` meanwhile.
    """

    def __init__(
        self, open_session: Callable[[], Session], most_backlog: int = MOST_BACKLOG
    ) -> None:
        self._open_session = open_session
        self._most_backlog = most_backlog
        self._indexer: IndexProcess | None = None
        self._scopes: tuple[int, frozenset[str]] | None = None

    @cached_property
    def session(self) -> Session:
        return self._open_session()

    def query(self, query: cgp.ContextQuery) -> cgp.QueryResult:
        """Frames within the budget, best first."""
        from pcpfs.provider.answering import Answer  # noqa: PLC0415 (the handshake comes first)

        if not query.goal.strip():
            raise BadMessage("a query has a goal")
        if query.kinds and not set(query.kinds) & set(cgp.FrameKind):
            raise UnsupportedKind(f"there are no frames of kind {', '.join(query.kinds)!r}")
        desk = self.desk(_pins(query))
        self.require_index(desk)
        return Answer(desk, query).result()

    def verify(self, request: cgp.IdentityList) -> cgp.VerdictList:
        """A verdict for every identity, in the order asked (V1 to V4)."""
        from pcpfs.model.answers import Pins  # noqa: PLC0415 (see `query`)
        from pcpfs.provider.verdicts import judge  # noqa: PLC0415

        desk = self.desk(Pins())
        return cgp.VerdictList(verdicts=tuple(judge(desk, each) for each in request.frames))

    def require_index(self, desk: Desk) -> None:
        """Unavailable while another process indexes what a question would have to wait for."""
        from pcpfs.store.searches.index_process import IndexProcess  # noqa: PLC0415 (see `query`)

        waiting = self.session.index_backlog(sorted(desk.readable), desk.pins)
        if waiting <= self._most_backlog:
            self._indexer = None
            return
        if self._indexer is None and (started := IndexProcess.start(self.session.store.path)):
            started.let_finish()
            self._indexer = started
        if self._indexer is None or not self._indexer.is_at_work():
            return  # it could not do it: then the question waits
        raise Unavailable(f"{waiting} documents are being indexed; ask again in some seconds")

    def _require_store(self) -> None:
        """A store that was moved away or deleted is not made anew."""
        from pcpfs.store.layout import CONFIG  # noqa: PLC0415 (see `query`)

        place = self.session.store.path
        if not (place / CONFIG).is_file():
            raise Unavailable(f"there is no store at {place} any more")

    def desk(self, pins: Pins) -> Desk:
        """What one answer works with."""
        from pcpfs.provider.answering import Desk  # noqa: PLC0415 (see `query`)

        self._require_store()
        return Desk(self.session, pins, self._roots(), lambda: self._registry, self._readable)

    def _roots(self) -> Mapping[str, Root]:
        """The roots that lie on this machine, by id."""
        from pcpfs.sources.roots import Roots  # noqa: PLC0415 (see `query`)

        return {root.root_id: root for root in Roots(self.session.store).all()}

    def _readable(self, session: Session) -> frozenset[str]:
        """The scopes that this principal may read; asked for again when the store has changed."""
        generation = session.store.catalog.generation
        if self._scopes is None or self._scopes[0] != generation:
            allowed = (s.scope for s in session.scopes() if "read" in s.permissions)
            self._scopes = (generation, frozenset(allowed))
        return self._scopes[1]

    @cached_property
    def _registry(self) -> AdapterRegistry:
        from pcpfs.store.registry import installed_registry  # noqa: PLC0415 (see `query`)

        return installed_registry()


def _pins(query: cgp.ContextQuery) -> Pins:
    from pcpfs.model.answers import Pins  # noqa: PLC0415 (the handshake comes first)

    if query.as_of is None:
        return Pins()
    try:
        return Pins(as_of=Instant.read(query.as_of))
    except InvalidInstant as error:
        raise BadMessage(f"as_of: {error.message}") from error
