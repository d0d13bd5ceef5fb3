"""Thinning: the bytes of old saves go by policy, what happened stays (DESIGN)."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pcpfs.errors import NotPermitted, Unavailable
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.sources.daily import QUIET_SECONDS, Daily
from pcpfs.sources.status import status
from pcpfs.sources.thinning import last_thinned, superseded, thin, thinning, would_free
from pcpfs.store.catalogs.rows import SpanRow
from pcpfs.store.exchanges.exchange import export
from pcpfs.store.folding.retention import set_retention
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.store.upkeeping.maintain import ThinReport
from pcpfs.store.upkeeping.sizes import sizes
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA, Workplace, draft

DAY = 86_400_000_000
NOW = 100 * DAY
OUTSIDE = "// Says {0}.\nfunc F() int {{ return 1 }}\n\nfunc G() int {{ return {0} }}\n"


def span(number: int, valid_from: float, **given: object) -> SpanRow:
    start = int(valid_from * DAY)
    row = SpanRow(
        "pg", number, f"r{number}", start, None, start, "c", "a", "o", "[]", None, None, None
    )
    return row._replace(**{"basis": "mtime", **given})  # type: ignore[arg-type]  # columns by name


def held(*rows: SpanRow) -> list[SpanRow]:
    """Each until the next."""
    ends = [row.valid_from for row in rows[1:]]
    return [row._replace(valid_to=end) for row, end in zip(rows, [*ends, None], strict=True)]


def test_what_was_superseded_within_a_day_long_ago_goes() -> None:
    rows = held(span(0, 1.1), span(1, 1.2), span(2, 1.3), span(3, 50.1), span(4, 50.2))
    assert superseded(rows, NOW, frozenset()) == {"r0", "r1", "r3"}


def test_commits_links_the_last_and_what_is_recent_are_kept() -> None:
    rows = held(span(0, 1.1), span(1, 1.2, basis="commit"), span(2, 1.3), span(3, 1.4))
    assert superseded(rows, NOW, frozenset(["r0"])) == {"r2"}
    late = [row._replace(recorded_at=NOW - DAY) for row in rows]
    assert superseded(late, NOW, frozenset()) == set()
    recent = held(span(0, 93.1), span(1, 93.2))
    assert superseded(recent, NOW, frozenset()) == set()
    assert superseded(recent, NOW + DAY, frozenset()) == {"r0"}


def test_bytes_that_came_back_later_are_judged_by_all_their_times() -> None:
    rows = held(span(0, 1.1), span(1, 1.2), span(2, 1.3, revision_id="r0"), span(3, 2.1))
    assert superseded(rows, NOW, frozenset()) == {"r1"}


@pytest.fixture
def day(app: SourceTree) -> SourceTree:
    """Six saves of a file on one day, the second of them cited, and one on the next."""
    app.place.clock.go_to("2040-01-01T08:00:00Z")
    app.write("f.go", "package p\n\n" + OUTSIDE.format(0))
    app.add()
    for number in range(1, 7):
        app.place.clock.go_to(f"2040-01-01T{9 + number:02}:00:00Z")
        app.write("f.go", "package p\n\n" + OUTSIDE.format(number))
        app.report()
        if number == 2:
            app.place.write("On G.\n", cites=(app.symbol("G").frame_id,))
    app.place.clock.go_to("2040-01-02T09:00:00Z")
    app.write("f.go", "package p\n\n" + OUTSIDE.format(7))
    app.report()
    app.place.clock.go_to("2040-01-20T00:00:00Z")
    return app


def texts(app: SourceTree) -> list[str | None]:
    """What each version says, oldest first; None where that is not there."""
    found: list[str | None] = []
    for entry in reversed(app.place.session.log("f.go")):
        try:
            raw = app.place.session.payload(entry.revision_id)
        except Unavailable:
            found.append(None)
        else:
            found.append(raw.split()[4].decode().rstrip("."))
    return found


def test_a_day_of_saves_leaves_its_last_the_cited_and_the_present_one(day: SourceTree) -> None:
    before = {
        name: [(run.valid_from, run.valid_to, run.digest) for run in runs(day, name)]
        for name in ("F", "G")
    }
    assert len(before["G"]) == 8
    place = day.place
    report = thin(place.store, ANNA)
    assert (report.payloads, texts(day)) == (5, [None, None, "2", None, None, None, "6", "7"])
    for name, told in before.items():
        assert [(run.valid_from, run.valid_to, run.digest) for run in runs(day, name)] == told
    assert place.git("status", "--porcelain") == ""
    assert place.git("ls-files", "*/payloads/*").count("\n") == 4  # three versions, one note
    assert fsck(place.store).problems == ()
    again = thin(place.store, ANNA)
    assert (again.payloads, again.bytes) == (0, 0)
    assert place.git("log", "--format=%s", "-2").split("\n")[:2] == [
        "thin: 5 payloads",
        "thin: sources",
    ]


def runs(app: SourceTree, name: str) -> list[object]:
    return list(app.place.store.catalog.frames("frame.name = ?", (name,)))


def stepped(daily: Daily) -> tuple[int, ThinReport]:
    """Turns until it is done, and what was done."""
    for number in range(1, 20):
        report = daily.turn(QUIET_SECONDS)
        if report is not None:
            return number, report
    raise AssertionError("it never ends")


def test_watch_thins_once_a_day_when_it_is_quiet(day: SourceTree) -> None:
    daily = Daily(day.place.store, ANNA)
    assert daily.turn(QUIET_SECONDS - 1) is None
    assert last_thinned(day.place.store) is None
    assert stepped(daily)[1].payloads == 5
    assert texts(day) == [None, None, "2", None, None, None, "6", "7"]
    assert fsck(day.place.store).problems == ()
    first = last_thinned(day.place.store)
    assert [daily.turn(QUIET_SECONDS) for _ in range(4)] == [None] * 4
    assert last_thinned(day.place.store) == first
    day.place.clock.go_to("2040-01-21T01:00:00Z")
    assert stepped(daily)[1].payloads == 0
    stranger = Daily(day.place.store, Principal("user:ben"))
    day.place.clock.go_to("2040-01-23T00:00:00Z")
    assert [stranger.turn(QUIET_SECONDS) for _ in range(4)] == [None] * 4


def test_two_watchers_do_not_both_thin_and_others_write_in_between(day: SourceTree) -> None:
    with Store.open(day.place.path, clock=day.place.clock) as store:
        one, other = Daily(day.place.store, ANNA), Daily(store, ANNA)
        assert one.turn(QUIET_SECONDS) is None
        assert [other.turn(QUIET_SECONDS) for _ in range(9)] == [None] * 9
        with closing(Session(store, ANNA)) as session:
            session.write("project:a", draft("Meanwhile.\n"))
        day.write("f.go", "package p\n\n" + OUTSIDE.format(8))
        day.report()
        assert stepped(one)[1].payloads == 5
        assert [other.turn(QUIET_SECONDS) for _ in range(9)] == [None] * 9
    assert texts(day)[-3:] == ["6", "7", "8"]
    assert fsck(day.place.store).problems == ()


def test_thinning_that_is_cut_short_anywhere_is_done_by_the_next_one(day: SourceTree) -> None:
    for steps, left in ((1, 2), (2, 2), (2, 1)):
        some = thinning(day.place.store, ANNA, pages=1, revisions=2, files=2)
        for _ in range(steps):
            next(some)
        some.close()
        assert len(would_go(day)) == left
        assert fsck(day.place.store).problems == ()
    assert thin(day.place.store, ANNA).payloads == 1
    assert texts(day) == [None, None, "2", None, None, None, "6", "7"]


def would_go(app: SourceTree) -> set[str]:
    """The payloads of thinned revisions that are there."""
    rows = app.place.store.catalog.query("SELECT digest FROM revision WHERE thinned")
    return {digest for (digest,) in rows} & {f"sha256:{file.name}" for file in payloads(app)}


def test_status_says_what_thinning_would_let_go(day: SourceTree) -> None:
    def told() -> tuple[int, int]:
        size = status(day.place.session, size=True).size
        assert size is not None
        assert size.thinning is not None
        assert size.thinning_later is not None
        return size.thinning.payloads, size.thinning_later.payloads

    there = {file: file.stat().st_size for file in payloads(day)}
    assert told() == (5, 5)
    report = would_free(day.place.store)
    thin(day.place.store, ANNA)
    gone = there.keys() - payloads(day)
    assert (len(gone), sum(there[file] for file in gone)) == (report.payloads, report.bytes)
    day.place.clock.go_to("2040-01-21T00:00:00Z")
    for number in (8, 9):
        day.write("f.go", "package p\n\n" + OUTSIDE.format(number))
        day.report()
    assert told() == (0, 1)


def payloads(app: SourceTree) -> set[Path]:
    files = app.place.path.glob("scopes/project/a/payloads/*/*/*")
    return {file for file in files if file.is_file()}


def test_bytes_that_are_seen_again_are_there_again(day: SourceTree) -> None:
    thin(day.place.store, ANNA)
    day.write("f.go", "package p\n\n" + OUTSIDE.format(4))
    day.report()
    assert texts(day) == [None, None, "2", None, "4", None, "6", "7", "4"]
    assert fsck(day.place.store).problems == ()
    assert thin(day.place.store, ANNA).payloads == 0


def test_a_reader_hears_why_and_a_clone_a_rebuilt_store_and_a_copy_say_the_same(
    day: SourceTree, tmp_path: Path
) -> None:
    day.place.git("clone", "-q", ".", str(tmp_path / "clone"))
    thin(day.place.store, ANNA)
    session, expected = day.place.session, texts(day)
    oldest = session.log("f.go")[-1].revision_id
    with pytest.raises(Unavailable, match=r"of f\.go were thinned out; its digest"):
        session.payload(oldest)
    assert session.manifest(oldest).payload is not None
    pulled = Workplace.at(tmp_path / "clone")
    assert texts(replace(day, place=pulled)).count(None) == 0
    pulled.git("pull", "-q")
    assert texts(replace(day, place=pulled)) == expected
    assert fsck(pulled.store).problems == ()
    pulled.close()
    day.place.close()
    shutil.rmtree(day.place.path / ".pcpfs")
    rebuilt = replace(day, place=Workplace.at(day.place.path, day.place.clock))
    assert texts(rebuilt) == expected
    assert fsck(rebuilt.place.store).problems == ()
    export(rebuilt.place.session, ["project:a"], tmp_path / "copy")
    rebuilt.place.close()
    copy = Workplace.at(tmp_path / "copy")
    assert texts(replace(day, place=copy)) == expected
    assert fsck(copy.store).problems == ()
    copy.close()


def test_what_a_commit_of_the_source_holds_is_kept(app: SourceTree) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(("git", *who, *words), cwd=app.path, check=True, capture_output=True)

    app.place.clock.go_to("2040-01-01T08:00:00Z")
    git("init", "-q")
    app.write("f.go", "package p\n\n" + OUTSIDE.format(0))
    app.add()
    for number in range(1, 4):
        app.write("f.go", "package p\n\n" + OUTSIDE.format(number))
        app.report()
        if number == 1:
            git("add", "f.go")
            git("commit", "-q", "-m", "one")
    app.place.clock.go_to("2040-01-20T00:00:00Z")
    assert thin(app.place.store, ANNA).payloads == 2
    assert texts(app) == [None, "1", None, "3"]


def test_under_a_hold_and_for_others_nothing_goes(day: SourceTree) -> None:
    with pytest.raises(NotPermitted):
        thin(day.place.store, Principal("user:ben"))
    set_retention(day.place.store, ANNA, Namespace("project:a"), Instant.read("2041-01-01"), None)
    assert thin(day.place.store, ANNA).payloads == 0


def test_what_a_killed_one_left_undone_is_done(day: SourceTree) -> None:
    place = day.place
    kept = {
        path: path.read_bytes()
        for path in place.path.glob("scopes/**/payloads/**/*")
        if path.is_file()
    }
    thin(place.store, ANNA)
    back = [path for path in kept if not path.exists()]
    for path in back:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(kept[path])
    assert fsck(place.store).problems == ()
    assert thin(place.store, ANNA).payloads == len(back) == 5
    assert fsck(place.store).problems == ()


def test_the_space_goes_down_by_what_went(day: SourceTree) -> None:
    def sources() -> int:
        parts = sizes(day.place.session).parts
        return sum(part.bytes for part in parts if part.kind == "source payloads")

    before = sources()
    report = thin(day.place.store, ANNA)
    assert report.bytes == before - sources() > 0
