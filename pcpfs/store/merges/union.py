"""What a merge of two lines of history holds: all files of the truth that either has.

`tree/` is no part of it: it is laid anew from the truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pcpfs.git import CommitId, Git, Stored, TreeChange
from pcpfs.store import layout
from pcpfs.store.folding.kinds import Kind, is_record, kind_of

Contents = Mapping[str, Stored | None]


@dataclass(frozen=True, slots=True)
class Union:
    """What to do to our side so that it holds both: files of the truth and others to take over
    (None: to remove). `tree` are the readable files that either side changed, `clashes` the other
    files that both changed, and what is no plain file."""

    truth: dict[str, Stored | None] = field(default_factory=dict)
    others: dict[str, Stored | None] = field(default_factory=dict)
    tree: set[str] = field(default_factory=set)
    clashes: set[str] = field(default_factory=set)


def union(git: Git, ours: CommitId, theirs: Iterable[CommitId]) -> Union:
    """Both sides of a merge, compared with what they had in common."""
    result = Union()
    for other in theirs:
        base = git.merge_base(ours, other)
        mine = {change.path: change for change in git.diff_tree(base, ours)}
        yours = git.diff_tree(base, other)
        erased = erased_pages(yours)
        for change in yours:
            _take(result, mine.get(change.path), change, erased)
        result.tree.update(path for path in mine if kind_of(path) is Kind.TREE)
    return result


def may_go(path: str, erased: Iterable[str]) -> bool:
    """Whether a removal of a file of the truth counts: bytes may be thinned, what happened goes
    only with the receipt of an erasure."""
    return not is_record(path) or any(f"/{page}/" in path for page in erased)


def erased_pages(changes: Iterable[TreeChange]) -> set[str]:
    """The pages whose receipts are among these files."""
    return {page for change in changes if (page := _erased(change.path))}


def _take(result: Union, mine: TreeChange | None, yours: TreeChange, erased: Iterable[str]) -> None:
    path, kind = yours.path, kind_of(yours.path)
    held = mine.after if mine else yours.before
    if kind is Kind.TREE:
        result.tree.add(path)
    elif held == yours.after:
        pass
    elif kind is Kind.TRUTH:
        if held and yours.after and layout.receipt_of(path):
            # erased twice, apart from each other: all clones choose the same receipt
            result.truth[path] = Stored(min(held, yours.after))
        elif yours.after is not None and held is None and (mine is None or yours.before is None):
            result.truth[path] = Stored(yours.after)
        elif yours.after is None and mine is None and may_go(path, erased):
            result.truth[path] = None
    elif mine is None and yours.mode == "100644":
        result.others[path] = yours.stored
    elif kind is Kind.OTHER:
        result.clashes.add(path)


def _erased(path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    return name.removesuffix(".json") if folder.endswith("/erased") else None
