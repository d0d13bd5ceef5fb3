"""The protocol's own data, beside the checkout where there is any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[3] / "shared" / "spec" / "cgp-data"

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the protocol's data is not beside this checkout"
)


def vectors() -> list[bytes]:
    """The reference vectors, as lines."""
    return (DATA / "reference-vectors.ndjson").read_bytes().splitlines(keepends=True)


def session() -> list[bytes]:
    """The lines of a whole conversation."""
    return (DATA / "full-stdio-session.ndjson").read_bytes().splitlines(keepends=True)


def messages() -> list[dict[str, Any]]:
    """The example messages."""
    found: list[dict[str, Any]] = json.loads((DATA / "reference-messages.json").read_bytes())
    return found


def schema() -> dict[str, Any]:
    """The JSON Schema of an envelope, without `type: verify` lacking its id.

    The strict profile lists no `id` for verify and verified, which rule H4 wants echoed.
    """
    found: dict[str, Any] = json.loads((DATA / "contextgraph-envelope.schema.json").read_bytes())
    for name in ("Verify", "Verified"):
        found["$defs"][name]["properties"]["id"] = {"type": "string"}
    return found
