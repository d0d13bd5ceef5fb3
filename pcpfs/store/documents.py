"""What the text indexes are told of a page or a symbol: its texts, field by field."""

from __future__ import annotations

import re
from collections import OrderedDict

from pcpfs.errors import Corrupt, NotFound
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace, source_path
from pcpfs.model.pages import Revision
from pcpfs.search.analysis import Document
from pcpfs.store.catalog import Catalog
from pcpfs.store.objects import Objects
from pcpfs.store.rows import FrameRow, PageRow

_PROSE = re.compile(r"text/(markdown|plain|x-rst|html)|message/.*")
_LESS = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|fixtures|vendor|third_party|node_modules|generated)/"
    r"|(^|/)(test_[^/]*|conftest\.py|[^/]*(_test|_spec|\.test|\.spec|\.min|_pb2|\.pb|\.generated)"
    r"\.[^/.]+)$"
    r"|\.(po|lock|svg)$",
    re.IGNORECASE,
)
"""Tests, generated code and catalogues of translations: found, but after the rest."""

_LESS_PERCENT = 50
_KEPT_PAYLOADS = 64


class Documents:
    """Makes index documents: texts from the immutable objects, names from the catalog."""

    def __init__(self, objects: Objects, catalog: Catalog) -> None:
        self._objects = objects
        self.catalog = catalog
        self._payloads: OrderedDict[Digest, bytes] = OrderedDict()

    def document(self, scope: str, key: str) -> Document | None:
        """The document of a key; None where its files are missing or damaged (fsck names them)."""
        try:
            if key.startswith("rev_"):
                return self._body(Namespace(scope), RevisionId(key))
            return self._symbol(Namespace(scope), key)
        except (Corrupt, NotFound):
            return None

    def payload(self, namespace: Namespace, digest: Digest) -> bytes:
        """Payload bytes; the last few are kept."""
        if digest not in self._payloads:
            self._payloads[digest] = self._objects.payload(namespace, digest)
            if len(self._payloads) > _KEPT_PAYLOADS:
                self._payloads.popitem(last=False)
        return self._payloads[digest]

    def _body(self, namespace: Namespace, revision_id: RevisionId) -> Document | None:
        rows = self.catalog.query(
            "SELECT page.* FROM page JOIN revision USING (page_id) WHERE revision.revision_id = ?",
            (revision_id,),
        )
        if not rows:
            return None
        page = PageRow(*rows[0])
        body = self._objects.revision(namespace, PageId(page.page_id), revision_id)
        raw = self.payload(namespace, body.payload.ref) if body.payload else b""
        return (
            _source_body(revision_id, page, body, raw)
            if page.is_source
            else _authored_body(revision_id, page, body, raw)
        )

    def _symbol(self, namespace: Namespace, key: str) -> Document | None:
        found = self.catalog.frames("doc_key = ?", (key,))
        if not found:
            return None
        frame = found[-1]
        body = self._objects.revision(
            namespace, PageId(frame.page_id), RevisionId(frame.revision_id)
        )
        _, path = source_path(body.source_refs[0])
        return Document(
            key,
            name=frame.qualified_name,
            signature=frame.signature,
            path=path,
            prose=self._documentation(namespace, frame, body),
            factor_percent=_factor(path),
        )

    def _documentation(self, namespace: Namespace, frame: FrameRow, body: Revision) -> str:
        if frame.doc_a is None or frame.doc_b is None or body.payload is None:
            return frame.doc
        raw = self.payload(namespace, body.payload.ref)[frame.doc_a : frame.doc_b]
        return decoded(raw)


def _authored_body(revision_id: RevisionId, page: PageRow, body: Revision, raw: bytes) -> Document:
    prose = raw if _is_text(raw) else b""
    facets = body.facets
    about = " ".join([facets.title or page.title, *facets.tags, *facets.keywords])
    return Document(
        revision_id,
        path=page.path or "",
        title=about,
        prose="\n".join([decoded(prose), facets.summary or ""]),
    )


def _source_body(revision_id: RevisionId, page: PageRow, body: Revision, raw: bytes) -> Document:
    path = page.path or ""
    media_type = body.payload.media_type if body.payload else ""
    text = decoded(raw)
    is_prose = _PROSE.fullmatch(media_type) is not None
    return Document(
        revision_id,
        path=path,
        title=page.title,
        prose=text if is_prose else "",
        body="" if is_prose else text,
        factor_percent=_factor(path),
    )


def ranks_lower(path: str) -> bool:
    """Whether a source comes after the rest, by its path."""
    return _LESS.search(path) is not None


def _factor(path: str) -> int:
    return _LESS_PERCENT if ranks_lower(path) else 100


def _is_text(raw: bytes) -> bool:
    return b"\0" not in raw[:8192] or raw[:2] in (b"\xff\xfe", b"\xfe\xff")


def decoded(raw: bytes) -> str:
    """Text for searching and showing: UTF-16 by its mark, else UTF-8, else Latin-1."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
