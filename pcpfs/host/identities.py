"""Identities of frames, and the order in which everything canonical stands (D1)."""

from __future__ import annotations

from pcpfs.model.cgp import ContextFrame, Identity

Order = tuple[bytes, bytes, bytes]


def identity_of(provider: str, frame: ContextFrame) -> Identity:
    """What names the exact content of a frame, under the host's name for the provider."""
    return Identity(provider_id=provider, frame_id=frame.id, content_digest=frame.content_digest)


def order_of(identity: Identity) -> Order:
    """The canonical order: bytes of provider, frame, digest; an absent digest comes first."""
    return (
        identity.provider_id.encode("utf-8", "surrogatepass"),
        identity.frame_id.encode("utf-8", "surrogatepass"),
        (identity.content_digest or "").encode("utf-8", "surrogatepass"),
    )
