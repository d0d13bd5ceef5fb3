"""How two catalogs differ; in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pcpfs.model.answers import Problem
from pcpfs.store.catalogs.catalog import NOT_OF_FILES, TABLES, Catalog

_MOST = 20

_Row = tuple[Any, ...]


def differences(kept: Catalog, fresh: Catalog) -> Iterator[Problem]:
    """What the kept catalog says otherwise than the fresh one; the first few of each table."""
    for table, key in (*((table, key) for table, _, key in TABLES), ("frame", "frame_id")):
        if table not in NOT_OF_FILES:
            found = (
                row[0].strip("'") for row in _unequal(_sorted(kept, table), _sorted(fresh, table))
            )
            for name in islice(dict.fromkeys(islice(found, 2 * _MOST)), _MOST):
                message = f"the catalog is wrong about {key.split(',')[0]} {name} ({table})"
                yield Problem("catalog", name, f"{message}; run pcpfs reindex")


def _sorted(catalog: Catalog, table: str) -> Iterator[_Row]:
    """The rows, each by what it looks like: damage may put any type into any column."""
    columns = [f"quote({row[1]})" for row in catalog.query(f"PRAGMA table_info({table})")]
    places = ", ".join(map(str, range(1, len(columns) + 1)))
    return catalog.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {places}")


def _unequal(ours: Iterator[_Row], theirs: Iterator[_Row]) -> Iterator[_Row]:
    """Rows of one sorted side that the other lacks."""
    left, right = next(ours, None), next(theirs, None)
    while left is not None or right is not None:
        if left == right:
            left, right = next(ours, None), next(theirs, None)
        elif right is None or (left is not None and left < right):
            assert left is not None
            yield left
            left = next(ours, None)
        else:
            yield right
            right = next(theirs, None)
