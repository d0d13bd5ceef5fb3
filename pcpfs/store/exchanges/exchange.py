"""Export and import: scopes as a store of their own, and back, by union.

An export is a new store with the same files of the truth; an import takes over every file that is
not here yet. So ids are kept, a second time changes nothing, and what both sides wrote meanwhile
becomes heads of one page. Grants, visibility and erasure receipts stay where they were given.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pcpfs.errors import Conflict, NotFound, NotPermitted
from pcpfs.model.grants import READ
from pcpfs.model.ids import PageId
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.config import Config
from pcpfs.store.exchanges.foreign_files import Archive, Folder, open_files
from pcpfs.store.exchanges.taking_over import TakingOver, refuse_unknown
from pcpfs.store.scopes.secrets import refuse_secrets
from pcpfs.store.session import Session
from pcpfs.store.store import Store

_TARS = (".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True, slots=True)
class Clash:
    """A page on which the two sides do not agree; `heads` are its texts now."""

    page_id: PageId
    scope: str
    title: str
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `pages` are those that are new here or changed, `left` what was not
    taken over, and why."""

    scopes: tuple[str, ...]
    pages: int
    events: int
    files: int
    conflicts: tuple[Clash, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written, and where."""

    path: str
    scopes: tuple[str, ...]
    pages: int
    events: int


def export(session: Session, scopes: Sequence[str], target: Path) -> ExportReport:
    """Write these scopes, all that the principal may see of them, to a folder that must be new or
    empty, or to a tar that must not exist. Conflict if something is there."""
    visible = {view.scope for view in session.scopes() if READ in view.permissions}
    wanted = sorted({str(Namespace.given(scope)) for scope in scopes} or visible)
    missing = [scope for scope in wanted if scope not in visible]
    if missing:
        raise NotFound(f"there is no scope {missing[0]}; see pcpfs scope list")
    if not target.name.endswith(_TARS):
        return _export(session, wanted, target, target)
    if target.exists():
        raise Conflict(f"{target} exists already; choose another name", path=str(target))
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pcpfs-export-") as folder:
        name = target.name.partition(".tar")[0].partition(".tgz")[0]
        report = _export(session, wanted, Path(folder) / name, target)
        session.store.disk.write(target, _packed(Path(folder) / name, target))
    return report


def _export(session: Session, scopes: Sequence[str], folder: Path, named: Path) -> ExportReport:
    ours = session.store
    with Store.init(
        folder, owner=ours.owner, clock=ours.clock, entropy=ours.entropy, disk=ours.disk
    ) as new:
        taking = TakingOver(new, Folder(ours.path), scopes, trusted=True)
        made = _take_over(new, session.principal, taking, scopes)
    return ExportReport(str(named), tuple(scopes), made.pages, made.events)


def import_store(
    session: Session, source: Path, scopes: Sequence[str] = (), *, allow_secret: bool = False
) -> ImportReport:
    """Take over a store, or some scopes of it. Only the owner may: others' files come in as they
    are. Nothing is taken if anything is not what its name says (Corrupt), if a page is known here
    in another scope (Conflict), or if anything new holds a secret that was not accepted here
    (SecretFound): what the other side accepted does not count. With `allow_secret` it is accepted.
    """
    if session.principal != session.store.owner:
        raise NotPermitted(f"only {session.store.owner} may import a store")
    files = open_files(source)
    try:
        Config.decode(files.read(layout.CONFIG), f"{source}: {layout.CONFIG}")
        wanted = [str(Namespace.given(scope)) for scope in scopes]
        taking = TakingOver(session.store, files, wanted)
        return _take_over(session.store, session.principal, taking, wanted, allow_secret)
    finally:
        if isinstance(files, Archive):
            files.close()


def _take_over(
    store: Store,
    actor: Principal,
    taking: TakingOver,
    scopes: Sequence[str],
    allow_secret: bool = False,
) -> ImportReport:
    refuse_unknown(scopes, taking.scopes)
    taking.check()
    if not allow_secret:
        refuse_secrets(taking.looking.findings)
    with store.writing("import", actor) as transaction:
        taking.into(transaction)
        taken = taking.taken
        commit = None
        if not transaction.is_empty or taken.pages or taken.events:
            done = transaction.commit(
                f"import: {len(taken.pages) + taken.events} pages",
                (
                    ("Pcpfs-Operation", "import"),
                    ("Pcpfs-Scopes", " ".join(taking.scopes)),
                    ("Pcpfs-Files", str(taken.files)),
                    ("Pcpfs-Actor", str(actor)),
                ),
            )
            commit = done.commit
    clashes = [clash for page in sorted(taken.pages) if (clash := _clash(store, page))]
    return ImportReport(
        tuple(map(str, taking.scopes)),
        len(taken.pages),
        taken.events,
        taken.files,
        tuple(clashes),
        tuple(taken.left),
        commit,
    )


def _clash(store: Store, page: PageId) -> Clash | None:
    """A page that has several heads, or is in another dispute, after the import."""
    row = store.catalog.page(page)
    if row is None or (len(decode_list(row.heads)) == 1 and row.disputes == "[]"):
        return None
    return Clash(page, row.scope, row.title, tuple(decode_list(row.heads)))


def _packed(folder: Path, target: Path) -> bytes:
    """The folder as a tar: the same files are the same bytes."""
    packed = io.BytesIO()
    mode = "w" if target.name.endswith(".tar") else "w:gz"
    with tarfile.open(fileobj=packed, mode=mode) as tar:  # type: ignore[call-overload]  # a str
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).as_posix()
            if inside.startswith((".git/pcpfs", ".pcpfs")) or path.is_symlink():
                continue
            tar.add(path, f"{folder.name}/{inside}", recursive=False, filter=_plain)
    return packed.getvalue()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
