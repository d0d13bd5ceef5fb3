"""An erasure at work: steps that each can be done again, until nothing is left of some pages.

The job is written down before the first file goes, and taken away when the last step is done; so
whoever comes after a crash goes on. Receipts come first: from then on nobody reads the pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError, Unavailable
from pcpfs.git import CommitId, Person
from pcpfs.git.doomed import Doomed
from pcpfs.git.follow import (
    clean_indexes,
    clear_ephemeral,
    map_shallow,
    move_refs,
    pack_refs,
    refresh_dumb_info,
    rewrite_logs,
    work_trees,
    write_graph_again,
)
from pcpfs.git.purge import purge, remove_packs
from pcpfs.git.rewrite import rewrite
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.model.receipts import Receipt
from pcpfs.store import layout
from pcpfs.store.catalogs.refresh import refold_paths
from pcpfs.store.erasure.erased_files import note_files
from pcpfs.store.erasure.traces import Traces
from pcpfs.store.events.event_segments import refold_segments
from pcpfs.store.local import Position
from pcpfs.store.trees.owners import is_others
from pcpfs.store.workshop import Workshop

JOB = layout.ERASING
DAMAGED = "damaged"
"""The folder in `.git/pcpfs` to which `fsck --repair` moves what is damaged."""
_TRIES = 20
_PACKING_SECONDS = 120.0

Renew = Callable[[Iterable[str]], Workshop]
"""Makes the caches anew, without anything of these scopes' texts; what to work with from then on.
"""


@dataclass(frozen=True)
class Job:
    """What is being erased, and how far that is.

    `commits` are the rewritten ones, old and new; `packs` are to be removed. `keep` names commits
    that were only just fetched. With `is_told` the receipts are committed at the end; else they
    are in a history that comes next.
    """

    traces: Traces
    receipts: tuple[Receipt, ...]
    at: Instant
    actor: str
    commits: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)
    packs: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    is_told: bool = True

    def write(self, shop: Workshop) -> None:
        value = {
            "traces": self.traces.to_json(),
            "receipts": [receipt.encode().decode() for receipt in self.receipts],
            "at": str(self.at),
            "actor": self.actor,
            "commits": dict(self.commits),
            "known": dict(self.known),
            "packs": list(self.packs),
            "keep": list(self.keep),
            "is_told": self.is_told,
        }
        shop.disk.write(shop.local_folder / JOB, json.dumps(value).encode())

    @classmethod
    def read(cls, shop: Workshop) -> Job | None:
        """The job that a crash left; None if there is none. Unavailable if it is damaged."""
        path = shop.local_folder / JOB
        try:
            value: dict[str, Any] = json.loads(shop.disk.read(path))
            return cls(
                Traces.from_json(value["traces"]),
                tuple(Receipt.decode(text.encode(), JOB) for text in value["receipts"]),
                Instant.parse(value["at"]),
                value["actor"],
                value["commits"],
                value["known"],
                tuple(value["packs"]),
                tuple(value["keep"]),
                value["is_told"],
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, PcpfsError) as error:
            raise Unavailable(
                f"{path} is damaged ({error}); remove it, and run `pcpfs maintain`: the receipts "
                "say what is to be erased"
            ) from error


@dataclass
class Working:
    """One erasure in one process: the job as it stands, and what was done."""

    shop: Workshop
    job: Job
    renew: Renew
    warnings: list[str] = field(default_factory=list)

    def remember(self, **changed: Any) -> None:
        self.job = replace(self.job, **changed)
        self.job.write(self.shop)

    @property
    def disk(self) -> Disk:
        """What a crash leaves unfinished lies where it is swept."""
        return self.shop.disk.staged_in(self.shop.local_folder)

    @property
    def mapping(self) -> dict[str, str]:
        """Old names and new ones; where a commit was rewritten twice, the last."""
        commits = self.job.commits
        found: dict[str, str] = {}
        for old, new in commits.items():
            last, seen = new, {old}
            while last in commits and last not in seen:
                seen.add(last)
                last = commits[last]
            found[old] = last
        return found

    @property
    def doomed(self) -> Doomed:
        traces, shop = self.job.traces, self.shop
        return Doomed(
            folders=frozenset(layout.page_folder(ns, page) for page, ns in traces.pages.items()),
            files=frozenset(f for f in traces.files if layout.page_of(f) is None),
            readable=frozenset(traces.readable),
            blobs=frozenset(traces.blobs),
            shelves=frozenset(f"{ns.folder}/tree" for ns in traces.pages.values()),
            is_others=lambda path, raw: is_others(shop, path, raw),
            scrub=traces.scrub,
            names_it=traces.names_it,
            instead=traces.segments,
        )


def lay_receipts(work: Working) -> None:
    """From here on the pages are erased for everybody."""
    shop = work.shop
    note_files(shop, work.job.traces.pages)
    for receipt in work.job.receipts:
        path = shop.root / layout.receipt_file(receipt.namespace, receipt.page)
        if not path.exists():
            work.disk.write(path, receipt.encode())
    with shop.catalog.writing():
        refold_paths(shop, _receipt_paths(work))


def remove_files(work: Working) -> None:
    """From the work tree: payloads and frames, events, files in `tree/`, and last the page itself,
    from which all these are known."""
    shop, traces = work.shop, work.job.traces
    for path, instead in traces.segments.items():
        if instead.content and (shop.root / path).exists():
            work.disk.write_once(shop.root / instead.path, instead.content)
    others = [path for path in traces.files if layout.page_of(path) is None]
    for path in (*others, *traces.segments, *_in_tree(work, traces.readable)):
        if work.disk.remove(shop.root / path):
            work.disk.remove_empty((shop.root / path).parent, shop.root / layout.SCOPES)
    for page, namespace in traces.pages.items():
        folder = shop.root / layout.page_folder(namespace, page)
        if folder.is_dir():
            work.disk.remove_tree(folder)
            work.disk.remove_empty(folder.parent, shop.root / namespace.folder)
    _remove_in_other_work_trees(work)


def forget_rows(work: Working) -> None:
    """From the catalog, as far as its rows go; free pages are another step."""
    shop, traces = work.shop, work.job.traces
    with shop.catalog.writing():
        refold_segments(shop, [*traces.segments, *(i.path for i in traces.segments.values())])
        refold_paths(shop, [*_receipt_paths(work), *traces.files])


def leave_indexes(work: Working) -> None:
    """From the index of every work tree."""
    doomed = work.doomed
    shop = work.shop

    def is_gone(path: str, blob: str) -> bool:
        if path in doomed.files or path in doomed.instead:
            return True
        if path in doomed.readable:
            return not _is_of_others(shop, path, blob)
        return any(path.startswith(folder + "/") for folder in doomed.folders)

    clean_indexes(shop.git, work.disk, is_gone)


def rewrite_history(work: Working) -> None:
    """From every commit that a ref, a reflog or a work tree reaches."""
    for _ in range(_TRIES):
        known = {**work.job.known, **work.job.commits}
        mapped = rewrite(work.shop.git, work.doomed, known, work.job.keep)
        if not mapped:
            return
        work.remember(commits={**work.job.commits, **mapped})
        if move_refs(work.shop.git, work.mapping, work.doomed.blobs):
            return
    raise Unavailable("other git commands keep moving branches here; end them, and try again")


def follow_in_logs(work: Working) -> None:
    """From reflogs, and the shallow boundary."""
    git, disk = work.shop.git, work.disk
    rewrite_logs(git, disk, work.mapping, work.job.traces.scrub)
    map_shallow(git, disk, work.mapping)
    pack_refs(git)


def follow_in_catalog(work: Working) -> None:
    """The catalog and this clone's own state stand at the new commits."""
    shop, mapping = work.shop, work.mapping
    local, stands = shop.tree.local, shop.catalog.meta("commit") or ""
    if stands in mapping:
        with shop.catalog.writing():
            shop.catalog.set_meta("commit", mapping[stands])
    settled, position = local.settled(), local.position()
    if settled in mapping:
        local.set_settled(mapping[settled])
    if position is not None:
        head, stash = (mapping.get(name or "", name) for name in position)
        local.set_position(Position(head, stash))
    local.forget_pages(work.job.traces.pages, work.job.traces.readable)


def clear_leavings(work: Working) -> None:
    """From what git and we leave lying about."""
    shop, traces = work.shop, work.job.traces
    had_graph = any((shop.git.common_dir / "objects" / "info").glob("commit-graph*"))
    clear_ephemeral(shop.git, work.disk, traces.names_it)
    write_graph_again(shop.git, had_graph)
    work.disk.sweep(shop.local_folder)
    work.disk.sync(shop.local_folder)
    for path in sorted((shop.local_folder / DAMAGED).rglob("*")):
        if path.is_file() and traces.names_it(path.read_bytes()):
            work.disk.remove(path)


def renew_caches(work: Working) -> None:
    """From the free pages and the log of the catalog, from the text indexes, and from what this
    machine remembers of source files. Whoever has the old ones open lets go at their next look."""
    traces, shop = work.job.traces, work.shop
    for root in traces.roots:
        work.disk.remove(shop.root / layout.DISPOSABLE / f"stat-{root}")
    work.shop = work.renew(sorted({*traces.pages.values()}))


def remove_objects(work: Working) -> None:
    """From among git's objects, loose and packed."""
    shop = work.shop
    if work.job.packs:
        remove_packs(shop.git, work.disk, work.job.packs)

    def remember(packs: tuple[str, ...]) -> None:
        work.remember(packs=tuple(dict.fromkeys([*work.job.packs, *packs])))

    keep = [work.mapping.get(name, name) for name in work.job.keep]
    old = work.job.commits
    with work.disk.lock(shop.local_folder / layout.PACK_LOCK, _PACKING_SECONDS):
        purge(shop.git, work.disk, work.doomed, old, keep=keep, remember=remember)
    refresh_dumb_info(shop.git)


def commit_receipts(work: Working) -> None:
    """The receipts say by which commits others can follow, and are committed."""
    shop, job = work.shop, work.job
    if not job.is_told:
        return
    files: dict[str, bytes] = {}
    first = min((receipt.page for receipt in job.receipts), default=None)
    for receipt in job.receipts:
        commits = {**receipt.commits, **(work.mapping if receipt.page == first else {})}
        path = layout.receipt_file(receipt.namespace, receipt.page)
        files[path] = replace(receipt, commits=commits).encode()
        work.disk.write(shop.root / path, files[path])
    _commit(work, {**files, **_news(work)}, len(job.receipts))


def sweep(work: Working) -> None:
    """Remove what came back of erased pages, by an ordinary commit; history comes later. It is
    committed first, and the page's own files go last: so a crash leaves enough to begin again."""
    _commit(work, _news(work), len(work.job.traces.pages))
    leave_indexes(work)
    remove_files(work)
    forget_rows(work)
    renew_caches(work)


def _news(work: Working) -> dict[str, bytes | None]:
    """What HEAD should hold otherwise than it does."""
    gone = _tracked(work)
    segments = work.job.traces.segments
    come = {
        instead.path: instead.content
        for old, instead in segments.items()
        if instead.content and (old in gone or (work.shop.root / instead.path).exists())
    }
    return {**dict.fromkeys(gone), **come}


def _commit(work: Working, files: Mapping[str, bytes | None], pages: int) -> None:
    shop, job = work.shop, work.job
    changed = shop.git.not_in_head(files)
    if not changed:
        return
    before = shop.git.head()
    count = "1 page" if pages == 1 else f"{pages} pages"
    message = f"erase: {count}\n\nPcpfs-Operation: delete\nPcpfs-Actor: {job.actor}\n"
    author = Person(job.actor, f"{job.actor.replace(':', '.')}@pcpfs")
    commit = shop.git.commit(changed.items(), message, job.at, author)
    shop.tree.local.follow(before, commit)
    if shop.catalog.meta("commit") == (before or ""):
        with shop.catalog.writing():
            shop.catalog.set_meta("commit", commit)


Step = Callable[[Working], None]

STEPS: Mapping[str, Step] = {
    step.__name__: step
    for step in (
        lay_receipts,
        remove_files,
        forget_rows,
        leave_indexes,
        rewrite_history,
        follow_in_logs,
        follow_in_catalog,
        commit_receipts,
        clear_leavings,
        renew_caches,
        remove_objects,
    )
}
"""In this order. Each may be cut short and done again; the proof finds what one of them leaves."""


def run(work: Working, without: Iterable[str] = ()) -> None:
    """Do everything (but for steps that a test leaves out); the job stays until `finish`."""
    work.job.write(work.shop)
    left_out = set(without)
    for name, step in STEPS.items():
        if name not in left_out:
            step(work)


def finish(work: Working) -> None:
    """The job is done: what was rewritten is remembered, by which a push is told from a mistake."""
    local = work.shop.tree.local
    local.note_rewritten(work.mapping)
    local.set_purged(work.job.traces.pages, True)
    work.disk.remove(work.shop.local_folder / JOB)


def resume(shop: Workshop, renew: Renew) -> bool:
    """Finish an erasure that was cut short; whether there was one. Only under the writer's lock."""
    job = Job.read(shop)
    if job is None:
        return False
    work = Working(shop, job, renew)
    run(work)
    finish(work)
    return True


def _receipt_paths(work: Working) -> list[str]:
    return [layout.receipt_file(ns, page) for page, ns in work.job.traces.pages.items()]


def _in_tree(work: Working, paths: Iterable[str]) -> list[str]:
    """The files that hold a page of ours, or an edit of one; not those of another page that took
    the name."""
    shop, traces = work.shop, work.job.traces
    bases = {base.path: base.page_id for base in shop.tree.local.all_bases()}

    def is_ours(path: str) -> bool:
        if path in bases:
            return bases[path] in traces.pages
        file = shop.root / path
        raw = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
        return bool(raw) and (Digest.of(raw) in traces.digests or traces.names_it(raw))

    return [path for path in paths if is_ours(path)]


def _remove_in_other_work_trees(work: Working) -> None:
    shop, doomed = work.shop, work.doomed
    for tree in work_trees(shop.git):
        if tree.folder is None:
            where = tree.git_dir.name
            work.warnings.append(f"the work tree {where} is not here; its files are not cleaned")
        elif tree.folder != shop.root:
            inside = [p for f in sorted(doomed.folders) for p in (tree.folder / f).rglob("*")]
            listed = [*doomed.files, *doomed.readable, *doomed.instead]
            for path in (*inside, *(tree.folder / name for name in listed)):
                if work.disk.remove(path):
                    work.disk.remove_empty(path.parent, tree.folder)


def _is_of_others(shop: Workshop, path: str, blob: str) -> bool:
    content = next(shop.git.show_blobs([blob]), None)
    return content is not None and is_others(shop, path, content)


def _tracked(work: Working) -> list[str]:
    """Doomed paths that HEAD holds still: where history was not rewritten."""
    shop, doomed = work.shop, work.doomed
    head = shop.git.head()
    if head is None:
        return []
    listed = sorted({*doomed.files, *doomed.instead, *doomed.readable})
    held = shop.git.blobs_at(head, listed)
    found = [
        path
        for path, blob in zip(listed, held, strict=True)
        if blob is not None and not (path in doomed.readable and _is_of_others(shop, path, blob))
    ]
    for folder in sorted(doomed.folders):
        found += [entry.path for entry in shop.git.ls_tree(CommitId(head), folder)]
    return found
