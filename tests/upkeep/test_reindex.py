"""A store built anew answers as before; newer adapters look again without opening or closing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pcpfs.model.answers import Pins
from pcpfs.model.frames import Extraction, Symbol
from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace
from pcpfs.ports import Adapter, AdapterRegistry
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.reextract import ReextractReport, reextract
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.registry import installed_registry
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import ANNA, SCOPE, Workplace, draft, paths_of

CODE = """\
# about apples
def apple():
    return 1


# about pears
def pear():
    return 2
"""


@dataclass(frozen=True)
class Wider:
    """The adapter of Python, a version later: a symbol begins at its comment, and `pear` is no
    symbol any more."""

    inner: Adapter

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def version(self) -> int:
        return self.inner.version + 1

    def extract(self, source: bytes) -> Extraction:
        seen = self.inner.extract(source)
        symbols = tuple(_widened(s, source) for s in seen.symbols if s.name != "pear")
        return replace(seen, version=self.version, symbols=symbols)


def _widened(symbol: Symbol, source: bytes) -> Symbol:
    start = source.rfind(b"#", 0, symbol.bytes[0])
    digest = Digest.of(source[start : symbol.bytes[1]])
    lines = (symbol.lines[0] - 1, symbol.lines[1])
    return replace(symbol, bytes=(start, symbol.bytes[1]), lines=lines, digest=digest)


@dataclass(frozen=True)
class Newer:
    """The installed adapters, Python's a version later."""

    inner: AdapterRegistry

    def for_source(self, path: str, head: bytes) -> Adapter:
        found = self.inner.for_source(path, head)
        return Wider(found) if found.name == "python" else found

    def by_tag(self, tag: str) -> Adapter | None:
        known = self.inner.by_tag(tag)
        return known or next((a for a in self.all() if f"{a.name}-{a.version}" == tag), None)

    def all(self) -> tuple[Adapter, ...]:
        found = self.inner.all()
        return (*found, *(Wider(adapter) for adapter in found if adapter.name == "python"))


def newer() -> AdapterRegistry:
    return Newer(installed_registry())


def looked_again(place: Workplace, registry: AdapterRegistry | None = None) -> ReextractReport:
    found = registry or newer()
    with ExtractionPool(lambda: found, workers=0) as pool:
        return reextract(place.store, ANNA, found, pool)


def frame_of(place: Workplace, name: str) -> Any:
    return place.session.symbol(name).results[0]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "a.py").write_text(CODE)
    (folder / "b.md").write_text("# Pears\n\nAre green.\n")
    return folder


@pytest.fixture
def filled(place: Workplace, code: Path) -> Workplace:
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(code, Namespace(SCOPE)))
    for name in ("apple", "pear"):
        place.session.write(
            SCOPE,
            draft(f"note on {name}\n", cites=(frame_of(place, name).frame_id,)),
            path=f"{name}.md",
        )
    return place


def synced(place: Workplace) -> None:
    with Sources(place.store, ANNA) as sources:
        sources.sync()


def questions(place: Workplace) -> list[object]:
    """What readers may ask."""
    ask = place.session
    pages = [row.page_id for row in place.store.catalog.pages()]
    return [
        *(ask.search(words, limit=50).results for words in ("apple", "pear green", "note return")),
        ask.symbol("apple").results,
        *(ask.log(page) for page in pages),
        *(ask.manifest(page) for page in pages),
        ask.scopes(),
        ask.suspects(),
        place.store.catalog.query("SELECT * FROM frame ORDER BY 1, 2, 4, 5"),
    ]


@pytest.mark.parametrize("way", ["reindex", "removed"])
def test_a_store_built_anew_answers_the_same_in_the_same_order(
    filled: Workplace, code: Path, way: str
) -> None:
    (code / "a.py").write_text(CODE.replace("return 1", "return 3"))
    synced(filled)
    before = questions(filled)
    if way == "reindex":
        filled.store.reindex()
        assert questions(filled) == before
    else:
        shutil.rmtree(filled.path / ".pcpfs")
        again = filled.reopened()
        assert questions(again) == before
        again.close()


def test_with_the_same_adapters_nothing_is_written(filled: Workplace) -> None:
    commits = filled.commits()
    report = looked_again(filled, installed_registry())
    assert (report.observations, report.restored, report.commit) == (0, 0, None)
    assert filled.commits() == commits


def test_a_newer_adapter_opens_and_closes_nothing_and_makes_no_page_suspect(
    filled: Workplace,
) -> None:
    before = frame_of(filled, "apple")
    report = looked_again(filled)
    assert (report.pages, report.observations) == (1, 1)
    after = frame_of(filled, "apple")
    assert after.frame_id == before.frame_id
    assert (after.valid_from, after.valid_to) == (before.valid_from, None)
    assert (after.lines[0], after.digest) != (before.lines[0], before.digest)
    assert filled.session.frame_source(after.frame_id).startswith(b"# about apples")
    found = filled.session.symbol("pear").results
    assert "pear" not in {hit.qualified_name for hit in found}
    assert filled.session.suspects() == ()
    assert fsck(filled.store).ok
    assert looked_again(filled).observations == 0
    assert looked_again(filled, installed_registry()).observations == 0


def test_all_of_the_past_is_seen_anew(filled: Workplace, code: Path) -> None:
    before = frame_of(filled, "apple")
    (code / "a.py").write_text(CODE.replace("return 2", "return 3"))
    synced(filled)
    report = looked_again(filled)
    assert (report.pages, report.observations) == (1, 2)
    after = frame_of(filled, "apple")
    assert after.valid_from == before.valid_from
    pins = Pins(as_of=before.valid_from)
    assert filled.session.frame_source(after.frame_id, pins).startswith(b"# about apples")
    assert {page.path for page in filled.session.suspects()} <= {"pear.md"}


def test_a_citation_holds_while_its_symbol_does_and_is_suspect_when_it_changes(
    filled: Workplace, code: Path
) -> None:
    looked_again(filled)
    for text, expected in (
        (CODE.replace("return 2", "return 3"), {"pear.md"}),
        (CODE.replace("return 1", "return 3"), {"apple.md", "pear.md"}),
        (CODE, set()),
    ):
        (code / "a.py").write_text(text)
        with Sources(filled.store, ANNA) as sources:
            sources.registry = newer()
            sources._pool = ExtractionPool(newer, workers=0)
            sources.sync()
        found = {page.path for page in filled.session.suspects()}
        assert found <= expected
        assert ("apple.md" in found) == ("apple.md" in expected)


def test_a_lost_frames_file_is_made_again(filled: Workplace) -> None:
    whole = {file: file.read_bytes() for file in paths_of(filled.path, "*.python-*.json")}
    assert whole
    for file in whole:
        file.unlink()
    shutil.rmtree(filled.path / ".pcpfs")
    place = filled.reopened()
    assert not fsck(place.store).ok
    assert looked_again(place, installed_registry()).restored == len(whole)
    assert {file: file.read_bytes() for file in whole} == whole
    place.store.reindex()
    assert fsck(place.store).ok
    place.close()


def test_a_clone_that_does_not_observe_a_root_writes_nothing(
    filled: Workplace, tmp_path: Path
) -> None:
    shutil.copytree(filled.path, tmp_path / "copied")
    copy = Workplace.at(tmp_path / "copied")
    report = looked_again(copy)
    assert (report.observations, report.elsewhere, report.commit) == (0, 2, None)
    copy.close()
