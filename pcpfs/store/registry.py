"""The adapters that are installed, found by entry point; the core imports none of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

from pcpfs.errors import Unavailable
from pcpfs.ports import Adapter, AdapterRegistry

_BUILTIN = "builtin"


class Chain:
    """Several registries as one: the first that knows more of a file than its suffixless text.

    `registries` has at least one; the last one also takes what nobody claims.
    """

    def __init__(self, registries: Sequence[AdapterRegistry]) -> None:
        self._registries = tuple(registries)

    def for_source(self, path: str, head: bytes) -> Adapter:
        for registry in self._registries[:-1]:
            adapter = registry.for_source(path, head)
            if adapter.suffixes or adapter.filenames:
                return adapter
        return self._registries[-1].for_source(path, head)

    def by_tag(self, tag: str) -> Adapter | None:
        found = (registry.by_tag(tag) for registry in self._registries)
        return next((adapter for adapter in found if adapter is not None), None)

    def all(self) -> tuple[Adapter, ...]:
        return tuple(adapter for registry in self._registries for adapter in registry.all())


def installed_registry() -> AdapterRegistry:
    """All installed adapters; those of other packages are asked before the builtin ones."""
    points = sorted(
        entry_points(group="pcpfs.adapters"), key=lambda point: (point.name == _BUILTIN, point.name)
    )
    if not points:
        raise Unavailable("no adapters are installed; install pcpfs with all its packages")
    registries: list[AdapterRegistry] = [point.load()() for point in points]
    return registries[0] if len(registries) == 1 else Chain(registries)
