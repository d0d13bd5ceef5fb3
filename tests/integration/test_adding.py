"""`add`: a source tree becomes pages, payloads, frames and observations."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from pcpfs.errors import Conflict, InvalidName, NotFound, UsageError
from pcpfs.model.names import source_ref, unescaped
from pcpfs.sources.status import status
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.fsck import fsck
from tests.integration.source_tree import PYTHON, SourceTree
from tests.store.workplace import ANNA, Workplace, truth


def test_every_file_becomes_a_page_with_frames(app: SourceTree) -> None:
    app.write("main.py")
    app.write("docs/guide.md", "# Guide\n\ntext\n\n## Install\n\nmore\n")
    app.write("notes.txt", "just text\n")
    report = app.add()
    (root,) = report.roots
    assert (root.root, root.scope, root.state) == ("app", "project:a", "ok")
    assert (root.files, root.added, root.changed, root.removed) == (3, 3, 0, 0)
    assert root.symbols == root.opened == len(app.symbols("first")) + 4
    session = app.place.session
    manifest = session.manifest("main.py")
    assert (manifest.kind, manifest.language, manifest.root) == ("source", "python", "app")
    assert manifest.payload is not None
    assert manifest.payload.ref.hex == hashlib.sha256(PYTHON.encode()).hexdigest()
    assert session.payload("app/docs/guide.md") == b"# Guide\n\ntext\n\n## Install\n\nmore\n"
    assert manifest.source_refs == (
        source_ref(app.place.store.catalog.roots()[0].root_id, "main.py"),
    )
    assert manifest.provenance[0].operation == "import"
    assert report.commit == app.place.git("rev-parse", "HEAD").strip()
    assert app.place.git("status", "--porcelain") == ""
    assert app.place.tree() == {}
    assert fsck(app.place.store).problems == ()


def test_a_frame_is_exactly_the_bytes_of_its_symbol(app: SourceTree) -> None:
    app.write("main.py")
    app.add()
    session = app.place.session
    for frame in session.frames_of("main.py"):
        raw = session.frame_source(frame.frame_id)
        assert raw == PYTHON.encode()[slice(*frame.bytes)]
        assert frame.digest.hex == hashlib.sha256(raw).hexdigest()
        assert frame.valid_to is None
    named = {frame.qualified_name: frame for frame in session.frames_of("main.py")}
    assert {"main.py", "first", "Basket", "Basket.second"} <= set(named)
    assert session.frame_source(named["Basket.second"].frame_id).endswith(b"return 2")
    assert named["first"].doc == "The first of all apples."
    assert named["Basket.second"].citation_label == "Basket.second (app/main.py:12)"


def test_a_second_add_changes_nothing(app: SourceTree) -> None:
    app.write("main.py")
    app.write("b.md", "# B\n")
    app.add()
    files, commits = truth(app.place.path), app.place.commits()
    again = app.add()
    assert (again.commit, again.roots[0].unchanged, again.roots[0].opened) == (None, 2, 0)
    assert truth(app.place.path) == files
    assert app.place.commits() == commits
    assert app.sync().commit is None


def test_a_first_observation_is_true_from_the_files_time(app: SourceTree) -> None:
    app.write("old.py", at="2020-02-02T02:02:02.123456Z")
    app.add()
    manifest = app.place.session.manifest("old.py")
    assert str(manifest.valid_from) == "2020-02-02T02:02:02.123456Z"
    assert str(app.symbol("first").valid_from) == "2020-02-02T02:02:02.123456Z"


def test_what_is_left_out_is_named_with_its_reason(app: SourceTree, tmp_path: Path) -> None:
    app.write("main.py")
    app.write(".gitignore", "*.log\n/build/\n")
    app.write(".pcpfsignore", "secret.txt\n")
    app.write("sub/.gitignore", "!keep.log\nlocal.py\n")
    for name in ("a.log", "build/x.py", "secret.txt", "sub/keep.log", "sub/local.py"):
        app.write(name, "text\n")
    app.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0")
    app.write("huge.txt", b"x" * 1_048_577)
    app.write("edge.txt", b"x\n" * 524_288)
    app.write(".git/config", "[core]\n")
    app.write(".hg/x", "x")
    outside = tmp_path / "outside.py"
    outside.write_text("secret = 1\n")
    (app.path / "link.py").symlink_to(outside)
    (app.path / "inner.py").symlink_to(app.path / "main.py")
    os.mkfifo(app.path / "pipe")
    Store.init(app.path / "inner-store", owner=ANNA, nested=True).close()
    app.add()
    reasons = {skip.path: skip.reason for skip in status(app.place.session).skipped}
    assert reasons == {
        "a.log": "ignored",
        "build": "ignored",
        "secret.txt": "ignored",
        "sub/local.py": "ignored",
        "image.png": "binary",
        "huge.txt": "too_large",
        ".git": "vcs",
        ".hg": "vcs",
        "link.py": "link_leaves_root",
        "inner.py": "link",
        "pipe": "special",
        "inner-store": "store",
    }
    taken = {row.path for row in app.place.store.catalog.pages("is_source")}
    assert taken == {
        "main.py",
        ".gitignore",
        ".pcpfsignore",
        "sub/.gitignore",
        "sub/keep.log",
        "edge.txt",
    }


def test_a_larger_limit_and_patterns_can_be_asked_for(app: SourceTree) -> None:
    app.write("a.py")
    app.write("b.md", "# B\n")
    app.write("big.py", "# a comment\n" * 150_000)
    (root,) = app.add(include=("*.py",), max_size=4_000_000).roots
    assert root.files == 2
    assert {skip.path for skip in root.skipped} == {"b.md"}
    (again,) = app.sync().roots
    assert (again.files, again.unchanged) == (2, 2)


def test_new_options_are_taken_by_the_next_add(app: SourceTree) -> None:
    app.write("a.py")
    app.write("b.md", "# Zebra\n")
    app.add()
    (narrowed,) = app.add(include=("*.py",)).roots
    assert (narrowed.files, narrowed.removed) == (1, 1)
    assert app.symbols("Zebra") == ()
    (kept,) = app.add().roots
    assert kept.files == 1


class TestOddNames:
    NAMES = (
        "é ü#%?&;.py".encode(),
        b"new\nline.py",
        b"back\\slash.py",
        b"-dash.py",
        b" space .py",
        b"con.py",
        "e\u0301.py".encode(),
        "\u00e9.py".encode(),
        b"latin\xff.py",
        rb"latin\xff.py",
        b"sub\xfe/x.py",
        b"%2e%2e.py",
        b"a:b*c|d.py",
        b"\x1b[31m.py",
        "数据库.py".encode(),
        b"UPPER.PY",
        b"upper.py",
    )

    def test_every_name_comes_in_and_stays_itself(self, app: SourceTree) -> None:
        for number, name in enumerate(self.NAMES):
            app.write(name, f"def odd{number:02}():\n    return {number}\n")
        (root,) = app.add().roots
        assert (root.files, root.skipped) == (len(self.NAMES), ())
        for number in range(len(self.NAMES)):
            hit = app.symbol(f"odd{number:02}")
            raw = app.place.session.payload(hit.page_id)
            assert raw == f"def odd{number:02}():\n    return {number}\n".encode()
            assert app.place.session.resolve(unescaped(hit.path)).page == hit.page_id
            if hit.path.encode() not in self.NAMES:  # as it is shown, unless another is called so
                assert app.place.session.resolve(hit.path).page == hit.page_id
        pages = {row.page_id for row in app.place.store.catalog.pages()}
        assert len(pages) == len(self.NAMES)
        assert app.sync().commit is None
        assert app.verify().ok
        assert fsck(app.place.store).problems == ()
        assert app.place.git("status", "--porcelain") == ""

    def test_they_can_be_changed_removed_and_rebuilt(self, app: SourceTree) -> None:
        for name in self.NAMES:
            app.write(name)
        app.add()
        for name in self.NAMES[::2]:
            app.write(name, "def changed():\n    pass\n")
        for name in self.NAMES[1::2]:
            os.unlink(os.path.join(os.fsencode(app.path), name))
        report = app.report()
        assert (report.changed, report.removed) == (9, 8)
        assert len(app.symbols("changed")) == 9
        assert app.symbols("first") == ()
        before = app.symbols("changed")
        app.place.store.reindex()
        assert app.symbols("changed") == before

    def test_a_root_may_have_an_odd_name_too(self, app: SourceTree, tmp_path: Path) -> None:
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff \n\xc3\xa9"))
        os.mkdir(folder)
        tree = SourceTree(folder, app.place)
        tree.write("a.py")
        tree.add(name="odd")
        assert tree.symbol("first").root == "odd"
        assert tree.sync().commit is None

    def test_a_root_whose_name_is_no_text_is_called_readably(
        self, app: SourceTree, tmp_path: Path
    ) -> None:
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff"))
        os.mkdir(folder)
        tree = SourceTree(folder, app.place)
        tree.write("a.py")
        tree.add()
        assert tree.symbol("first").root == "r\ufffd"


class TestRoots:
    def test_two_roots_feed_one_scope_and_are_told_apart(
        self, app: SourceTree, tmp_path: Path
    ) -> None:
        other = SourceTree(tmp_path / "other", app.place)
        app.write("a.py")
        other.write("a.py")
        app.add()
        other.add()
        assert {hit.root for hit in app.symbols("first")} == {"app", "other"}
        assert len({hit.frame_id for hit in app.symbols("first")}) == 2
        other.edit("a.py", "return 2", "return 3")
        reports = {r.root: r for r in app.sync().roots}
        assert (reports["app"].changed, reports["other"].changed) == (0, 1)
        app.edit("a.py", "return 2", "return 4")
        other.edit("a.py", "return 3", "return 5")
        (only,) = app.sync(["other"]).roots
        assert (only.root, only.changed) == ("other", 1)
        assert [s.path for s in status(app.place.session).stale] == ["a.py"]

    def test_two_roots_of_one_name_need_another_name(self, app: SourceTree, tmp_path: Path) -> None:
        other = SourceTree(tmp_path / "x/app", app.place)
        app.write("a.py")
        other.write("b.py")
        app.add()
        with pytest.raises(Conflict, match="--root"):
            other.add()
        with pytest.raises(Conflict, match="--root"):
            other.add(name="app")
        (root,) = other.add(name="second").roots
        assert root.root == "second"
        assert {r.root for r in app.sync().roots} == {"app", "second"}

    def test_a_bound_path_is_a_sync_whatever_it_is_called(
        self, app: SourceTree, tmp_path: Path
    ) -> None:
        app.write("a.py")
        app.add()
        link = tmp_path / "link"
        link.symlink_to(app.path)
        again = SourceTree(link, app.place).add()
        assert (again.commit, again.roots[0].root) == (None, "app")
        assert len(app.place.store.catalog.roots()) == 1

    def test_a_source_has_one_scope(self, app: SourceTree) -> None:
        app.write("a.py")
        app.add()
        with pytest.raises(Conflict):
            app.add(scope="project:b")

    def test_what_cannot_be_a_root_is_refused_and_leaves_nothing(
        self, app: SourceTree, tmp_path: Path
    ) -> None:
        file = app.write("a.py")
        commits = app.place.commits()
        for path, error in (
            (tmp_path / "missing", NotFound),
            (file, NotFound),
            (app.place.path, UsageError),
            (app.place.path / "scopes", (UsageError, NotFound)),
        ):
            with pytest.raises(error):
                SourceTree(path, app.place).add()
        for name in ("../x", "a\nb", "a/b", "..", "a\0b"):
            with pytest.raises(InvalidName):
                app.add(name=name)
        with pytest.raises(NotFound):
            app.sync(["nowhere"])
        assert app.place.commits() == commits
        assert app.add().roots[0].added == 1

    def test_a_store_within_its_own_source_is_left_out(self, app: SourceTree) -> None:
        app.write("a.py")
        inner = app.path / "memory"
        Store.init(inner, owner=ANNA).close()
        place = Workplace.at(inner)
        tree = SourceTree(app.path, place)
        (root,) = tree.add().roots
        assert (root.files, [s.path for s in root.skipped]) == (1, ["memory"])
        assert tree.sync().commit is None
        place.close()


class TestClones:
    def test_a_copied_store_observes_nothing_until_it_takes_over(
        self, app: SourceTree, tmp_path: Path
    ) -> None:
        app.write("a.py")
        app.add()
        shutil.copytree(app.place.path, tmp_path / "copy")
        place = Workplace.at(tmp_path / "copy", app.place.clock)
        copy = SourceTree(app.path, place)
        app.edit("a.py", "return 2", "return 3")
        assert copy.report().state == "not_observed"
        with pytest.raises(Conflict, match="--take-over"):
            copy.add()
        assert place.commits() == app.place.commits()
        assert copy.add(take_over=True).roots[0].changed == 1
        assert copy.sync().roots[0].state == "ok"
        place.close()

    def test_a_git_clone_reads_what_the_observer_wrote(
        self, app: SourceTree, tmp_path: Path
    ) -> None:
        app.write("a.py")
        app.add()
        app.place.git("clone", "-q", str(app.place.path), str(tmp_path / "clone"))
        place = Workplace.at(tmp_path / "clone")
        clone = SourceTree(app.path, place)
        assert clone.symbol("first").digest == app.symbol("first").digest
        assert clone.sync().roots == ()
        (root,) = status(place.session).roots
        assert (root.state, root.observer, root.files) == ("unbound", False, 1)
        with pytest.raises(Conflict):
            clone.add()
        report = clone.verify()
        assert (report.checked, report.ok) == (0, True)
        assert report.unknown > 0
        place.close()


def test_without_its_caches_a_store_of_sources_gives_the_same_answers(app: SourceTree) -> None:
    for number in range(5):
        app.write(f"m{number}.py", PYTHON.replace("first", f"first{number}"))
    app.add()
    app.edit("m0.py", "return 2", "return 3")
    app.sync()
    session = app.place.session
    before = (
        session.search("apples", limit=50),
        session.symbol("first", limit=50),
        [session.log(f"m{n}.py") for n in range(5)],
        [session.frames_of(f"m{n}.py") for n in range(5)],
    )
    app.place.close()
    shutil.rmtree(app.place.path / ".pcpfs")
    place = app.place.reopened()
    again = place.session
    assert before == (
        again.search("apples", limit=50),
        again.symbol("first", limit=50),
        [again.log(f"m{n}.py") for n in range(5)],
        [again.frames_of(f"m{n}.py") for n in range(5)],
    )
    assert SourceTree(app.path, place).sync().commit is None
    assert fsck(place.store).ok
    place.close()


def test_a_file_whose_symbols_are_missing_is_named_until_they_are_there(app: SourceTree) -> None:
    """Too large, too damaged, too many: the page is there, `status` says what was left out."""
    app.write("large.py", "x = 1\n" * 400_000)
    app.write("open.go", "(" * 100_000)
    app.write("deep.py", "".join(f"{' ' * n}class C{n}:\n" for n in range(70)) + " " * 70 + "x = 1")
    app.write("good.py")
    skipped = [
        ("deep.py", "fewer_symbols", "6 definitions nested deeper than 64 left out"),
        ("large.py", "no_symbols", "too large to parse"),
        ("open.go", "no_symbols", "too damaged to search"),
    ]
    (root,) = app.add(max_size=4_000_000).roots
    assert (root.files, [(s.path, s.reason, s.detail) for s in root.skipped]) == (4, skipped)
    app.write("open.go", "package p\n")
    app.report()
    told = status(app.place.session).skipped
    assert [(s.path, s.reason, s.detail) for s in told] == skipped[:2]
