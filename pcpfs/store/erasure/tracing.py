"""Finding all that pages have left: in the files, and in every commit that is at hand."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pcpfs.errors import PcpfsError
from pcpfs.git.doomed import Instead
from pcpfs.git.fast_import import blob_of
from pcpfs.git.purge import reachable
from pcpfs.git.raw import Reader
from pcpfs.model.changes import Change, Named
from pcpfs.model.events import segment
from pcpfs.model.front import read_front
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace, source_path, with_mark
from pcpfs.model.pages import Revision
from pcpfs.store import layout
from pcpfs.store.erasure.pieces import pieces
from pcpfs.store.erasure.traces import DIGEST, PIECE, REVISION, TITLE, Traces
from pcpfs.store.events.event_segments import Segment
from pcpfs.store.workshop import Workshop

Pages = Mapping[PageId, Namespace]


@dataclass(slots=True)
class _Found:
    """What was found so far; contents by digest, in memory."""

    revisions: dict[RevisionId, Revision] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)
    paths: dict[str, Namespace] = field(default_factory=dict)
    files: dict[str, str | None] = field(default_factory=dict)
    contents: dict[Digest, bytes] = field(default_factory=dict)
    segments: dict[str, Instead] = field(default_factory=dict)
    blobs: set[str] = field(default_factory=set)


class Tracing:
    """Looks for the traces of some pages of one store."""

    def __init__(self, shop: Workshop, pages: Pages, more: Iterable[str] = ()) -> None:
        self._shop = shop
        self._pages = dict(pages)
        self._found = _Found()
        self._history = reachable(shop.git, more)
        head = shop.git.head()
        self._hash = "sha256" if head is not None and len(head) == 64 else "sha1"

    def traces(self) -> Traces:
        """All of them."""
        listed = dict(self._listed())
        with Reader(self._shop.git) as reader:
            for path, read in self._bodies(listed, reader):
                self._body(path, read())
            self._events(listed, reader)
            own = {d.hex for d in self._digests()}
            for path, name in listed.items():
                if _content_digest(path) in own:
                    self._content(path, name, reader)
        self._titles_of_rows()
        return self._collected()

    def _listed(self) -> Iterator[tuple[str, str | None]]:
        """Files of the truth and where git has them: all that may belong to the pages."""
        scopes = tuple(f"{scope.folder}/" for scope in {*self._pages.values()})
        for name, path in self._history.items():
            if path.startswith(scopes) and "/tree/" not in path:
                yield path, name
        known = {*self._history.values()}
        for scope in {*self._pages.values()}:
            for kind in ("pages", "payloads", "frames", "events"):
                base = self._shop.root / scope.folder / kind
                for folder, _, names in os.walk(base):
                    for file in names:
                        path = Path(folder, file).relative_to(self._shop.root).as_posix()
                        if path not in known:
                            yield path, None

    def _bodies(
        self, listed: Mapping[str, str | None], reader: Reader
    ) -> Iterator[tuple[str, Callable[[], bytes | None]]]:
        for path, name in listed.items():
            of = layout.page_of(path)
            if of is not None and of[1] in self._pages:
                yield path, lambda path=path, name=name: self._read(path, name, reader)  # type: ignore[misc]

    def _read(self, path: str, name: str | None, reader: Reader) -> bytes | None:
        try:
            return self._shop.disk.read(self._shop.root / path)
        except (FileNotFoundError, PcpfsError):
            raw = reader.read(name) if name else None
            return raw.content if raw else None

    def _note_file(self, path: str, raw: bytes | None) -> None:
        if raw is not None:
            self._found.files[path] = blob_of(self._hash, raw)

    def _body(self, path: str, raw: bytes | None) -> None:
        """A change or a revision of one of the pages."""
        self._note_file(path, raw)
        if raw is None:
            return
        try:
            if path.rpartition("/")[2].startswith("rev_"):
                self._revision(RevisionId.of(raw), Revision.decode(raw, path))
            else:
                self._change(Change.decode(raw, path))
        except PcpfsError:
            return  # damaged: its name and its folder go all the same

    def _revision(self, revision: RevisionId, body: Revision) -> None:
        self._found.revisions[revision] = body
        if body.facets.title:
            self._found.titles.add(body.facets.title)
        if body.content_ref is not None:
            self._found.titles.add(body.content_ref.uri)
        for ref in body.source_refs:
            if ref.startswith("src:"):
                self._found.titles.add(source_path(ref)[1])

    def _change(self, body: Change) -> None:
        for event in body.events:
            if isinstance(event, Named):
                self._found.paths[event.path] = body.namespace
                self._found.titles.add(event.path)

    def _events(self, listed: Mapping[str, str | None], reader: Reader) -> None:
        wanted = [page.encode() for page in self._pages]
        for path, name in listed.items():
            namespace = layout.segment_of(path)
            raw = self._read(path, name, reader) if namespace else None
            if namespace and raw and any(page in raw for page in wanted):
                self._segment(path, namespace, raw)

    def _segment(self, path: str, namespace: Namespace, raw: bytes) -> None:
        read = Segment.read(path, namespace, raw)
        lines = [placed.line for placed in read.lines]
        gone = [line for line in lines if line.revision.page in self._pages]
        kept = segment(line for line in lines if line.revision.page not in self._pages)
        new = layout.segment_file(namespace, Digest.of(kept))
        self._found.segments[path] = Instead(new, kept)
        self._found.blobs.add(str(blob_of(self._hash, raw)))
        for line in gone:
            self._revision(line.revision_id, line.revision)
            if line.content is not None:
                self._found.contents[Digest.of(line.content)] = line.content

    def _digests(self) -> set[Digest]:
        bodies = self._found.revisions.values()
        here = {body.payload.ref for body in bodies if body.payload is not None}
        return here | {body.content_ref.digest for body in bodies if body.content_ref is not None}

    def _content(self, path: str, name: str | None, reader: Reader) -> None:
        """A payload, or the frames of one."""
        raw = self._read(path, name, reader)
        self._note_file(path, raw)
        if raw is not None and "/payloads/" in path:
            self._found.contents[Digest.of(raw)] = raw

    def _titles_of_rows(self) -> None:
        for page in self._pages:
            row = self._shop.catalog.page(page)
            if row is not None:
                self._found.titles.update(filter(None, (row.title, row.path)))
        for body in self._found.revisions.values():
            payload = body.payload
            if payload is not None and payload.media_type.startswith("text/"):
                title = read_front(self._found.contents.get(payload.ref, b"")).title
                self._found.titles.update([title] if title and not self._is_source(body) else ())

    def _is_source(self, body: Revision) -> bool:
        return body.created_at is None

    def _collected(self) -> Traces:
        found, digests = self._found, self._digests()
        others = {d for d in digests if self._is_others(d)}
        payloads = {
            scope: tuple(sorted(d for d in digests if not self._is_others(d, scope)))
            for scope in sorted({*self._pages.values()})
        }
        doomed = {d.hex for own in payloads.values() for d in own}
        files = {
            path: blob
            for path, blob in found.files.items()
            if layout.page_of(path) or _content_digest(path) in doomed
        }
        contents = [raw for digest, raw in sorted(found.contents.items()) if digest not in others]
        exclusive = {str(blob_of(self._hash, raw)) for raw in contents}
        shared = {blob_of(self._hash, raw) for d, raw in found.contents.items() if d in others}
        page_ids = {*map(str, self._pages)}
        return Traces(
            pages=self._pages,
            payloads=payloads,
            others=tuple(sorted(others)),
            files=tuple(sorted({*files, *self._payload_files(payloads)})),
            readable=tuple(sorted(self._readable())),
            blobs=tuple(
                sorted(({*filter(None, files.values())} | exclusive | found.blobs) - shared)
            ),
            revisions=tuple(sorted(found.revisions)),
            titles=tuple(sorted(title for title in found.titles if title not in page_ids)),
            pieces=pieces(contents),
            segments=found.segments,
            roots=self._roots(),
        )

    def _payload_files(self, payloads: Mapping[Namespace, Iterable[Digest]]) -> Iterator[str]:
        for scope, digests in payloads.items():
            for digest in digests:
                yield layout.payload_file(scope, digest)

    def _is_others(self, digest: Digest, scope: Namespace | None = None) -> bool:
        """Whether a page that stays holds these bytes (in this scope)."""
        rows = self._shop.catalog.query(
            "SELECT revision.page_id, page.scope FROM revision JOIN page USING (page_id) "
            "WHERE revision.digest = ?",
            (digest,),
        )
        return any(p not in self._pages and scope in (None, held) for p, held in rows)

    def _readable(self) -> Iterator[str]:
        """The names in `tree/` under which a head may have been laid."""
        marks = [*(page[-6:] for page in self._pages), *(r[4:12] for r in self._found.revisions)]
        for path, scope in self._found.paths.items():
            yield layout.tree_file(scope, path)
            for mark in marks:
                yield layout.tree_file(scope, with_mark(path, mark))
        for base in self._shop.tree.local.all_bases():
            if base.page_id in self._pages:
                yield base.path
        gone = {str(blob_of(self._hash, raw)) for raw in self._found.contents.values()}
        for name, path in self._history.items():
            if "/tree/" in path and name in gone and self._exclusive(name):
                yield path

    def _exclusive(self, blob: str) -> bool:
        known = {
            str(blob_of(self._hash, raw)): digest for digest, raw in self._found.contents.items()
        }
        return not self._is_others(known[blob])

    def _roots(self) -> tuple[str, ...]:
        rows = [self._shop.catalog.page(page) for page in self._pages]
        return tuple(sorted({row.root_id for row in rows if row and row.root_id}))


def _content_digest(path: str) -> str | None:
    """The sha256 that a payload or frames file is called after."""
    parts = path.split("/")
    is_content = len(parts) > 4 and parts[-4] in ("payloads", "frames")
    return parts[-1].split(".")[0] if is_content else None


_OF_SCOPE = re.compile(
    r"(?P<scope>scopes/.+)/"
    r"(?:pages(?:/[^/]+){3}|(?:payloads|frames|events)(?:/[^/]+){2}|scope)/[^/]+"
)


def survivors(shop: Workshop, traces: Traces, seen: Container[str] | None = None) -> Traces:
    """The traces without those pieces and titles that a page which stays holds too: they prove
    nothing, and taking them out of messages would take out what belongs to others. With `seen`,
    pages of these scopes alone count, so that what comes of it depends on no other (PCP-S2)."""
    wanted = {n for n, what in traces.needles.items() if what in _PERHAPS_OTHERS}
    gone = {*traces.files, *traces.segments, *traces.readable}
    found: set[bytes] = set()
    for folder, folders, names in os.walk(shop.root / layout.SCOPES):
        folders[:] = [name for name in folders if name != "erased"]
        for name in names:
            path = Path(folder, name).relative_to(shop.root).as_posix()
            if path in gone or "/tree/" in path or not (seen is None or _is_of(path, seen)):
                continue
            try:
                raw = shop.disk.read(shop.root / path) + path.encode("utf-8", "surrogateescape")
            except (FileNotFoundError, PcpfsError):
                continue
            found.update(needle for needle in wanted - found if needle in raw)
    kept = {instead.content for instead in traces.segments.values()}
    found.update(n for n in wanted - found if any(n in content for content in kept))
    return replace(traces.without_needles(found))


def _is_of(path: str, scopes: Container[str]) -> bool:
    match = _OF_SCOPE.fullmatch(path)
    return match is not None and layout.namespace_of(match["scope"]) in scopes


_PERHAPS_OTHERS = (PIECE, TITLE, DIGEST, REVISION)
