"""What became of a symbol: from its first run to its last, through moves and new names, on the line
of its source and on the branches beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pcpfs.errors import NotFound
from pcpfs.model.instants import Instant
from pcpfs.model.symbol_answers import SymbolDifference, SymbolLife
from pcpfs.store.branches import unknown_branch
from pcpfs.store.reading import Reader
from pcpfs.store.searches.branch_life import BranchLife, Told, commits_of
from pcpfs.store.searches.symbol_tracing import Found, Link, Tracing, on_line


def lives(
    reader: Reader,
    name: str,
    *,
    until: Instant | None = None,
    page: str | None = None,
    branch: str | None = None,
) -> list[SymbolLife]:
    """The lives of all symbols that have or had this name (exact, or the end of a dotted one), or
    this frame id, as far as `until`; of one page, if it is given. What other branches did is told
    too; with `branch` only what that one did (or the line, if that is meant).

    NotFound if there is none, or no such branch.
    """
    beside = BranchLife(reader)
    found = _lives(reader, beside, name, until, page)
    told = [one.life for one in found]
    if branch is not None:
        _require(branch, beside)
        told = list(_only(told, beside, branch))
        if not told:
            raise NotFound(f"the branch {branch!r} did nothing to a symbol {name!r}")
    return told


def differences(
    reader: Reader,
    name: str,
    *,
    until: Instant | None = None,
    since: Instant | None = None,
    page: str | None = None,
    branch: str | None = None,
) -> list[SymbolDifference]:
    """The last text of each symbol of this name against the one before it, or against what it was
    at `since`; or, with `branch`, the text on the line against that on a branch."""
    tracing, beside = Tracing(reader), BranchLife(reader)
    if branch is not None:
        _require(branch, beside)
        found = _lives(reader, beside, name, until, page)
        both = (tracing.against(one, beside, branch) for one in found)
        differing = [one for one in both if one is not None]
        if not differing:
            raise NotFound(f"neither the line nor {branch!r} has a symbol {name!r} now")
        return differing
    found = _lives(reader, beside, name, until, page)
    held = [replace(one.life, steps=on_line(one.life)) for one in found]
    told = [tracing.difference(life, since) for life in held if life.steps]
    if not told:
        raise NotFound(f"only other branches have a symbol {name!r}; compare with one: --branch")
    return told


def _lives(
    reader: Reader, beside: BranchLife, name: str, until: Instant | None, page: str | None
) -> list[Found]:
    told, seen = list[Found | None](), set[tuple[str, int]]()
    tracing = Tracing(reader)
    of = None if page is None else reader.resolve(page).page

    def tell(link: Link) -> None:
        if link.key not in seen:
            chain = tracing.chain(link)
            seen.update(one.key for one in chain)
            told.append(_told(tracing, beside, chain, until))

    for frame in tracing.named(name, of):
        for link in tracing.links(frame):
            tell(link)
    known = {frame for one in told if one for _, frame in one.frames}
    for frame in beside.named(name, of):
        if frame not in known:
            rows = beside.told([frame])
            was = next(filter(None, (_link_of(tracing, row) for row in rows)), None)
            if was is not None:
                tell(was)
            else:
                told.append(_beside_only(reader, beside, rows, until))
            known |= {other for one in told[-1:] if one for _, other in one.frames}
    found = [one for one in told if one is not None]
    if not found:
        raise NotFound(f"there is no symbol {name!r} here, and was none")
    return found


def _told(
    tracing: Tracing, beside: BranchLife, chain: Sequence[Link], until: Instant | None
) -> Found | None:
    """What the line and the branches say of a symbol that the line has had."""
    line = [step for step in tracing.steps(chain) if until is None or step.at <= until]
    frames = [(link.page.page_id, link.frame_id) for link in reversed(chain)]
    keys = {link.key for link in chain}
    rows = [
        row
        for row in beside.told(frame for _, frame in frames)
        if (link := _link_of(tracing, row)) is None or link.key in keys
    ]
    others = [step for step in map(beside.step, rows) if until is None or step.at <= until]
    if not line and not others:
        return None
    steps = sorted([*line, *others], key=lambda step: step.at)
    life = tracing.life(chain, line or others)
    places = ((row.symbol.page_id, row.symbol.frame_id) for row in reversed(rows))
    return Found(replace(life, steps=tuple(reversed(steps))), (*places, *frames))


def _link_of(tracing: Tracing, row: Told) -> Link | None:
    """What the line had at the time of what a branch did to it: another may stand there later."""
    frames = (one.frame_id for one in (row.symbol, row.other) if one)
    return next(filter(None, (tracing.link_at(f, row.beside.at) for f in frames)), None)


def _beside_only(
    reader: Reader, beside: BranchLife, told: Sequence[Told], until: Instant | None
) -> Found | None:
    """What the branches say of a symbol that the line never had."""
    rows = [row for row in told if until is None or row.beside.at <= until.microseconds]
    if not rows:
        return None
    last = rows[-1].symbol
    page = reader.page(last.page_id)
    root = reader.root_name(page.root_id) or ""
    steps = tuple(beside.step(row) for row in reversed(rows))
    life = SymbolLife(page.scope, root, last.kind, last.qualified_name, page.path or "", steps)
    places = ((row.symbol.page_id, row.symbol.frame_id) for row in reversed(rows))
    return Found(life, tuple(dict.fromkeys(places)))


def _require(branch: str, beside: BranchLife) -> None:
    roots = beside.roots()
    if all(root.find(branch) is None for root in roots):
        raise NotFound(unknown_branch(branch, *roots))


def _only(told: Iterable[SymbolLife], beside: BranchLife, branch: str) -> Iterator[SymbolLife]:
    """The lives as one branch tells them."""
    commits = set(commits_of(beside.roots(), branch))
    for life in told:
        root = beside.root(life.steps[0].page_id)
        ref = root.find(branch)
        if ref is not None and ref == root.line:
            steps = on_line(life)
        else:
            steps = tuple(s for s in life.steps if s.branches is not None and s.commit in commits)
        if steps:
            yield replace(life, steps=steps)
