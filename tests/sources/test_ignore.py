"""Ignore rules say what git says."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.sources.ignore import Ignores, RuleFile, parse_pattern


def ignored(rules: str | bytes, path: str | bytes, directory: bool = False) -> bool:
    content = rules.encode() if isinstance(rules, str) else rules
    raw = os.fsencode(path)
    pattern = RuleFile.parse(".gitignore", content).decides(raw, raw.rpartition(b"/")[2], directory)
    return pattern is not None and not pattern.negated


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("*.pyc", "a/b.pyc", True),
        ("*.pyc", "a/b.py", False),
        ("/build", "build", True),
        ("/build", "a/build", False),
        ("a/b", "a/b", True),
        ("a/b", "x/a/b", False),
        ("**/b", "x/y/b", True),
        ("**/b", "b", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("a*c", "abc", True),
        ("/a*c", "a/c", False),
        ("?", "é", False),
        ("??", "é", True),
        ("[a-c]", "b", True),
        ("[!a-c]", "b", False),
        ("[]]", "]", True),
        ("[[:digit:]]x", "7x", True),
        ("[a", "[a", False),
        ("x\\", "x\\", False),
        (r"\#c", "#c", True),
        ("#c", "#c", False),
        (r"\!c", "!c", True),
        ("*\n!keep", "keep", False),
        ("!keep\n*", "keep", True),
        ("x  ", "x", True),
        ("x\\ ", "x ", True),
        ("x\r\n", "x", True),
        ("\ufeffx", "x", True),
        ("*.txt", "a\nb.txt", True),
        ("b", "a\nb", False),
        ("a\u2028b", "a\u2028b", True),
        ("", "x", False),
        ("/", "x", False),
    ],
)
def test_a_rule_says_what_git_says(rules: str, path: str, expected: bool) -> None:
    assert ignored(rules, path) is expected


def test_a_rule_for_directories_leaves_files_alone() -> None:
    assert ignored("build/", "build", directory=True)
    assert not ignored("build/", "build")


def test_names_that_are_not_utf8_are_matched_byte_for_byte() -> None:
    assert ignored(b"*\xff", b"a\xff")
    assert not ignored(b"*\xff", b"a\xfe")


def test_hostile_patterns_are_answered_at_once() -> None:
    name = "a" * 250
    assert not ignored("*a" * 60 + "b", name)
    assert not ignored("/" + "**/a/" * 40 + "b", "/".join(["a"] * 500))


def test_rules_nearer_to_a_file_win_and_ours_win_over_all() -> None:
    outer = Ignores().below("", None, [RuleFile.parse(".gitignore", b"*.log\n")])
    inner = outer.below("docs", None, [RuleFile.parse("docs/.gitignore", b"!keep.log\n")])
    ours = inner.below("docs/x", RuleFile.parse("docs/x/.pcpfsignore", b"keep.log\n"), [])
    assert outer.why("keep.log", False) == "by .gitignore: *.log"
    assert inner.why("docs/keep.log", False) is None
    assert ours.why("docs/x/keep.log", False) == "by docs/x/.pcpfsignore: keep.log"


@given(st.binary(max_size=40))
def test_any_line_is_a_rule_or_nothing(line: bytes) -> None:
    pattern = parse_pattern(line)
    if pattern is not None:
        RuleFile("x", [pattern]).decides(b"a/b", b"b", False)


NAMES = ["a", "b", "foo", "bar.py", "x y", "a\nb", "foo\n", "é", "[x]", "!a", "#c", "a*b", "foo "]
PARTS = [
    *("a", "b", "foo", "*.py", "*", "**", "f*", "[ab]", "?", "foo ", "foo\\ ", "\\!a", "\\#c"),
    *("#c", "[!a]", "[^ab]*", "[]a]", "[[:alpha:]]*", "a\\*b", "*a*b*", "*o*", "\\", "é"),
    *("[a-c]", "[\\]a]*", "[z-a]", "***", "[a-]", "[!-a]", "[[:foo:]]", "\\f\\o\\o", "a\\"),
]
PATTERNS = st.builds(
    lambda bang, slash, parts, end: bang + slash + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4),
    st.sampled_from(["", "", "", "/", " ", "\r"]),
)
TREES = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), min_size=10, max_size=30)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(TREES, st.lists(PATTERNS, min_size=1, max_size=6), st.booleans())
def test_git_leaves_out_the_same_files_of_random_trees(
    tmp_path: Path, tree: list[list[str]], patterns: list[str], only_some: bool
) -> None:
    patterns = ["*", "!*/", *patterns] if only_some else patterns
    repository = tmp_path / "repository"
    shutil.rmtree(repository, ignore_errors=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    for parts in tree:
        _touch(repository.joinpath(*parts))
    rules = "\n".join(patterns).encode()
    (repository / ".git/info/exclude").write_bytes(rules)
    listed = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "-z", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
    )
    expected = {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
    assert _walked(repository, "", RuleFile.parse("exclude", rules)) == expected


def _touch(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        return  # the tree already has a file where this path wants a directory


def _walked(directory: Path, prefix: str, rules: RuleFile) -> set[str]:
    found: set[str] = set()
    for entry in os.scandir(directory):
        raw = os.fsencode(prefix + entry.name)
        pattern = rules.decides(raw, os.fsencode(entry.name), entry.is_dir())
        if entry.name == ".git" or (pattern is not None and not pattern.negated):
            continue
        if entry.is_dir():
            found |= _walked(Path(entry.path), f"{prefix}{entry.name}/", rules)
        else:
            found.add(prefix + entry.name)
    return found
