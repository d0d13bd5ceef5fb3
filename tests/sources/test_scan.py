"""What a scan takes in and what it leaves out, on real directories."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.model.instants import Instant
from pcpfs.sources.reading import read_stable
from pcpfs.sources.scan import scan, scan_paths
from pcpfs.sources.scanned import Candidate, Content, Gone, Reason, Scan, ScanOptions, Skipped
from pcpfs.sources.statcache import StatCache

OPTIONS = ScanOptions()
LATER = Instant(4_000_000_000_000_000)


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def look(root: Path, options: ScanOptions = OPTIONS, cache: StatCache | None = None) -> Scan:
    return scan(root, options, cache or StatCache())


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Scan) -> dict[str, Reason]:
    return {skip.path: skip.reason for skip in found.skipped}


def settle(root: Path, found: Scan) -> Scan:
    outcomes: dict[str, Candidate | Skipped | Gone] = {}
    for path in found.to_read:
        outcome = read_stable(root, path, OPTIONS.max_size)
        outcomes[path] = outcome.candidate if isinstance(outcome, Content) else outcome
    return found.settled(outcomes)


def test_files_come_sorted_with_their_stat_and_have_to_be_read(root: Path) -> None:
    write(root, {"b.py": "b", "a/z.py": "zz", "a.py": ""})
    found = look(root)
    assert paths(found) == ["a.py", "a/z.py", "b.py"]
    assert found.to_read == ("a.py", "a/z.py", "b.py")
    assert [file.stat.size for file in found.files] == [0, 2, 1]
    assert found.skipped == ()


def test_ignored_files_say_by_which_rule_and_an_ignored_directory_is_one_entry(root: Path) -> None:
    write(
        root,
        {
            ".gitignore": "*.log\nbuild/\n",
            "a.log": "",
            "build/x/y": "",
            "build/z": "",
            "docs/.gitignore": "!keep.log\ndraft\n",
            "docs/keep.log": "",
            "docs/draft": "",
            "docs/.pcpfsignore": "secret*\n",
            "docs/secret.md": "",
        },
    )
    found = look(root)
    assert paths(found) == [".gitignore", "docs/.gitignore", "docs/.pcpfsignore", "docs/keep.log"]
    assert {skip.path: skip.detail for skip in found.skipped} == {
        "a.log": "by .gitignore: *.log",
        "build": "by .gitignore: build/",
        "docs/draft": "by docs/.gitignore: draft",
        "docs/secret.md": "by docs/.pcpfsignore: secret*",
    }
    assert [skip.directory for skip in found.skipped] == [False, True, False, False]


def test_our_rules_can_take_in_what_git_leaves_out(root: Path) -> None:
    write(root, {".gitignore": "*.gen.py", ".pcpfsignore": "!*.gen.py", "a.gen.py": ""})
    assert "a.gen.py" in paths(look(root))


def test_the_exclude_file_of_the_repository_holds_also_in_a_linked_work_tree(root: Path) -> None:
    main = root / "main"
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]

    def git(*arguments: str) -> None:
        subprocess.run(["git", *identity, *arguments], check=True, env=environment)

    git("init", "-q", str(main))
    git("-C", str(main), "commit", "-q", "--allow-empty", "-m", "x")
    git("-C", str(main), "worktree", "add", "-q", str(root / "linked"))
    write(root, {"main/.git/info/exclude": "todo\n", "main/todo": "", "linked/todo": ""})
    assert paths(look(main)) == []
    assert paths(look(root / "linked")) == []


def test_rules_above_the_root_hold_up_to_the_top_of_the_repository(root: Path) -> None:
    write(
        root,
        {
            ".gitignore": "*.everywhere",
            "repo/.git/info/exclude": "",
            "repo/.gitignore": "*.log\n/src/gen/a.py\n",
            "repo/src/gen/a.py": "",
            "repo/src/gen/b.py": "",
            "repo/src/gen/c.log": "",
            "repo/src/gen/d.everywhere": "",
        },
    )
    assert paths(look(root / "repo/src/gen")) == ["b.py", "d.everywhere"]


def test_a_root_that_its_repository_ignores_is_taken_in_since_it_was_named(root: Path) -> None:
    write(
        root,
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".gitignore": "vendor/\n*.log\n",
            "vendor/x/a.py": "",
            "vendor/x/b.log": "",
        },
    )
    assert paths(look(root / "vendor/x")) == ["a.py", "b.log"]


def test_version_control_other_stores_and_bare_repositories_are_left_out(root: Path) -> None:
    write(
        root,
        {
            ".git/config": "",
            "sub/.git": "gitdir: elsewhere\n",
            "sub/a.py": "",
            "store/pcpfs.toml": "",
            "store/scopes/x": "",
            "bare/HEAD": "",
            "bare/objects/x": "",
            "bare/refs/x": "",
            ".jj/x": "",
        },
    )
    found = look(root)
    assert paths(found) == ["sub/a.py"]
    assert reasons(found) == {
        ".git": Reason.VCS,
        ".jj": Reason.VCS,
        "bare": Reason.VCS,
        "store": Reason.STORE,
        "sub/.git": Reason.VCS,
    }


def test_nothing_is_learned_of_a_root_that_is_a_store_itself(root: Path) -> None:
    write(root, {"pcpfs.toml": "", "a.py": ""})
    found = look(root)
    assert found.files == ()
    assert [skip.path for skip in found.unreadable] == [""]


def test_over_size_files_and_exact_exclusions_are_left_out(root: Path) -> None:
    write(root, {"big.txt": "x" * 11, "fits.txt": "x" * 10, "erased.txt": ""})
    options = ScanOptions(max_size=10, exclusions=frozenset(["erased.txt"]))
    found = look(root, options)
    assert paths(found) == ["fits.txt"]
    assert reasons(found) == {"big.txt": Reason.TOO_LARGE, "erased.txt": Reason.EXCLUDED}
    assert found.skipped[0].detail == "11 bytes; the limit is 10"


def test_include_patterns_take_files_directories_and_can_be_negated(root: Path) -> None:
    write(root, {"a.py": "", "a.md": "", "src/x/b.js": "", "src/x/c.min.js": "", "d.js": ""})
    options = ScanOptions(include=("*.py", "src/", "!*.min.js"))
    found = look(root, options)
    assert paths(found) == ["a.py", "src/x/b.js"]
    assert set(reasons(found).values()) == {Reason.NOT_INCLUDED}


def test_links_are_never_followed_whether_they_loop_leave_or_dangle(root: Path) -> None:
    write(root.parent, {"outside/secret": "", "root/a/b.py": "", "rootless/x": ""})
    (root / "loop").symlink_to(".")
    (root / "a/up").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "file").symlink_to("a/b.py")
    (root / "gone").symlink_to("nowhere")
    (root / "out").symlink_to("../outside")
    (root / "abs").symlink_to("/etc/passwd")
    (root / "near").symlink_to("../rootless")
    found = look(root)
    assert paths(found) == ["a/b.py"]
    inside = dict.fromkeys(["loop", "a/up", "self", "file", "gone"], Reason.LINK)
    outside = dict.fromkeys(["out", "abs", "near"], Reason.LINK_LEAVES_ROOT)
    assert reasons(found) == inside | outside


def test_special_files_are_named_and_never_opened(root: Path) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        found = look(root)
    assert reasons(found) == {"fifo": Reason.SPECIAL, "socket": Reason.SPECIAL}
    assert paths(found) == []


@pytest.mark.parametrize(
    "name", [b"a\nb", b"a\tb", b'"q"', b"'", "a\u2028b".encode(), b"\xff\xfe.py", b"\\", b" ", b"-"]
)
def test_odd_names_come_back_as_the_same_bytes(root: Path, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(b"x")
    found = settle(root, look(root))
    assert [os.fsencode(path) for path in paths(found)] == [name]
    cache = StatCache.from_bytes(StatCache().after(found, LATER).to_bytes())
    assert look(root, cache=cache) == found


def test_a_deep_tree_is_walked_and_what_the_system_cannot_name_is_unreadable(root: Path) -> None:
    descriptor = os.open(root, os.O_RDONLY)
    for _ in range(900):
        os.mkdir("deeper", dir_fd=descriptor)
        child = os.open("deeper", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = child
    os.close(os.open("end.py", os.O_CREAT, dir_fd=descriptor))
    os.close(descriptor)
    write(root, {"/".join(["deeper"] * 400) + "/middle.py": ""})
    found = look(root)
    assert paths(found) == ["/".join(["deeper"] * 400) + "/middle.py"]
    assert len(found.unreadable) == 1
    assert found.unreadable[0].detail == "File name too long"
    subprocess.run(["rm", "-rf", str(root)], check=True)


def test_what_may_not_be_read_is_unreadable_and_not_gone(bound_root: Path) -> None:
    write(
        bound_root, {"closed/a.py": "", "listed/b.py": "", "rules/.gitignore": "x", "rules/x": ""}
    )
    (bound_root / "closed").chmod(0)
    (bound_root / "listed").chmod(0o400)
    (bound_root / "rules/.gitignore").chmod(0)
    found = look(bound_root)
    assert found.files == ()
    assert [skip.path for skip in found.unreadable] == ["closed", "listed/b.py", "rules"]


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_root_that_is_not_there_is_unreadable(root: Path, kind: str) -> None:
    root.rmdir()
    if kind == "file":
        root.write_text("")
    found = look(root)
    assert [skip.path for skip in found.unreadable] == [""]
    assert found.device is None


def test_an_empty_root_on_another_device_is_not_mounted(root: Path) -> None:
    write(root, {"a.py": ""})
    full = StatCache().after(settle(root, look(root)), LATER)
    (root / "a.py").unlink()
    assert look(root, cache=full).unreadable == ()
    elsewhere = StatCache({"a.py": entry}, -5) if (entry := full.get("a.py")) else StatCache()
    assert [skip.path for skip in look(root, cache=elsewhere).unreadable] == [""]


def test_an_empty_folder_in_which_another_device_was_mounted_is_unreadable(root: Path) -> None:
    write(root, {"a.py": "", "sub/mnt/b.py": "", "sub/c.py": ""})
    full = StatCache().after(settle(root, look(root)), LATER)
    assert full.mounts == frozenset()
    entries = {path: entry for path in ("a.py", "sub/mnt/b.py") if (entry := full.get(path))}
    mounted = StatCache.of(entries, full.device, {"sub/mnt"})
    assert look(root, cache=mounted).unreadable == ()
    (root / "sub/mnt/b.py").unlink()
    assert [skip.path for skip in look(root, cache=mounted).unreadable] == ["sub/mnt"]
    assert [skip.path for skip in look(root, cache=full).unreadable] == []
    partial = scan_paths(root, ScanOptions(), mounted, ["sub/mnt/b.py"])
    assert [skip.path for skip in partial.unreadable] == ["sub/mnt"]
    (root / "sub/mnt").rmdir()
    assert look(root, cache=mounted).unreadable == ()


def test_a_partial_scan_sees_what_the_whole_one_sees_there(root: Path) -> None:
    write(
        root,
        {
            ".gitignore": "*.log\nskip/\n",
            "a/b/c.py": "",
            "a/b/d.log": "",
            "a/e.py": "",
            "skip/x/y.py": "",
            "z.py": "",
        },
    )
    wanted = ["a/b", "a/b/c.py", "skip/x/y.py", "z.py", "gone/for/good", "a/e.py/below"]
    found = scan_paths(root, OPTIONS, StatCache(), wanted)
    assert paths(found) == ["a/b/c.py", "z.py"]
    assert reasons(found) == {"a/b/d.log": Reason.IGNORED, "skip": Reason.IGNORED}
    assert found.covered == ("a/b", "a/e.py/below", "gone/for/good", "skip/x/y.py", "z.py")


def test_changed_rules_make_a_partial_scan_look_at_their_whole_directory(root: Path) -> None:
    write(root, {"a/.gitignore": "", "a/b.py": "", "c.py": ""})
    found = scan_paths(root, OPTIONS, StatCache(), ["a/.gitignore"])
    assert found.covered == ("a",)
    assert paths(found) == ["a/.gitignore", "a/b.py"]


def test_a_partial_scan_of_nothing_covers_nothing(root: Path) -> None:
    write(root, {"a.py": ""})
    found = scan_paths(root, OPTIONS, StatCache(), [])
    assert (found.files, found.covered) == ((), ())


NAME = st.sampled_from(["a", "b", "c.py", "d.log", "é\n"])
PATH = st.lists(NAME, min_size=1, max_size=3).map("/".join)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(PATH, max_size=12), st.lists(PATH, max_size=4), st.sampled_from(["", "*.log", "b/"])
)
def test_partial_scans_agree_with_whole_ones(
    root: Path, tree: list[str], wanted: list[str], rules: str
) -> None:
    subprocess.run(["rm", "-rf", str(root)], check=True)
    root.mkdir()
    write(root, {".gitignore": rules})
    for path in tree:
        if not (root / path).exists() and not any(p.is_file() for p in (root / path).parents):
            write(root, {path: ""})
    whole, part = look(root), scan_paths(root, OPTIONS, StatCache(), wanted)

    def covered(path: str) -> bool:
        return any(path == want or path.startswith(want + "/") for want in wanted)

    assert paths(part) == [path for path in paths(whole) if covered(path)]


def test_a_cached_digest_is_used_until_the_file_changes(root: Path) -> None:
    write(root, {"a.py": "one", "b.bin": b"\0\1\2", "c.py": "three"})
    first = settle(root, look(root))
    cache = StatCache().after(first, LATER)
    assert look(root, cache=cache) == first
    assert reasons(first) == {"b.bin": Reason.BINARY}
    write(root, {"a.py": "ONE"})
    assert look(root, cache=cache).to_read == ("a.py",)


def test_a_file_that_was_fresh_when_it_was_read_is_read_again(root: Path) -> None:
    write(root, {"a.py": "one"})
    found = settle(root, look(root))
    moment = Instant.of_nanoseconds(found.files[0].stat.mtime_ns)
    soon = Instant(moment.microseconds + 1_900_000)
    quiet = Instant(moment.microseconds + 2_100_000)
    assert look(root, cache=StatCache().after(found, soon)).to_read == ("a.py",)
    assert look(root, cache=StatCache().after(found, quiet)).to_read == ()
