"""Where everything lies in a store: pure functions from ids to relative paths with `/`.

Shards come from an evenly spread part of the name, two small levels, so that what a commit costs
git does not grow with the store.
"""

from __future__ import annotations

import re

from pcpfs.errors import InvalidName
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId
from pcpfs.model.names import Namespace

CONFIG = "pcpfs.toml"
SCOPES = "scopes"
DISPOSABLE = ".pcpfs"
KEPT_THREADS = f"{DISPOSABLE}/ledger"
LEDGER_LOCK = "ledger-lock"
"""Whoever writes what is kept of threads holds it."""
ERASING = "erasing.json"
"""The erasure that is under way."""
PACK_LOCK = "pack-lock"
"""Whoever packs git's objects, or removes some, holds it."""
"""What is kept of threads, so that questions are fast; it holds words of their entries."""
LOCAL = "pcpfs"
"""The folder below the common git directory for what is neither shared nor derivable."""

_PAGE_FILE = re.compile(
    r"(?P<scope>scopes/.+)/pages/[^/]/[^/]/(?P<page>pg_[^/]+)/(?P<file>(?:chg|rev)_[0-9a-f]+)\.json"
)
_SEGMENT = re.compile(
    r"(?P<scope>scopes/.+)/events/(?P<a>[0-9a-f]{2})/(?P<b>[0-9a-f])/(?P=a)(?P=b)[0-9a-f]{61}\.jsonl"
)
_RECEIPT = re.compile(r"(?P<scope>scopes/.+)/erased/(?P<page>pg_[^/]+)\.json")
_PAYLOAD = re.compile(r"(?P<scope>scopes/.+)/payloads/[0-9a-f]{2}/[0-9a-f]/(?P<hex>[0-9a-f]{64})")
_SCOPE_FILE = re.compile(r"(?P<scope>scopes/.+)/scope/(?P<file>chg_[0-9a-f]+)\.json")


def page_folder(namespace: Namespace, page: PageId) -> str:
    return f"{namespace.folder}/pages/{page[-2]}/{page[-1]}/{page}"


def change_file(namespace: Namespace, page: PageId | None, change: ChangeId) -> str:
    folder = f"{namespace.folder}/scope" if page is None else page_folder(namespace, page)
    return f"{folder}/{change}.json"


def revision_file(namespace: Namespace, page: PageId, revision: RevisionId) -> str:
    return f"{page_folder(namespace, page)}/{revision}.json"


def payload_file(namespace: Namespace, digest: Digest) -> str:
    return f"{namespace.folder}/payloads/{_shard(digest)}"


def frames_file(namespace: Namespace, digest: Digest, adapter_tag: str) -> str:
    return f"{namespace.folder}/frames/{_shard(digest)}.{adapter_tag}.json"


def segment_file(namespace: Namespace, digest: Digest) -> str:
    return f"{namespace.folder}/events/{_shard(digest)}.jsonl"


def tree_file(namespace: Namespace, path: str) -> str:
    return f"{namespace.folder}/tree/{path}"


def receipt_file(namespace: Namespace, page: PageId) -> str:
    return f"{namespace.folder}/erased/{page}.json"


def is_change(path: str) -> bool:
    """Whether a path of the store is a change, or a segment of events, by its name."""
    return path.rpartition("/")[2].startswith("chg_") or path.endswith(".jsonl")


def _shard(digest: Digest) -> str:
    return f"{digest.hex[:2]}/{digest.hex[2]}/{digest.hex}"


def namespace_of(scope_folder: str) -> Namespace:
    """The namespace of `scopes/project/formal-math`."""
    return Namespace(scope_folder.removeprefix(SCOPES + "/").replace("/", ":"))


def page_of(path: str) -> tuple[Namespace, PageId] | None:
    """Whose change or revision a path is; None for every other path."""
    match = _PAGE_FILE.fullmatch(path)
    try:
        return match and (namespace_of(match["scope"]), PageId(match["page"]))
    except InvalidName:
        return None  # a stray file that looks like one of ours


def receipt_of(path: str) -> tuple[Namespace, PageId] | None:
    """Of which page a path is the receipt of its erasure; None for every other path."""
    match = _RECEIPT.fullmatch(path)
    try:
        return match and (namespace_of(match["scope"]), PageId(match["page"]))
    except InvalidName:
        return None


def scope_of(path: str) -> Namespace | None:
    """Of which scope a path is a change; None for every other path."""
    match = _SCOPE_FILE.fullmatch(path)
    try:
        return match and namespace_of(match["scope"])
    except InvalidName:
        return None


def payload_of(path: str) -> tuple[Namespace, Digest] | None:
    """Of which scope and sha256 a path is a payload; None for every other path."""
    match = _PAYLOAD.fullmatch(path)
    try:
        return match and (namespace_of(match["scope"]), Digest("sha256:" + match["hex"]))
    except InvalidName:
        return None


def segment_of(path: str) -> Namespace | None:
    """Of which scope a path holds events; None for every other path."""
    match = _SEGMENT.fullmatch(path)
    try:
        return match and namespace_of(match["scope"])
    except InvalidName:
        return None
