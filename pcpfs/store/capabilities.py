"""What this store can do (PCP DescribeCapabilities)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from pcpfs.model.pages import EPISTEMIC
from pcpfs.model.requests import MODES, MOST_RESULTS, PROJECTIONS, Filters
from pcpfs.store.config import POLICIES
from pcpfs.store.exchanges.bundles import MOST_BYTES
from pcpfs.store.searches.graph import DEEPEST
from pcpfs.store.searches.suppressions import KEPT_DAYS


def capabilities() -> Mapping[str, object]:
    """The same for every principal; nothing that depends on what the store holds."""
    return {
        "search_modes": list(MODES),
        "absent_search_modes": ["semantic", "hybrid"],
        "projections": list(PROJECTIONS),
        "filters": [field.name for field in fields(Filters)],
        "scope_types": "open",
        "policies": list(POLICIES),
        "limits": {
            "results": MOST_RESULTS,
            "bundle_bytes": MOST_BYTES,
            "relation_depth": DEEPEST,
            "payload_bytes": None,
        },
        "paging": "cursor",
        "relation_types": "open",
        "relation_extensions": ["to_frame", "to_digest"],
        "schema_extensions": ["content_ref", "event", "salt"],
        "epistemic_fields": list(EPISTEMIC),
        "suppression_days": KEPT_DAYS,
        "conflict_detection": True,
        "ingestion": True,
        "durable_deletion": True,
    }
