"""Accepting secrets that stand in files: in one of `tree/`, or of a source."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.texts import decoded
from pcpfs.sources.reading import read_stable
from pcpfs.sources.roots import Roots
from pcpfs.sources.scanned import Content
from pcpfs.store.scopes.secrets import AllowList, Finding, allow, source_findings
from pcpfs.store.store import Store
from pcpfs.store.trees.tree_look import read_file
from pcpfs.store.trees.tree_state import parted


def accept(store: Store, actor: Principal, given: Sequence[str]) -> None:
    """Let the secrets in these files through from now on, each as `scopes/…/tree/x.md` or as
    `root/path`. NotFound for no file, UsageError for one without a secret."""
    if not given:
        return
    with store.writing("accept", actor) as transaction:
        found = sorted((_found(store, path) for path in given), key=lambda pair: pair[0])
        for namespace, pairs in groupby(found, key=lambda pair: pair[0]):
            findings = [finding for _, each in pairs for finding in each]
            allow(store, transaction, namespace, findings)
        transaction.commit(
            f"accept: secrets in {len(given)} files",
            (("Pcpfs-Operation", "accept"), ("Pcpfs-Actor", str(actor))),
        )


def _found(store: Store, given: str) -> tuple[Namespace, tuple[Finding, ...]]:
    path = given.removeprefix("./").removeprefix(str(store.path) + "/")
    if path.startswith("scopes/") and "/tree/" in path:
        namespace = parted(path)[0]
        allowed = AllowList.of(store.catalog, namespace)
        text = decoded(_tree_file(store, path))
        found = allowed.findings([("text", text), ("path", path)])
    else:
        namespace, raw = _source_file(store, path)
        found = source_findings(raw, AllowList.of(store.catalog, namespace))
    if not found:
        raise UsageError(f"{given} holds no secret that is not accepted already")
    return namespace, found


def _tree_file(store: Store, path: str) -> bytes:
    try:
        return read_file(store.path / path)
    except OSError as error:
        raise NotFound(f"there is no file {path} in this store") from error


def _source_file(store: Store, path: str) -> tuple[Namespace, bytes]:
    name, _, inner = path.partition("/")
    for root in Roots(store).all():
        if root.name == name:
            outcome = read_stable(root.path, inner, root.options.max_size)
            if isinstance(outcome, Content):
                return root.namespace, outcome.data
    raise NotFound(f"{path} is no file of a source here, and none of tree/; see pcpfs status --all")
