"""Which files of a commit a scan of its checkout would take in: the scan's rules, over a tree of
git instead of a folder.

Links, submodules and ignore rules count as they were in that commit; only what no commit holds
(`.git/info/exclude`, `--include`, the size limit) is of today.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pcpfs.git import ObjectId, TreeEntry
from pcpfs.sources.ignore import Ignores, RuleFile, matcher
from pcpfs.sources.rulefiles import GIT_RULES, OUR_RULES
from pcpfs.sources.scan import STORE_MARK, VCS_FOLDERS
from pcpfs.sources.scanned import Reason, ScanOptions, Skipped

_GOVERNING = frozenset((GIT_RULES, OUR_RULES, STORE_MARK, "HEAD"))
_LINK, _SUBMODULE = "120000", "160000"

State = ObjectId | Skipped | None
"""What a path is in a commit: a file to take in, one that is left out, or nothing."""


class _Folder(NamedTuple):
    rules: Ignores
    included: bool


class PastTree:
    """The files of one commit after the other, below a root that lies at `prefix` of its repository
    (empty: the root is its top).

    `above` are rules that no commit holds; `read` gives the content of a rule file. Paths that are
    given and told are relative to the root.
    """

    def __init__(
        self,
        prefix: str,
        options: ScanOptions,
        above: Ignores,
        read: Callable[[ObjectId], bytes | None],
    ) -> None:
        self._prefix = f"{prefix}/" if prefix else ""
        self._options = options
        self._outermost = above
        self._read = read
        self._include = matcher(options.include) if options.include else None
        self._files: dict[str, TreeEntry] = {}
        self._sizes: Counter[str] = Counter()
        self._folders: dict[str, _Folder | Skipped] = {}
        self._parsed: dict[tuple[str, ObjectId], RuleFile | None] = {}

    def fill(self, entries: Iterable[TreeEntry]) -> None:
        """Start from the files of a commit."""
        for entry in entries:
            self._put(entry.path, entry)

    def states(self) -> dict[str, State]:
        """All files below the root."""
        return {path: self._state(path) for path in self._below("")}

    def change(
        self, edits: Iterable[tuple[str, TreeEntry | None]]
    ) -> dict[str, tuple[State, State]]:
        """Go to the next commit, in which these paths hold that; what it is to the root: each path
        that is another thing after it, with what it was and is."""
        edits = list(edits)
        governed = [folder for path, _ in edits if (folder := self._governed_by(path)) is not None]
        touched = {self._inner(path) for path, _ in edits if path.startswith(self._prefix)}
        for folder in governed:
            touched.update(self._below(folder))
        before = {path: self._state(path) for path in touched}
        for path, entry in edits:
            self._put(path, entry)
        if governed:
            self._folders.clear()
        after = {path: self._state(path) for path in touched}
        return {p: (before[p], after[p]) for p in sorted(touched) if before[p] != after[p]}

    def _inner(self, path: str) -> str:
        return path[len(self._prefix) :]

    def _governed_by(self, path: str) -> str | None:
        """The folder, seen from the root, whose files this path may govern."""
        folder, _, name = path.rpartition("/")
        if name not in _GOVERNING:
            return None
        return self._inner(folder) if f"{folder}/".startswith(self._prefix) and folder else ""

    def _below(self, folder: str) -> Iterator[str]:
        start = f"{self._prefix}{folder}/" if folder else self._prefix
        return (self._inner(path) for path in self._files if path.startswith(start))

    def _put(self, path: str, entry: TreeEntry | None) -> None:
        if (path in self._files) != (entry is not None):
            step, folder = (1 if entry else -1), path
            while folder := folder.rpartition("/")[0]:
                self._sizes[folder] += step
        if entry is None:
            self._files.pop(path, None)
        else:
            self._files[path] = entry

    def _has(self, path: str) -> bool:
        full = self._prefix + path
        return full in self._files or self._sizes[full] > 0

    def _state(self, path: str) -> State:
        entry = self._files.get(self._prefix + path)
        if entry is None or entry.mode == _SUBMODULE:
            return None
        folder = self._folder(path.rpartition("/")[0])
        if isinstance(folder, Skipped):
            return folder
        skip = self._judge(folder, path, directory=False)
        if skip is not None:
            return skip
        if entry.mode == _LINK:
            return Skipped(path, self._link(path, entry.blob))
        if not self._includes(path, folder.included, directory=False):
            return Skipped(path, Reason.NOT_INCLUDED)
        return entry.blob

    def _link(self, path: str, blob: ObjectId) -> Reason:
        target = (self._read(blob) or b"").decode("utf-8", "surrogateescape")
        led = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        leaves = target.startswith("/") or led == ".." or led.startswith("../")
        return Reason.LINK_LEAVES_ROOT if leaves else Reason.LINK

    def _folder(self, path: str) -> _Folder | Skipped:
        if path not in self._folders:
            self._folders[path] = self._entered(path)
        return self._folders[path]

    def _entered(self, path: str) -> _Folder | Skipped:
        if path:
            around = self._folder(path.rpartition("/")[0])
            if isinstance(around, Skipped):
                return around
            skip = self._judge(around, path, directory=True)
            if skip is not None:
                return skip
            rules, included = around.rules, self._includes(path, around.included, directory=True)
        else:
            rules, included = self._above(), self._include is None
        inner = f"{path}/" if path else ""
        if self._has(inner + STORE_MARK):
            return Skipped(path, Reason.STORE, "it is a pcpfs store", directory=True)
        if path and all(self._has(inner + name) for name in ("HEAD", "objects", "refs")):
            return Skipped(path, Reason.VCS, "it is a bare repository", directory=True)
        return _Folder(self._inside(rules, path, self._prefix + inner), included)

    def _judge(self, folder: _Folder, path: str, *, directory: bool) -> Skipped | None:
        if path.rpartition("/")[2] in VCS_FOLDERS:
            return Skipped(path, Reason.VCS, directory=directory)
        if path in self._options.exclusions:
            return Skipped(path, Reason.EXCLUDED, directory=directory)
        why = folder.rules.why(path, directory)
        return Skipped(path, Reason.IGNORED, why, directory) if why else None

    def _includes(self, path: str, inherited: bool, *, directory: bool) -> bool:
        if self._include is None:
            return True
        raw = path.encode("utf-8", "surrogateescape")
        pattern = self._include.decides(raw, raw.rpartition(b"/")[2], directory)
        return inherited if pattern is None else not pattern.negated

    def _above(self) -> Ignores:
        """The rules of the folders above the root, unless they ignore the root itself."""
        rules, at = self._outermost, ""
        for part in self._prefix.split("/")[:-1]:
            rules = self._inside(rules, at, f"{at}/" if at else "")
            at = f"{at}/{part}" if at else part
            if rules.why(at, directory=True):
                return Ignores()
        return rules.seen_from(at) if at else rules

    def _inside(self, outer: Ignores, directory: str, full: str) -> Ignores:
        """`outer` and the rules that lie in a folder, of which `full` is the path in the tree."""
        shown = f"{directory}/" if directory else ""
        ours = self._rules(full + OUR_RULES, shown + OUR_RULES)
        git = self._rules(full + GIT_RULES, shown + GIT_RULES)
        return outer.below(directory, ours, [git] if git else [])

    def _rules(self, path: str, shown: str) -> RuleFile | None:
        entry = self._files.get(path)
        if entry is None or not entry.mode.startswith("100"):
            return None
        key = (shown, entry.blob)
        if key not in self._parsed:
            content = self._read(entry.blob)
            self._parsed[key] = RuleFile.parse(shown, content) if content else None
        return self._parsed[key]
