"""Payloads that lie elsewhere (PCP-P2): read where they are, and only if they are what was named.

Files of this machine are looked at, for the owner of the store alone: a reference may have come
with somebody else's page, and another principal must learn nothing of the owner's disk. Nothing
is fetched over a network.
"""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit

from pcpfs.disk import Disk
from pcpfs.errors import Conflict, PcpfsError, Unavailable, UsageError
from pcpfs.model.ids import Digest
from pcpfs.model.pages import ContentRef


def bytes_of(reference: ContentRef, disk: Disk, *, is_owner: bool) -> bytes:
    """The bytes behind a reference. Unavailable where they cannot be looked at, Conflict where
    others are there now."""
    path = local_path(reference.uri)
    if path is None or not is_owner:
        raise Unavailable(
            f"the payload lies elsewhere, and is not read from here: {reference.uri} "
            f"({reference.size} bytes, {reference.digest})",
            content_ref=reference.to_json(),
        )
    try:
        if not os.path.isfile(path) or os.path.getsize(path) != reference.size:
            raise _others_there(reference, path)
        raw = disk.read(path)
    except (OSError, PcpfsError) as error:
        if isinstance(error, Conflict):
            raise
        raise Unavailable(f"the payload is not there now: {path}") from error
    if Digest.of(raw) != reference.digest:
        raise _others_there(reference, path)
    return raw


def looked_up(
    uri: str, digest: str | None, size: int | None, media_type: str, disk: Disk
) -> ContentRef:
    """A reference to what is there now, checked against what was given. Of what cannot be read
    digest and size have to be given."""
    path = local_path(uri)
    if path is None or not os.path.isfile(path):
        if digest is None or size is None:
            raise UsageError(f"{uri} cannot be read here; say what it holds: --digest and --size")
        return ContentRef(uri, Digest(digest), size, media_type)
    raw = disk.read(path)
    found = ContentRef(uri, Digest.of(raw), len(raw), media_type)
    if digest not in (None, found.digest) or size not in (None, found.size):
        raise Conflict(
            f"{path} is not what you say: it has {found.size} bytes and {found.digest}",
            digest=found.digest,
            size=found.size,
        )
    return found


def local_path(uri: str) -> str | None:
    """The path of a `file:` URI of this machine; None for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return unquote(parts.path, errors="surrogateescape")


def _others_there(reference: ContentRef, path: str) -> Conflict:
    if not os.path.exists(path):
        raise Unavailable(f"the payload is not there now: {path}")
    return Conflict(
        f"{path} holds other bytes now than the {reference.size} of {reference.digest}",
        digest=reference.digest,
    )
