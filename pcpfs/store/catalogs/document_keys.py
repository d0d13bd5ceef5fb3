"""The keys of the documents of symbols: equal for symbols that the text indexes are told the same
of. Pure."""

from __future__ import annotations

import hashlib

from pcpfs.store.catalogs.rows import FrameRow

GENERATED_KEY = "~"
"""The end of the keys of symbols in a source that says of itself that a program made it: it changes
what their documents are worth."""


def document_key(
    frame_id: str, digest: str, signature: str, doc: str, *, outside: bytes, is_generated: bool
) -> str:
    """From the frame and all that its document says, documentation that lies `outside` of it
    included."""
    hasher = hashlib.sha256(f"{digest}\n{signature}\n{doc}".encode())
    hasher.update(outside)
    return f"{frame_id}.{hasher.hexdigest()[:16]}{GENERATED_KEY if is_generated else ''}"


def without_bytes(frame: FrameRow) -> FrameRow:
    """The row of a frame once the bytes of its version are gone: nobody knows any more what lay
    outside of it."""
    if frame.doc_key is None:
        return frame
    key = document_key(
        frame.frame_id,
        frame.digest,
        frame.signature,
        frame.doc,
        outside=b"",
        is_generated=frame.doc_key.endswith(GENERATED_KEY),
    )
    return frame._replace(doc_key=key)
