"""Tests and generated sources are told by their paths."""

from __future__ import annotations

import pytest

from pcpfs.model.marks import is_generated, is_test, ranks_lower


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "a/test/b.js",
        "test_a.py",
        "a/conftest.py",
        "a_test.go",
        "a.spec.ts",
        "web/__tests__/a.tsx",
        "src/test/java/A.java",
        "src/NoteTest.java",
        "go/testdata/x.json",
    ],
)
def test_these_are_tests(path: str) -> None:
    assert is_test(path)
    assert not is_generated(path)
    assert ranks_lower(path)


@pytest.mark.parametrize(
    "path",
    [
        "static/jquery.min.js",
        "a_pb2.py",
        "a.pb.go",
        "package-lock.json",
        "poetry.lock",
        "pnpm-lock.yaml",
        "go.sum",
        "zz_generated.deepcopy.go",
        "lib/a.g.dart",
        "Form.Designer.cs",
        "dist/a.js.map",
        "generated/a.ts",
    ],
)
def test_these_are_generated(path: str) -> None:
    assert is_generated(path)
    assert not is_test(path)
    assert ranks_lower(path)


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "contest/a.py",
        "latest.py",
        "src/Latest.java",
        "src/Protest.java",
        "minute.js",
        "test.md",
        "spec/pcp.md",
        "package.json",
        "min.py",
        "map/a.py",
        "attestation.go",
        "clock.py",
    ],
)
def test_these_are_neither(path: str) -> None:
    assert not is_test(path)
    assert not is_generated(path)


@pytest.mark.parametrize("path", ["vendor/a.go", "locale/de.po", "node_modules/a.js", "spec/a.md"])
def test_what_others_wrote_comes_after_the_rest_too(path: str) -> None:
    assert ranks_lower(path)
