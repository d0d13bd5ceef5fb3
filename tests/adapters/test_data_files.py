"""Data files tell their uppermost keys, and only so many: they must not drown an index."""

from __future__ import annotations

import json

import pytest
from pcpfs_adapters.installed import builtin

from pcpfs.model.frames import Extraction


def seen(path: str, source: str) -> Extraction:
    return builtin().for_source(path, b"").extract(source.encode())


def names(extraction: Extraction) -> list[str]:
    return [symbol.qualified_name for symbol in extraction.symbols]


def test_two_levels_of_keys_are_told() -> None:
    deep = {"a": {"b": {"c": {"d": 1}}}, "list": [{"e": 1}]}
    assert names(seen("a.json", json.dumps(deep))) == ["a", "a.b", "list"]
    assert names(seen("a.yaml", "a:\n  b:\n    c: 1\nlist:\n  - e: 1\n")) == ["a", "a.b", "list"]
    assert names(seen("a.toml", "[a]\nb.c = 1\n[x.y.z]\nd = { e = 1 }\n")) == [
        "a",
        "a.b.c",
        "x.y.z",
        "x.y.z.d",
    ]


def test_a_lock_file_tells_its_outermost_keys_only() -> None:
    lock = {"name": "x", "packages": {f"node_modules/p{n}": {"version": "1"} for n in range(200)}}
    extraction = seen("package-lock.json", json.dumps(lock, indent=1))
    assert names(extraction) == ["name", "packages"]
    assert extraction.limits == (), "by design: `status` need not name it"
    assert extraction.notes == ("of 202 definitions the 200 outermost at most are told",)


def test_of_very_many_outermost_keys_the_first_are_told() -> None:
    extraction = seen("a.yml", "".join(f"k{n}: {n}\n" for n in range(1000)))
    assert len(extraction.symbols) == 200
    assert extraction.notes == ("of 1000 definitions the 200 outermost at most are told",)


@pytest.mark.parametrize("path", ["a.json", "a.yaml", "a.toml"])
def test_large_data_is_not_parsed(path: str) -> None:
    extraction = seen(path, "[" * 300_000)
    assert (extraction.symbols, extraction.notes) == ((), ("too large to tell its keys",))


def test_text_around_keys_does_not_matter() -> None:
    commented = '// why\n{\n  /* x */ "a": 1,\n  "b": 2,\n}\n'
    assert names(seen("tsconfig.json", commented)) == ["a", "b"]
    assert names(seen("a.json", "")) == []
    assert names(seen("a.json", '[{"a": 1}]')) == []
    assert names(seen("k8s.yml", "---\nkind: A\n---\nkind: B\n")) == ["kind", "kind"]
