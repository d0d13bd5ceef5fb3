"""A test that does not run says why, and nothing is expected to fail."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
NEVER = {"importorskip", "xfail"}
WITH_REASON = {"skip", "skipif"}


def silent_skips(source: str) -> list[int]:
    """Lines that skip a test without a reason, or expect it to fail."""
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    told = {id(call.func) for call in calls if gives_a_reason(call)}
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "pytest"
        for alias in node.names
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) or getattr(node, "id", None) in imported)
        and isinstance(node, ast.expr)
        and (name_of(node) in NEVER or (name_of(node) in WITH_REASON and id(node) not in told))
    ]


def name_of(node: ast.expr) -> str:
    """The last name of `pytest.mark.skipif` or of an imported `skip`; others are not asked."""
    if isinstance(node, ast.Name):
        return node.id
    owner = node.value if isinstance(node, ast.Attribute) else None
    last = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return node.attr if isinstance(node, ast.Attribute) and last in ("pytest", "mark") else ""


def gives_a_reason(call: ast.Call) -> bool:
    said = {key.arg for key in call.keywords} & {"reason", "msg"}
    return bool(said) or (name_of(call.func) == "skip" and bool(call.args))


def test_no_test_is_skipped_silently_or_expected_to_fail() -> None:
    found = [
        f"{path.relative_to(CHECKOUT)}:{line}"
        for root in ("tests", "conformance")
        for path in sorted((CHECKOUT / root).rglob("*.py"))
        for line in silent_skips(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "pytest.skip()",
        "@pytest.mark.skipif(True)\ndef test_x(): ...",
        "@pytest.mark.skip\ndef test_x(): ...",
        "@pytest.mark.xfail(reason='later')\ndef test_x(): ...",
        "from pytest import importorskip\nimportorskip('x')",
    ],
)
def test_a_silent_skip_is_found(source: str) -> None:
    assert silent_skips(source)


@pytest.mark.parametrize(
    "source", ["pytest.skip('no FUSE here')", "pytest.mark.skipif(True, reason='root')", "a.skip"]
)
def test_a_skip_with_a_reason_is_fine(source: str) -> None:
    assert silent_skips(source) == []
