"""The secrets that were accepted in scopes: what there is of them, and taking them back.

Nobody is shown what a secret is, not even the store knows it: there is a salted digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcpfs.errors import NotFound
from pcpfs.model.grants import ADMINISTER
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.secrets import SecretRefused
from pcpfs.store.catalogs.rows import AcceptedRow
from pcpfs.store.paging import DEFAULT_PART, Part, ordered_part
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.store import Store

_SHORTEST = 8
_MOST_PAGES = 5


@dataclass(frozen=True, slots=True)
class AcceptedView:
    """One acceptance: who let what kind of secret through in a scope, and when. `pages` are the
    first that were written with it."""

    accepted_id: str
    scope: str
    kind: str
    at: Instant
    actor: str
    pages: tuple[PageId, ...]


class AcceptedSecrets:
    """Lists and takes back acceptances in the name of one principal, in the scopes that they may
    administer."""

    def __init__(self, store: Store, authority: Authority) -> None:
        self._store = store
        self._authority = authority

    def listed(
        self, scopes: Sequence[str] = (), *, limit: int = DEFAULT_PART, cursor: str | None = None
    ) -> Part[AcceptedView]:
        """What is accepted in these scopes (none: all), by scope, oldest first."""
        self._store.refresh()
        wanted = sorted({str(Namespace.given(scope)) for scope in scopes})
        for scope in wanted:
            self._authority.require((ADMINISTER,), scope)
        views = [self._view(row) for row in self._rows() if not wanted or row.scope in wanted]
        question = ("accepted", *wanted)
        return ordered_part(views, _key, question, limit, cursor)

    def take_back(self, given: Sequence[str]) -> tuple[AcceptedView, ...]:
        """From now on these are secrets again, whoever accepts them at the same time elsewhere.
        What is in the store stays there; a source file that holds one is withheld from the next
        sync on."""
        actor = self._authority.principal
        with self._store.writing("refuse", actor) as transaction:
            rows = [self._found(text) for text in dict.fromkeys(given)]
            views = tuple(self._view(row) for row in rows)
            for scope in sorted({row.scope for row in rows}):
                salts = sorted({row.salt for row in rows if row.scope == scope})
                transaction.scope_change(Namespace(scope), *map(SecretRefused, salts))
            transaction.commit(
                f"refuse: {len(rows)} secrets",
                (("Pcpfs-Operation", "refuse"), ("Pcpfs-Actor", str(actor))),
            )
        return views

    def _rows(self) -> list[AcceptedRow]:
        found = self._store.catalog.query(
            "SELECT * FROM accepted WHERE NOT is_over ORDER BY scope, at, salt"
        )
        rows = map(AcceptedRow._make, found)
        return [row for row in rows if self._authority.may(ADMINISTER, row.scope)]

    def _found(self, given: str) -> AcceptedRow:
        found = [row for row in self._rows() if row.salt.startswith(given)]
        if len(given) < _SHORTEST or len(found) != 1:
            raise NotFound(f"nothing that is accepted is called {given}; see pcpfs secret list")
        return found[0]

    def _view(self, row: AcceptedRow) -> AcceptedView:
        pages = self._store.catalog.query(
            "SELECT DISTINCT page_id FROM change WHERE at = ? AND scope = ? AND actor = ? "
            "AND page_id IS NOT NULL ORDER BY page_id LIMIT ?",
            (row.at, row.scope, row.actor, _MOST_PAGES),
        )
        return AcceptedView(
            row.salt,
            row.scope,
            row.kind,
            Instant(row.at),
            row.actor,
            tuple(PageId(page) for (page,) in pages),
        )


def _key(view: AcceptedView) -> tuple[str, ...]:
    return view.scope, str(view.at), view.accepted_id
