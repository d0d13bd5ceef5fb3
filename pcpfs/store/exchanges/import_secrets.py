"""Looking for secrets in what another store brings, before anything of it is taken over."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pcpfs.model.ids import PageId
from pcpfs.model.names import Namespace
from pcpfs.model.texts import decoded
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.scopes.secrets import AllowList, Finding

Text = tuple[str, str]
"""What a text is called, and the text."""


class Looking:
    """Collects, by scope, what nobody accepted here."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._allowed: dict[Namespace, AllowList] = {}
        self.found: dict[Namespace, list[Finding]] = {}

    @property
    def findings(self) -> Iterator[Finding]:
        for found in self.found.values():
            yield from found

    def payload(self, namespace: Namespace, page: PageId, raw: bytes, *, is_source: bool) -> None:
        """The bytes of a page; of a source, placeholders are no passwords, as when it is added."""
        text = (f"payload of {page}", decoded(raw))
        self._look(namespace, [text], placeholders=not is_source)

    def document(self, namespace: Namespace, what: str, raw: bytes) -> None:
        """All texts in an envelope or a change, wherever they stand; what was seen in a source as
        the source itself is looked at."""
        value = json.loads(raw)
        seen = [
            told for event in value.get("events", ()) if (told := event.pop("difference", None))
        ]
        self._look(namespace, _texts(value, "", what))
        self._look(namespace, _texts(seen, "frames", what), placeholders=False)

    def text(self, namespace: Namespace, what: str, text: str) -> None:
        self._look(namespace, [(what, text)])

    def _look(
        self, namespace: Namespace, texts: Iterator[Text] | list[Text], *, placeholders: bool = True
    ) -> None:
        if namespace not in self._allowed:
            self._allowed[namespace] = AllowList.of(self._catalog, namespace)
        found = self._allowed[namespace].findings(texts, placeholders=placeholders)
        if found:
            self.found.setdefault(namespace, []).extend(found)


def _texts(value: Any, where: str, what: str) -> Iterator[Text]:
    """`facets.title of pg_…`, and so on for every text in a JSON value, also the names in it."""
    if isinstance(value, str):
        yield f"{where} of {what}", value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from _texts(name, "a name", what)
            yield from _texts(member, f"{where}.{name}" if where else name, what)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, where, what)
