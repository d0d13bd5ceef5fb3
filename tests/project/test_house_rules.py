"""What import contracts cannot say: which module may do what (STYLE 4 to 7)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SOURCE_ROOTS = ("pcpfs", "adapters", "index", "conformance")
ALL_ROOTS = (*SOURCE_ROOTS, "benchmarks", "tests")
MOST_LINES = 450
OLDEST_PYTHON = (3, 11)
PARTS = ("pcpfs_adapters", "pcpfs_index", "pcpfs_conformance")
OPEN_TO_PARTS = ("pcpfs.errors", "pcpfs.model", "pcpfs.ports")

Names = dict[str, str]
Finder = Callable[[ast.AST, Names], bool]


def modules(*roots: str) -> list[Path]:
    found = (path for root in roots for path in sorted((CHECKOUT / root).rglob("*.py")))
    return [path for path in found if ".cache" not in path.parts]


@cache
def parsed(path: Path) -> ast.Module:
    """The module, in the language of the oldest Python that we promise."""
    source = path.read_text(encoding="utf-8")
    return ast.parse(source, filename=relative(path), feature_version=OLDEST_PYTHON)


def relative(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


def imported(node: ast.AST) -> Iterator[str]:
    """The dotted names that an import statement brings in."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def local_names(tree: ast.AST) -> Names:
    """What each imported local name stands for: `{"replace": "os.replace", "o": "os"}`."""
    names: Names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        if isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def dotted(node: ast.AST, names: Names) -> str:
    """`os.path.join`, whatever it was imported as; empty if the expression is no name."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value, names)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def imports(*packages: str) -> Finder:
    def finds(node: ast.AST, _names: Names) -> bool:
        return any(f"{name}.".startswith(f"{p}.") for name in imported(node) for p in packages)

    return finds


def uses(*wanted: str) -> Finder:
    """A name or attribute, also without a call: passing `os.replace` on is using it."""

    def finds(node: ast.AST, names: Names) -> bool:
        return isinstance(node, ast.Name | ast.Attribute) and dotted(node, names) in wanted

    return finds


def renames_a_path(node: ast.AST, _names: Names) -> bool:
    """`Path.rename` and `Path.replace`; the `replace` of strings and values has other arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    one = len(node.args) == 1 and not node.keywords
    return node.func.attr == "rename" or (node.func.attr == "replace" and one)


def opens_to_append(node: ast.AST, names: Names) -> bool:
    if isinstance(node, ast.Name | ast.Attribute):
        return dotted(node, names) == "os.O_APPEND"
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func, names)
    modes = [*node.args[:2], *(key.value for key in node.keywords if key.arg == "mode")]
    return called in ("open", "fdopen") and any(
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and is_append(mode.value)
        for mode in modes
    )


def is_append(mode: str) -> bool:
    return "a" in mode and set(mode) <= set("abt+")


def sets_globals(node: ast.AST, _names: Names) -> bool:
    return isinstance(node, ast.Global)


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that only some modules may do, and a line that breaks it."""

    what: str
    finds: Finder
    only_in: tuple[str, ...]
    breaks: tuple[str, ...]

    def allows(self, path: str) -> bool:
        return path.startswith(self.only_in)


RULES = (
    Rule(
        "make things durable",
        uses("os.fsync", "os.fdatasync", "os.sync"),
        ("pcpfs/disk.py",),
        ("import os\nos.fsync(3)", "from os import fdatasync as f\nf(3)"),
    ),
    Rule(
        # Whoosh renames its own files inside the library, and so does the other engine: an index
        # is disposable.
        "rename files",
        lambda node, names: (
            renames_a_path(node, names)
            or uses("os.rename", "os.renames", "os.replace", "os.link", "shutil.move")(node, names)
        ),
        ("pcpfs/disk.py", "index/pcpfs_index/fts5_engine.py"),
        ("import os as o\no.replace(a, b)", "a.rename(b)", "a.replace(b)"),
    ),
    Rule(
        "append to files",
        opens_to_append,
        ("pcpfs/disk.py",),
        ("open(p, 'ab')", "p.open('a')", "open(p, mode='a+')", "import os\nos.O_APPEND"),
    ),
    Rule("import GitPython", imports("git", "gitdb"), ("pcpfs/git",), ("import git",)),
    Rule(
        "start processes",
        lambda node, names: (
            imports("subprocess", "pty")(node, names)
            or uses("os.system", "os.popen", "os.execv", "os.execvp", "os.fork")(node, names)
        ),
        # Workers that can be killed: adapters may hang; an indexer beside a large `add`.
        # The contract of indexes kills a writer for real.
        # A provider or host that is inspected, and a provider that a host asks, is a program of its
        # own.
        (
            "pcpfs/git",
            "pcpfs/host/stdio.py",
            "pcpfs/sources/extraction_copy.py",
            "pcpfs/sources/extraction_pool.py",
            "pcpfs/store/searches/index_process.py",
            "conformance/pcpfs_conformance/example_host.py",
            "conformance/pcpfs_conformance/host_peer.py",
            "conformance/pcpfs_conformance/indexes.py",
            "conformance/pcpfs_conformance/provider_peer.py",
        ),
        ("from subprocess import run", "from os import fork\nfork()", "import os\nos.system(c)"),
    ),
    Rule(
        "import tree-sitter",
        imports("tree_sitter", "tree_sitter_language_pack"),
        ("adapters/pcpfs_adapters/",),
        ("from tree_sitter import Parser",),
    ),
    Rule("import Whoosh", imports("whoosh"), ("index/pcpfs_index/",), ("import whoosh.index",)),
    Rule(
        "ask for the time of day",
        uses(
            "datetime.datetime.now",
            "datetime.datetime.utcnow",
            "datetime.datetime.today",
            "datetime.date.today",
            "time.time",
            "time.time_ns",
        ),
        ("pcpfs/clock.py",),
        ("from datetime import datetime\ndatetime.now()", "import time\nt = time.time"),
    ),
    Rule(
        # disk.py draws the names of temporary files.
        "draw random numbers",
        lambda node, names: (
            imports("random", "secrets", "uuid", "uuid_utils")(node, names)
            or uses("os.urandom")(node, names)
        ),
        ("pcpfs/clock.py", "pcpfs/disk.py"),
        ("import secrets", "import os\nos.urandom(8)"),
    ),
    Rule("print", uses("print"), ("pcpfs/cli/",), ("print(1)",)),
    Rule(
        "read the environment",
        uses("os.environ", "os.environb", "os.getenv"),
        # The example host passes PATH and HOME on; it shares nothing with us.
        ("pcpfs/cli/", "pcpfs/git", "conformance/pcpfs_conformance/example_host.py"),
        ("import os\nos.environ['A']", "from os import getenv\ngetenv('A')"),
    ),
    Rule(
        "read the working directory",
        uses("os.getcwd", "os.getcwdb", "os.chdir", "pathlib.Path.cwd", "pathlib.Path.home"),
        ("pcpfs/cli/",),
        ("from pathlib import Path\nPath.cwd()",),
    ),
    Rule("assign to globals", sets_globals, ("nowhere",), ("def f():\n    global x\n    x = 1",)),
)


def breaches(rule: Rule, tree: ast.Module) -> list[int]:
    """The lines that do it."""
    names = local_names(tree)
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr))
    return sorted({node.lineno for node in nodes if rule.finds(node, names)})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.what.replace(" ", "-"))
def test_only_the_named_modules(rule: Rule) -> None:
    found = [
        f"{relative(path)}:{line} may not {rule.what}"
        for path in modules(*SOURCE_ROOTS)
        if not rule.allows(relative(path))
        for line in breaches(rule, parsed(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("rule", "source"), [(rule, source) for rule in RULES for source in rule.breaks]
)
def test_a_breach_of_each_rule_is_found(rule: Rule, source: str) -> None:
    assert breaches(rule, ast.parse(source))


@pytest.mark.parametrize(
    "source",
    ["'a'.replace('a', 'b')", "replace(value, a=1)", "open('data')", "open(p, 'rb')", "x.print(1)"],
)
def test_innocent_lines_are_not_found(source: str) -> None:
    assert [rule.what for rule in RULES if breaches(rule, ast.parse(source))] == []


def test_parts_see_errors_model_and_ports_only() -> None:
    found = [
        f"{relative(path)}: {name}"
        for path in modules("adapters", "index", "conformance")
        for node in ast.walk(parsed(path))
        for name in imported(node)
        if f"{name}.".startswith("pcpfs.")
        and not f"{name}.".startswith(tuple(f"{module}." for module in OPEN_TO_PARTS))
    ]
    assert found == []


def test_the_core_never_names_a_part_in_an_import() -> None:
    found = [
        f"{relative(path)}: {name}"
        for path in modules("pcpfs")
        for node in ast.walk(parsed(path))
        for name in imported(node)
        if name.split(".")[0] in PARTS
    ]
    assert found == []


def effects(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that do something when the module is imported, beyond defining names."""
    for node in tree.body:
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            yield node
        if isinstance(node, ast.For | ast.While | ast.With | ast.Delete | ast.AugAssign):
            yield node
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_empty_container(node.value):
            yield node


def is_empty_container(value: ast.expr | None) -> bool:
    """A module-level container that starts empty is a registry that somebody means to fill."""
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List | ast.Set):
        return not value.elts
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("dict", "list", "set", "defaultdict") and not value.args
    return False


def test_importing_a_module_has_no_effects() -> None:
    found = [
        f"{relative(path)}:{node.lineno}"
        for path in modules(*SOURCE_ROOTS)
        for node in effects(parsed(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    "source", ["register()", "for x in y: pass", "CACHE = {}", "SEEN: set[str] = set()", "X += 1"]
)
def test_an_effect_of_importing_is_found(source: str) -> None:
    assert list(effects(ast.parse(source)))


def test_modules_are_short() -> None:
    lengths = {
        relative(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in modules(*ALL_ROOTS)
    }
    assert {path: length for path, length in lengths.items() if length >= MOST_LINES} == {}
