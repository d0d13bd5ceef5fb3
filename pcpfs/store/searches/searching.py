"""Searching in one store: requests, the text indexes, and the modes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from pcpfs.errors import Corrupt, NotFound, UsageError
from pcpfs.model.answers import Pins, SearchAnswer, SearchHit
from pcpfs.model.grants import READ
from pcpfs.model.names import Namespace
from pcpfs.model.requests import MODES, Filters
from pcpfs.ports import Progress
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.config import GLOBAL, LINKED, POLICIES, STRICT
from pcpfs.store.reading import Reader
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.scopes.scope_views import links_of
from pcpfs.store.searches.documents import Documents
from pcpfs.store.searches.other_searches import OtherSearch, automatic
from pcpfs.store.searches.search_request import NOW, Search
from pcpfs.store.searches.suppressions import Suppressions
from pcpfs.store.searches.symbol_search import SymbolSearch
from pcpfs.store.searches.text_search import TextSearch
from pcpfs.store.store import Store


@dataclass(frozen=True, slots=True)
class IndexView:
    """The state of the text indexes."""

    engine: str
    documents: int
    pending: int


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a caller wants to look, what to take, and which part of the answer."""

    scopes: tuple[str, ...]
    policy: str | None
    filters: Filters
    pins: Pins
    limit: int
    cursor: str | None


class Searching:
    """Answers the searches of one session. `reader` gives what its principal may read; `progress`
    hears of searches that have to index first."""

    def __init__(
        self,
        store: Store,
        reader: Callable[[Pins], Reader],
        suppressions: Callable[[], Suppressions],
        authority: Authority,
        progress: Progress | None = None,
    ) -> None:
        self.store = store
        self._progress = progress
        self._authority = authority
        self.reader = reader
        self._suppressions = suppressions
        self._indexes = store.text_indexes(
            lambda scope, keys: self._documents().documents(scope, keys)
        )
        self._kept_documents: dict[bool, Documents] = {}

    def close(self) -> None:
        self._indexes.close()

    def let_go(self) -> None:
        """Open indexes and what was read go; the next search takes what is there then."""
        self._indexes.close()
        self._kept_documents = {}

    def search(self, query: str, asked: Asked, mode: str, task: str | None) -> SearchAnswer:
        """See `Session.search`."""
        if mode not in MODES:
            raise UsageError(f"{mode} is no mode of search here; there are {', '.join(MODES)}")
        reader = self.reader(asked.pins)
        search = replace(
            self._request(reader, query, asked),
            mode=automatic(query) if mode == "auto" else mode,
            without=frozenset(self._suppressions().pages(task)) if task else (),
        )
        text, documents = self._text_search(reader)
        run = text.run if search.mode == "text" else OtherSearch(reader, documents, text).run
        try:
            return run(search)
        except Corrupt:
            self._discard_indexes(search)
            return run(search)

    def hits(self, query: str, asked: Asked) -> Iterator[SearchHit]:
        """See `Session.hits`."""
        reader = self.reader(asked.pins)
        search = self._request(reader, query, asked)
        text, _ = self._text_search(reader)
        given = 0
        try:
            for hit in text.hits(search):
                given += 1
                yield hit
        except Corrupt:
            self._discard_indexes(search)
            yield from islice(text.hits(search), given, None)

    def _text_search(self, reader: Reader) -> tuple[TextSearch, Documents]:
        documents = self._documents_of(reader.catalog)
        current = self.store.catalog
        text = TextSearch(
            reader,
            documents,
            lambda scope, past: self._indexes.readers(current, scope, past, self._progress),
        )
        return text, documents

    def _discard_indexes(self, search: Search) -> None:
        """They are disposable: built anew, from what is not."""
        for scope in search.scopes:
            self._indexes.discard(scope, 0)
            self._indexes.discard(scope, 1)

    def symbol(self, name: str, asked: Asked, *, exact: bool = False) -> SearchAnswer:
        """See `Session.symbol`."""
        reader = self.reader(asked.pins)
        search = self._request(reader, name, asked)
        return SymbolSearch(reader).run(replace(search, mode="symbol"), exact=exact)

    def index_state(self) -> IndexView:
        """The text indexes as `status` shows them."""
        catalog = self.reader(NOW).catalog
        ((documents,),) = catalog.query("SELECT count(*) FROM document WHERE past = 0")
        ((pending,),) = catalog.query("SELECT count(*) FROM pending")
        return IndexView(self.store.config.index, documents, pending)

    def backlog(self, scopes: Iterable[str], pins: Pins) -> int:
        """How many documents a search in these scopes would have to take in first."""
        self.store.refresh()
        catalog = self.store.catalog
        readable = [scope for scope in scopes if self._authority.may(READ, scope)]
        needed = product(readable, (0,) if pins == NOW else (0, 1))
        return sum(self._indexes.backlog(catalog, scope, past) for scope, past in needed)

    def flush(self, progress: Progress | None = None) -> None:
        """Take everything that waits into the text indexes."""
        self.store.refresh()
        catalog = self.store.catalog
        waiting = catalog.query("SELECT DISTINCT scope, past FROM pending ORDER BY 1, 2")
        for scope, past in waiting:
            self._indexes.flush(catalog, scope, past, progress)

    def indexed_keys(self, scope: str, past: int) -> set[str]:
        """The documents that a search in a scope can find, by key."""
        keys: set[str] = set()
        if not self._authority.may(READ, scope):
            return keys
        self.store.refresh()
        for index in self._indexes.readers(self.store.catalog, scope, past):
            table = index.documents()
            keys.update(key for n, key in enumerate(table.keys) if n not in table.dead)
        return keys

    def _documents(self) -> Documents:
        return self._documents_of(self.store.catalog)

    def _documents_of(self, catalog: Catalog) -> Documents:
        """Kept for the whole catalog, and for what this principal saw last."""
        is_whole = catalog is self.store.catalog
        kept = self._kept_documents.get(is_whole)
        if kept is None or kept.catalog is not catalog:
            kept = self._kept_documents[is_whole] = Documents(self.store.objects, catalog)
        return kept

    def _request(self, reader: Reader, text: str, asked: Asked) -> Search:
        """Where to look: the scopes given, else what the policy covers (PCP-S1)."""
        scopes, policy = self._covered(reader, asked.scopes, asked.policy)
        return Search(
            text,
            scopes,
            policy,
            filters=asked.filters,
            pins=asked.pins,
            limit=asked.limit,
            cursor=asked.cursor,
            named=asked.scopes,
        )

    def _covered(
        self, reader: Reader, scopes: Sequence[str], policy: str | None
    ) -> tuple[tuple[str, ...], str]:
        default = self.store.config.default_policy
        if policy is None:
            policy = STRICT if scopes and default == GLOBAL else default
        if policy not in POLICIES:
            raise UsageError(f"{policy} is no policy; there are {', '.join(POLICIES)}")
        known = {row.scope for row in reader.catalog.scopes()}
        if policy == GLOBAL:
            if scopes:
                raise UsageError(f"--policy {policy} names no scope; leave --scope away")
            return tuple(sorted(known)), policy
        if not scopes:
            raise UsageError(f"the policy {policy} needs a scope: --scope S")
        covered = {str(Namespace.given(scope)) for scope in scopes}
        missing = sorted(covered - known)
        if missing and reader.catalog is self._authority.catalog:
            raise NotFound(f"there is no scope {missing[0]}; see pcpfs scope list")
        if policy == LINKED:
            links = links_of(reader.catalog)
            covered.update(t for scope in list(covered) for t in links.get(scope, ()) if t in known)
        return tuple(sorted(covered)), policy
