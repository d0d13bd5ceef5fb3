"""What the paths of a store are to a merge, and whether a file is what its name says."""

from __future__ import annotations

import hashlib
from enum import Enum

from pcpfs.errors import PcpfsError
from pcpfs.model.codec import decode
from pcpfs.model.ids import ChangeId, RevisionId
from pcpfs.model.names import SCOPE_FOLDERS
from pcpfs.store import layout
from pcpfs.store.config import GENERATED


class Kind(Enum):
    """`TRUTH` is written once and united; `TREE` and `GENERATED` are made anew; what is `OTHER`
    only a person can merge."""

    TRUTH = "truth"
    TREE = "tree"
    GENERATED = "generated"
    OTHER = "other"


def kind_of(path: str) -> Kind:
    """The kind of a path of the store."""
    if path in GENERATED:
        return Kind.GENERATED
    top, *parts = path.split("/")
    folder = next((part for part in parts[:-1] if part in SCOPE_FOLDERS), None)
    if top != layout.SCOPES or folder is None:
        return Kind.OTHER
    return Kind.TREE if folder == "tree" else Kind.TRUTH


def is_record(path: str) -> bool:
    """Whether it is a change or a revision, which go only with an erasure, or such a receipt."""
    if layout.receipt_of(path):
        return True
    return layout.is_change(path) or path.rpartition("/")[2].startswith("rev_")


def fits(path: str, raw: bytes) -> bool:
    """Whether the bytes are what the name of a file of the truth says."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".json")
    if "/payloads/" in f"{folder}/":
        return hashlib.sha256(raw).hexdigest() == name
    if layout.segment_of(path):
        return hashlib.sha256(raw).hexdigest() == name.removesuffix(".jsonl")
    if ChangeId.pattern.fullmatch(stem):
        return ChangeId.of(raw) == stem
    if RevisionId.pattern.fullmatch(stem):
        return RevisionId.of(raw) == stem
    try:
        decode(raw, path)
    except PcpfsError:
        return not name.endswith(".json")
    return True
