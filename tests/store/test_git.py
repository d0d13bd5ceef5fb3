"""Git is history: one commit an operation, said so that people and programs can read it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pcpfs.errors import Conflict
from pcpfs.model.instants import Instant
from pcpfs.store.store import Store
from tests.store.workplace import ANNA, Workplace, contents


def trailers(place: Workplace) -> dict[str, str]:
    text = place.git("log", "-1", "--format=%(trailers:only,unfold)")
    return dict(line.split(": ", 1) for line in text.strip().splitlines())


def test_every_operation_is_one_commit_with_trailers(place: Workplace) -> None:
    page = place.write("one", title="A title").page_id
    operations = {
        "revise": lambda: place.revise(page, "two"),
        "archive": lambda: place.session.archive(page, "done"),
        "tombstone": lambda: place.session.tombstone(page, "wrong"),
        "restore": lambda: place.session.restore(page, "right"),
    }
    for name, operate in operations.items():
        before = place.commits()
        done = operate()
        assert place.commits() == before + 1
        assert done.commit == place.git("rev-parse", "HEAD").strip()
        assert trailers(place) == {
            "Pcpfs-Operation": name,
            "Pcpfs-Page": page,
            "Pcpfs-Revision": done.revision_id,
            "Pcpfs-Actor": "user:anna",
        }
        assert place.git("log", "-1", "--format=%s").strip() == f"{name}: A title"
        assert place.git("status", "--porcelain") == ""


def test_a_link_is_a_commit_too(place: Workplace) -> None:
    one, other = place.write("one"), place.write("other")
    place.session.link(one.page_id, "supports", other.page_id)
    assert trailers(place)["Pcpfs-Operation"] == "link"
    assert trailers(place)["Pcpfs-Page"] == one.page_id


def test_a_fresh_store_is_one_clean_commit(place: Workplace) -> None:
    assert place.commits() == 1
    assert place.git("status", "--porcelain") == ""
    assert set(place.git("ls-files").split()) == {
        ".gitattributes",
        ".gitignore",
        "AGENTS.md",
        "README.md",
        "pcpfs.toml",
    }


def test_the_history_of_a_tree_file_reads_as_the_history_of_the_text(place: Workplace) -> None:
    page = place.write("first line\n", path="notes/x.md").page_id
    place.revise(page, "first line\nsecond line\n")
    place.write("noise\n")
    log = place.git("log", "-p", "--format=%s", "--", "scopes/project/a/tree/notes/x.md")
    assert log.count("diff --git") == 2
    assert "+second line" in log
    assert "+first line" in log
    assert "noise" not in log


def test_the_author_of_a_commit_is_the_principal_and_its_time_the_stores(place: Workplace) -> None:
    place.clock.go_to("2030-05-05T05:05:05Z")
    page = place.write().page_id
    ((at,),) = place.store.catalog.query("SELECT at FROM change WHERE page_id = ?", (page,))
    name, date = place.git("log", "-1", "--format=%an|%at").strip().split("|")
    assert (name, int(date)) == ("user:anna", at // 1_000_000)
    assert place.clock.now() > Instant(at) > Instant.parse("2030-05-05T05:05:05Z")


@pytest.mark.parametrize(
    "title",
    [
        "Pcpfs-Operation: forged",
        "subject\u2028Pcpfs-Actor: user:mallory",
        "--amend",
        "x" * 500,
        "# not a comment",
        "\u202egnp.exe",
        "$(touch evil) `id` ; rm -rf",
        "é 数据库",
    ],
)
def test_a_title_forges_no_trailer_and_runs_nothing(place: Workplace, title: str) -> None:
    written = place.write(title=title)
    assert trailers(place) == {
        "Pcpfs-Operation": "write",
        "Pcpfs-Page": written.page_id,
        "Pcpfs-Revision": written.revision_id,
        "Pcpfs-Actor": "user:anna",
    }
    subject = place.git("log", "-1", "--format=%s").rstrip("\n")
    assert subject.startswith("write: ")
    assert len(subject) <= 90
    assert subject.isprintable()
    assert not list(place.path.glob("evil"))


HOSTILE = """
[user]
    useConfigOnly = true
[commit]
    gpgSign = true
    template = /nonexistent
[gpg]
    program = /bin/false
[core]
    autocrlf = true
    safecrlf = true
    eol = crlf
    hooksPath = {hooks}
    excludesFile = {home}/excludes
    attributesFile = {home}/attributes
    quotePath = true
    fsmonitor = /bin/false
    editor = /bin/false
    ignoreCase = true
    precomposeUnicode = true
[init]
    templateDir = {template}
    defaultBranch = strange
[filter "evil"]
    clean = rev
    smudge = rev
    required = true
[diff]
    external = /bin/false
[status]
    showUntrackedFiles = no
[gc]
    auto = 1
"""

SCRIPT = """
import sys
from pathlib import Path
from pcpfs.errors import Conflict
from pcpfs.store.store import Store
from pcpfs.store.session import Session
from tests.store.workplace import ANNA, Workplace, draft
store = Store.init(Path(sys.argv[1]), owner=ANNA)
session = Session(store, ANNA)
page = session.write("project:ä", draft(b"a\\r\\nb\\n$Id$\\n"), path="ü/x.md").page_id
session.revise(page, draft(b"a\\r\\nc\\n"), expect=session.manifest(page).heads)
print(session.payload(page))
"""


def test_a_hostile_git_configuration_changes_nothing(tmp_path: Path) -> None:
    home, ran = tmp_path / "home", tmp_path / "hook-ran"
    hooks, template = home / "hooks", home / "template"
    (template / "hooks").mkdir(parents=True)
    hooks.mkdir()
    for folder in (hooks, template / "hooks"):
        for name in (
            "pre-commit",
            "commit-msg",
            "post-commit",
            "reference-transaction",
            "post-index-change",
        ):
            hook = folder / name
            hook.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
            hook.chmod(0o755)
    (home / ".gitconfig").write_text(HOSTILE.format(home=home, hooks=hooks, template=template))
    (home / "excludes").write_text("*.md\n*.json\nscopes\n")
    (home / "attributes").write_text("* text=auto eol=crlf filter=evil ident\n")
    environment = {
        **os.environ,
        "HOME": str(home),
        "GIT_DIR": "/nonexistent",
        "GIT_INDEX_FILE": "x",
    }
    environment["GIT_OBJECT_DIRECTORY"] = str(tmp_path / "elsewhere")
    environment.pop("XDG_CONFIG_HOME", None)
    checkout = Path(__file__).parents[2]
    environment["PYTHONPATH"] = os.pathsep.join([str(checkout), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "s")],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.strip() == rb"b'a\r\nc\n'"
    assert not ran.exists()
    assert not (tmp_path / "elsewhere").exists()
    place = Workplace.at(tmp_path / "s")
    assert place.commits() == 3
    assert place.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert place.git("status", "--porcelain", "-uall") == ""
    assert place.git("log", "--format=%cn|%G?").split() == ["pcpfs|N"] * 3
    blob = place.git("show", "HEAD:scopes/project/=c3=a4/tree/ü/x.md")
    assert blob == "a\r\nc\n"
    place.close()


def test_what_is_committed_is_what_is_on_the_disk(place: Workplace) -> None:
    place.write("one", path="x.md")
    place.write(b"\xff\0\r\n", path="odd.bin", media_type="application/octet-stream")
    clone = place.path.parent / "clone"
    place.git("clone", "-q", str(place.path), str(clone))
    ours = {
        n: raw for n, raw in contents(place.path).items() if not n.startswith((".git/", ".pcpfs/"))
    }
    theirs = {n: raw for n, raw in contents(clone).items() if not n.startswith(".git/")}
    assert ours == theirs


def test_a_persons_own_staged_work_and_commits_are_kept(place: Workplace) -> None:
    page = place.write("one", path="x.md").page_id
    (place.path / "mine.txt").write_text("mine")
    place.git("add", "mine.txt")
    place.revise(page, "two")
    assert place.git("status", "--porcelain") == "A  mine.txt\n"
    place.git("-c", "user.name=me", "-c", "user.email=me@x", "commit", "-q", "-m", "mine")
    place.revise(page, "three")
    assert place.git("status", "--porcelain") == ""
    assert place.git("show", "HEAD:mine.txt") == "mine"
    assert place.session.payload(page) == b"three"


class TestInit:
    def test_a_folder_that_holds_something_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("mine")
        with pytest.raises(Conflict):
            Store.init(tmp_path, owner=ANNA)
        assert contents(tmp_path) == {"x": b"mine"}

    def test_a_store_is_not_made_twice(self, place: Workplace) -> None:
        with pytest.raises(Conflict):
            Store.init(place.path, owner=ANNA)
        assert place.write().created

    def test_a_nested_store_has_to_be_meant_and_is_hidden(self, tmp_path: Path) -> None:
        outer = tmp_path / "outer"
        outer.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=outer, check=True)
        with pytest.raises(Conflict, match="--nested"):
            Store.init(outer / "in ner", owner=ANNA)
        Store.init(outer / "in ner", owner=ANNA, nested=True).close()
        status = ["git", "status", "--porcelain", "-uall"]
        assert subprocess.run(status, cwd=outer, capture_output=True, check=True).stdout == b""

    def test_the_generated_files_are_the_same_in_every_store(
        self, tmp_path: Path, place: Workplace
    ) -> None:
        Store.init(tmp_path / "s2", owner=ANNA).close()
        for name in ("README.md", "AGENTS.md", ".gitattributes", ".gitignore"):
            assert (tmp_path / "s2" / name).read_bytes() == (place.path / name).read_bytes()
        rule = (place.path / ".gitattributes").read_text().split()
        assert rule == ["*", "-text", "-filter", "-ident", "-working-tree-encoding", "-merge"]
