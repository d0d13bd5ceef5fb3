"""Reading one file: whole, quiet, and never outside the root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.ids import Digest
from pcpfs.sources.reading import is_binary, read_stable
from pcpfs.sources.scanned import Content, Gone, Reason, Skipped

LIMIT = 1_000_000


def refusal(root: Path, path: str) -> Reason:
    outcome = read_stable(root, path, LIMIT)
    assert isinstance(outcome, Skipped)
    return outcome.reason


def test_the_bytes_come_with_their_digest_and_the_stat_they_had(root: Path) -> None:
    (root / "a").mkdir()
    (root / "a/b.py").write_bytes(b"x\r\n\xff")
    outcome = read_stable(root, "a/b.py", LIMIT)
    assert isinstance(outcome, Content)
    assert outcome.data == b"x\r\n\xff"
    assert outcome.candidate.digest == Digest.of(b"x\r\n\xff")
    assert outcome.candidate.stat.mtime_ns == (root / "a/b.py").stat().st_mtime_ns


def test_a_missing_file_is_gone_also_when_its_directory_is(root: Path) -> None:
    (root / "file").write_text("")
    for path in ("a", "b/c", "file/d"):
        assert read_stable(root, path, LIMIT) == Gone(path)


def test_links_in_any_part_of_the_path_are_refused(root: Path) -> None:
    (root.parent / "secret").write_text("s")
    (root / "link").symlink_to("../secret")
    (root / "up").symlink_to("..")
    assert refusal(root, "link") is Reason.LINK
    outcome = read_stable(root, "up/secret", LIMIT)
    assert isinstance(outcome, Gone | Skipped)


def test_a_pipe_is_never_waited_for(root: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "folder").mkdir()
    assert refusal(root, "fifo") is Reason.SPECIAL
    assert refusal(root, "folder") is Reason.SPECIAL


def test_a_file_that_outgrew_the_limit_after_the_scan_is_too_large(root: Path) -> None:
    (root / "a").write_bytes(b"x" * (LIMIT + 1))
    assert refusal(root, "a") is Reason.TOO_LARGE


def test_a_file_that_may_not_be_read_is_unreadable(bound_root: Path) -> None:
    (bound_root / "a").write_text("x")
    (bound_root / "a").chmod(0)
    assert refusal(bound_root, "a") is Reason.UNREADABLE


APPEND = """
import sys
with open(sys.argv[1], "ab", buffering=0) as file:
    print("begun", flush=True)
    while True:
        file.write(b"line\\n")
"""


@contextmanager
def _written_to(path: Path) -> Iterator[None]:
    """Another process appends to the file all the time."""
    command = [sys.executable, "-c", APPEND, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        try:
            yield
        finally:
            writer.kill()


def test_what_is_read_while_a_writer_is_at_work_is_whole_or_named_as_changing(root: Path) -> None:
    path = root / "log"
    path.write_bytes(b"line\n" * 2_000_000)
    with _written_to(path):
        outcomes = [read_stable(root, "log", 500_000_000) for _ in range(8)]
    for outcome in outcomes:
        if isinstance(outcome, Content):
            assert len(outcome.data) == outcome.candidate.stat.size
        else:
            assert isinstance(outcome, Skipped)
            assert outcome.reason is Reason.CHANGING


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", False),
        (b"text\xff\xfe", False),
        (b"a\0b", True),
        (b"a\0b\0c\0d\0e", True),
        (b"\x7fELF\x02\x01\x01\0", True),
        ("text é 数".encode("utf-16"), False),
        ("text é 数".encode("utf-16-le"), False),
        ("text\r\n".encode("utf-16-be"), False),
        ("long 😀 text".encode("utf-16-le")[:12], False),
        (b"\xff\xfe" + b"a\0" * 4 + b"\0\0", True),
        ("text".encode("utf-32"), True),
        (bytes(64), True),
        (b"\1\0\2\0\3\0", True),
    ],
)
def test_text_is_told_from_binaries(head: bytes, expected: bool) -> None:
    assert is_binary(head) is expected


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_all_text_in_utf8_and_in_marked_utf16_is_text(text: str) -> None:
    assert not is_binary(text.encode())
    assert not is_binary(text.encode("utf-16"))


@given(st.binary(max_size=200))
def test_any_bytes_have_an_answer(head: bytes) -> None:
    assert is_binary(head) in (True, False)
