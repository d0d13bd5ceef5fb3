"""What the text indexes are told of a page or a symbol: its texts, field by field."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from pcpfs.errors import Corrupt, NotFound
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.marks import ranks_lower, says_generated
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Revision
from pcpfs.model.texts import decoded
from pcpfs.search.analysis import Document
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.document_keys import GENERATED_KEY
from pcpfs.store.catalogs.rows import FrameRow, PageRow
from pcpfs.store.objects import Objects

_PROSE = re.compile(r"text/(markdown|plain|x-rst|html)|message/.*")
_LESS_PERCENT = 50
_KEPT_PAYLOADS = 64
_CHUNK = 400


class Documents:
    """Makes index documents: texts from the immutable objects, names from the catalog."""

    def __init__(self, objects: Objects, catalog: Catalog) -> None:
        self._objects = objects
        self.catalog = catalog
        self._payloads: OrderedDict[Digest, bytes] = OrderedDict()

    def document(self, scope: str, key: str) -> Document | None:
        """The document of one key; None where its files are missing or damaged."""
        return next(self.documents(scope, [key]), None)

    def documents(self, scope: str, keys: Iterable[str]) -> Iterator[Document]:
        """The documents of many keys, in parts; those of a page one after another, so that its
        payload is read once. What is missing or damaged is passed over (fsck names it)."""
        waiting = iter(keys)
        while part := list(islice(waiting, _CHUNK)):
            yield from self._symbols(Namespace(scope), [key for key in part if not _is_body(key)])
            yield from self._bodies(Namespace(scope), [key for key in part if _is_body(key)])

    def payload(self, namespace: Namespace, digest: Digest) -> bytes:
        """Payload bytes; the last few are kept."""
        if digest not in self._payloads:
            self._payloads[digest] = self._objects.payload(namespace, digest)
            if len(self._payloads) > _KEPT_PAYLOADS:
                self._payloads.popitem(last=False)
        return self._payloads[digest]

    def _bodies(self, namespace: Namespace, keys: Sequence[str]) -> Iterator[Document]:
        rows = self.catalog.query(
            "SELECT revision.revision_id, revision.digest, page.* FROM revision "
            f"JOIN page USING (page_id) WHERE revision.revision_id IN ({_marks(keys)})",
            keys,
        )
        for revision, digest, *columns in rows:
            page = PageRow(*columns)
            try:
                raw = self.payload(namespace, Digest(digest)) if digest else b""
                if page.is_source:
                    yield _source_body(revision, page, raw)
                else:
                    body = self._objects.revision(
                        namespace, PageId(page.page_id), RevisionId(revision)
                    )
                    yield _authored_body(revision, page, body, raw)
            except (Corrupt, NotFound):
                continue

    def _symbols(self, namespace: Namespace, keys: Sequence[str]) -> Iterator[Document]:
        rows = self.catalog.query(
            "SELECT revision.digest, thinned, page.path, frame.* FROM frame "
            "JOIN page ON page.page_id = frame.page_id "
            "JOIN revision ON revision.revision_id = frame.revision_id "
            f"WHERE frame.doc_key IN ({_marks(keys)}) ORDER BY frame.page_id",
            keys,
        )
        given: set[str] = set()
        for digest, thinned, path, *columns in rows:
            frame = FrameRow(*columns)
            key = frame.doc_key or ""
            if key in given:
                continue
            given.add(key)
            try:
                documentation = (
                    frame.doc if thinned else self._documentation(namespace, frame, Digest(digest))
                )
            except (Corrupt, NotFound):
                continue
            yield Document(
                key,
                name=frame.qualified_name,
                signature=frame.signature,
                path=path,
                prose=documentation,
                factor_percent=_factor(path, is_generated=key.endswith(GENERATED_KEY)),
            )

    def _documentation(self, namespace: Namespace, frame: FrameRow, digest: Digest) -> str:
        if frame.doc_a is None or frame.doc_b is None:
            return frame.doc
        return decoded(self.payload(namespace, digest)[frame.doc_a : frame.doc_b])


def _marks(keys: Sequence[str]) -> str:
    return ", ".join("?" * len(keys))


def _is_body(key: str) -> bool:
    return key.startswith("rev_")


def _authored_body(revision_id: str, page: PageRow, body: Revision, raw: bytes) -> Document:
    prose = raw if _is_text(raw) else b""
    facets = body.facets
    about = " ".join([facets.title or page.title, *facets.tags, *facets.keywords])
    return Document(
        revision_id,
        path=page.path or "",
        title=about,
        prose="\n".join([decoded(prose), facets.summary or ""]),
    )


def _source_body(revision_id: str, page: PageRow, raw: bytes) -> Document:
    path = page.path or ""
    is_prose = _PROSE.fullmatch(page.media_type or "") is not None
    text = decoded(raw)
    return Document(
        revision_id,
        path=path,
        title=page.title,
        prose=text if is_prose else "",
        body="" if is_prose else text,
        factor_percent=_factor(path, is_generated=says_generated(raw)),
    )


@lru_cache(64)
def _factor(path: str, *, is_generated: bool) -> int:
    """Asked for all symbols of a file, one after the other."""
    return _LESS_PERCENT if is_generated or ranks_lower(path) else 100


def _is_text(raw: bytes) -> bool:
    return b"\0" not in raw[:8192] or raw[:2] in (b"\xff\xfe", b"\xfe\xff")
