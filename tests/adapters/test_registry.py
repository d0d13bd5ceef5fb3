"""Which adapter a file gets."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from pcpfs_adapters.installed import builtin

POINTER = b"""\
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""


@pytest.mark.parametrize(
    ("path", "head", "name"),
    [
        ("a/b.py", b"", "python"),
        ("A.PY", b"", "python"),
        ("a.d.ts", b"", "typescript"),
        ("a.tsx", b"", "tsx"),
        ("a.test.mjs", b"", "javascript"),
        ("Rakefile", b"", "ruby"),
        (".bashrc", b"", "bash"),
        ("README.md", b"", "markdown"),
        ("a.h", b"int f(void);\n", "c"),
        ("a.h", b"#pragma once\nnamespace a {}\n", "cpp"),
        ("a.h", b"//===- a.h --*- C++ -*-===//\n", "cpp"),
        ("Dockerfile", b"", "dockerfile"),
        ("Dockerfile.dev", b"", "dockerfile"),
        ("Dockerfile.md", b"", "markdown"),
        ("docs/Makefile", b"", "make"),
        ("Makefile.am", b"", "make"),
        ("package.json", b"", "json"),
        (".github/workflows/ci.yml", b"", "yaml"),
        ("run", b"#!/usr/bin/env python3.11\n", "python"),
        ("run", b"#!/usr/bin/env -S LANG=C node --x\n", "javascript"),
        ("run", b"\xef\xbb\xbf#! /bin/sh -e\r\n", "bash"),
        ("run", b"#!\n", "text"),
        ("run", b"#!/usr/bin/env\n", "text"),
        ("run", b"#!/usr/bin/perl\n", "text"),
        ("notes.txt", b"#!/bin/sh\n", "text"),
        ("no suffix", b"plain", "text"),
        ("model.py", POINTER, "git_lfs"),
        ("model.bin", POINTER.rstrip(), "git_lfs"),
        ("model.py", POINTER + b"x = 1\n", "python"),
        ("about.txt", POINTER.replace(b"sha256:4d", b"md5:"), "text"),
        ("", b"", "text"),
        ("py", b"", "text"),
        ("folder.py/data", b"", "text"),
        ("bad\udcff.py", b"", "python"),
        ("bad\udcff", b"\xff\xfe\0", "text"),
    ],
)
def test_a_file_gets_its_adapter(path: str, head: bytes, name: str) -> None:
    assert builtin().for_source(path, head).name == name


def test_every_adapter_is_found_by_its_tag() -> None:
    registry = builtin()
    for adapter in registry.all():
        assert registry.by_tag(f"{adapter.name}-{adapter.version}") is adapter
    for tag in ("python-0", "python", "", "-1", "python-1-1", "no_such-1"):
        assert registry.by_tag(tag) is None


def test_no_two_adapters_claim_the_same_file() -> None:
    claimed = [end for a in builtin().all() for end in (*a.suffixes, *a.filenames)]
    assert len(claimed) == len(set(claimed))


def test_the_entry_point_gives_the_registry_each_time() -> None:
    (point,) = entry_points(group="pcpfs.adapters", name="builtin")
    first, second = point.load()(), point.load()()
    assert len(first.all()) == len(second.all()) > 10


def test_a_registry_reaches_a_worker_process() -> None:
    registry = builtin()
    used = registry.for_source("a.py", b"")
    seen = used.extract(b"def f(): pass\n")
    copy = pickle.loads(pickle.dumps(registry))
    assert copy.for_source("a.py", b"").extract(b"def f(): pass\n") == seen


def test_choosing_an_adapter_loads_no_grammar() -> None:
    program = (
        "import sys, pcpfs_adapters; r = pcpfs_adapters.registry(); r.for_source('a.py', b'');"
        "r.for_source('a.md', b'').extract(b'# A'); print('tree_sitter' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.split() == [b"False"]
