"""Looking again: does every frame that the store serves still stand in its source?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pcpfs.model.answers import FrameCheck
from pcpfs.model.frames import FILE_KIND, Extraction, frame_ids
from pcpfs.model.ids import Digest, FrameId, PageId, RootId
from pcpfs.model.names import unescaped
from pcpfs.ports import AdapterRegistry
from pcpfs.sources.extraction_worker import extract
from pcpfs.sources.mounts import not_mounted
from pcpfs.sources.reading import read_stable
from pcpfs.sources.roots import Root, Roots
from pcpfs.sources.scanned import Content, Gone
from pcpfs.store.catalogs.rows import FrameRow, PageRow
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.store import Store


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Each open frame against the bytes on the disk now.

    `unknown` counts frames whose source cannot be read or is not bound on this machine: nothing is
    said of them, and they are not in `frames` either.
    """

    checked: int
    valid: int
    stale: int
    gone: int
    unknown: int
    frames: tuple[FrameCheck, ...]

    @property
    def ok(self) -> bool:
        return self.stale == self.gone == 0


def verify(
    store: Store, registry: AdapterRegistry, authority: Authority | None = None
) -> VerifyReport:
    """Read every source again, whatever its times say, and compare; those that somebody may read,
    all where nobody is named."""
    store.refresh()
    seen = store.catalog if authority is None else authority.catalog
    checks: list[FrameCheck] = []
    unknown = 0
    roots = Roots(store)
    bound = {root.root_id: root for root in roots.all()}
    away = {root: not_mounted(bound[root].path, roots.cache(bound[root])) for root in bound}
    for page in seen.pages("is_source AND is_open"):
        frames = seen.frames("page_id = ? AND valid_to IS NULL", (page.page_id,))
        root = bound.get(RootId(page.root_id)) if page.root_id else None
        is_away = root is not None and unescaped(page.path or "") in away[root.root_id]
        found = None if root is None or is_away else _checked(root, page, frames, registry)
        if found is None:
            unknown += len(frames)
        else:
            checks.extend(found)
    counts = Counter(check.status for check in checks)
    return VerifyReport(
        len(checks), counts["valid"], counts["stale"], counts["gone"], unknown, tuple(checks)
    )


def _checked(
    root: Root, page: PageRow, frames: list[FrameRow], registry: AdapterRegistry
) -> Iterator[FrameCheck] | None:
    """None if nothing can be said: the file is there, but cannot be read whole."""
    outcome = read_stable(root.path, unescaped(page.path or ""), root.options.max_size)
    if isinstance(outcome, Content):
        return _compared(page, frames, outcome, registry)
    if isinstance(outcome, Gone) and root.path.is_dir():
        return (_check(page, row, "gone", None) for row in frames)
    return None


def _compared(
    page: PageRow, frames: list[FrameRow], content: Content, registry: AdapterRegistry
) -> Iterator[FrameCheck]:
    if content.candidate.digest == page.digest:
        return (_check(page, row, "valid", None) for row in frames)
    now = _frames_now(page, content, registry)
    return (_against(page, row, now) for row in frames)


def _frames_now(
    page: PageRow, content: Content, registry: AdapterRegistry
) -> Mapping[FrameId, Digest]:
    seen = extract(registry, unescaped(page.path or ""), content.data)
    symbols = seen.symbols if isinstance(seen, Extraction) else ()
    return {f.frame_id: f.symbol.digest for f in frame_ids(PageId(page.page_id), symbols)}


def _against(page: PageRow, row: FrameRow, now: Mapping[FrameId, Digest]) -> FrameCheck:
    if row.kind == FILE_KIND:
        return _check(page, row, "stale", None)
    digest = now.get(FrameId(row.frame_id))
    status = "gone" if digest is None else "valid" if digest == row.digest else "stale"
    return _check(page, row, status, digest if status == "stale" else None)


def _check(page: PageRow, row: FrameRow, status: str, now: Digest | None) -> FrameCheck:
    return FrameCheck(
        FrameId(row.frame_id), page.path or "", row.qualified_name, status, Digest(row.digest), now
    )
