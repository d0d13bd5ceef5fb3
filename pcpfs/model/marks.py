"""What the path of a source says of it: a test, or made by a program. Pure; by the usual signs."""

from __future__ import annotations

import re

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|fixtures|testdata)/"
    r"|(^|/)(test_[^/]*|conftest\.py|[^/]*(_test|_spec|\.test|\.spec)\.[^/.]+)$"
    r"|(?-i:[a-z0-9]Tests?\.(java|kt|cs|scala|swift|php)$)",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"(^|/)generated/"
    r"|[^/](\.min|_pb2|_pb2_grpc|\.pb|\.generated|_generated|\.g|\.designer)\.[^/.]+$"
    r"|(^|/)(zz_generated[^/]*|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$"
    r"|\.(lock|map)$",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"(^|/)(vendor|third_party|node_modules)/|\.(po|svg)$", re.IGNORECASE)
_PROSE = (".md", ".rst", ".txt", ".adoc")


def is_test(path: str) -> bool:
    """Whether a source is a test or belongs to tests. Prose beside them is none."""
    return _TEST.search(path) is not None and not path.lower().endswith(_PROSE)


def is_generated(path: str) -> bool:
    """Whether a program made a source: a lock file, what was packed or compiled to source."""
    return _GENERATED.search(path) is not None


def ranks_lower(path: str) -> bool:
    """Whether a source comes after the rest: tests, what was generated, what others wrote,
    catalogues of translations and drawings."""
    return any(sign.search(path) is not None for sign in (_TEST, _GENERATED, _FOREIGN))
