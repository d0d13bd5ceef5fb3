"""Where an import leads, inside the root that the importing file is in; pure.

Each function takes the path of the importing file, what it imports (as the language spells it)
and the tree, and gives the paths that are meant: none where it leads out of the root, or nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Any

from pcpfs.ports import SourceTree

_SCRIPTS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json")
_SPELLED_AS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""In TypeScript an import names the file that will be made of the one that is there."""
_MODULE = re.compile(r"(?m)^module\s+\"?([^\s\"]+)")
_STRING = r'("(?:[^"\\\n]|\\.)*")'
_REMARK = re.compile(_STRING + r"|//[^\n]*|/\*(?s:.*?)\*/")
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")
_CRATE_ROOTS = ("lib.rs", "main.rs")


def of_python(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """`..a.b` from the package of the file; `a.b` from the root, `src/`, or a folder above the
    file, the outermost first. The last part may be a module or a name in one."""
    name = target.lstrip(".")
    dots = len(target) - len(name)
    parts = name.split(".") if name else []
    if dots:
        base = dirname(path)
        for _ in range(dots - 1):
            if not base:
                return ()
            base = dirname(base)
        return _python_module(tree, base, parts, is_package=True)
    for base in ("", "src", *reversed(list(_above(path)))):
        found = _python_module(tree, base, parts, is_package=False)
        if found:
            return found
    return ()


def of_scripts(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """Relative ones with the suffixes and index files of Node; others by `paths` and `baseUrl` of
    the nearest `tsconfig.json` or `jsconfig.json`."""
    if target.startswith((".", "/")):
        return _script(tree, _within(dirname(path), target.lstrip("/")))
    for folder in _above(path):
        for name in ("tsconfig.json", "jsconfig.json"):
            raw = tree.read(join(folder, name))
            if raw is not None:
                return _by_settings(tree, folder, target, _settings(raw))
    return ()


def of_go(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """All files of the package, but its tests, if the nearest `go.mod` names the module."""
    for folder in _above(path):
        raw = tree.read(join(folder, "go.mod"))
        if raw is None:
            continue
        module = _MODULE.search(raw.decode("utf-8", "replace"))
        if module is None or not f"{target}/".startswith(f"{module[1]}/"):
            return ()
        package = normpath(join(folder, target[len(module[1]) :].lstrip("/")))
        package = "" if package == "." else package
        names = (n for n in tree.names(package) if n.endswith(".go"))
        return tuple(join(package, name) for name in names if not name.endswith("_test.go"))
    return ()


def of_java(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """The file of a class, from a folder above the file or the main sources beside its tests; a
    member or an inner class is in the file of the outer one."""
    parts = target.split(".")
    bases = list(_above(path))
    bases += [base.replace("src/test/", "src/main/") for base in bases if "src/test/" in base]
    for length in range(len(parts), 0, -1):
        for base in bases:
            for suffix in (".java", ".kt"):
                found = join(base, *parts[:length]) + suffix
                if tree.has(found):
                    return (found,)
    return ()


def of_rust(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """`crate::`, `self::` and `super::`; the last parts may be names in the module."""
    first, *parts = target.split("::")
    folder = dirname(path)
    stem = path[len(folder) :].strip("/").removesuffix(".rs")
    here = folder if stem in ("mod", "lib", "main") else join(folder, stem)
    if first == "crate":
        roots = (f for f in _above(path) if any(tree.has(join(f, name)) for name in _CRATE_ROOTS))
        here = next(roots, "\0")
    elif first == "super":
        here = dirname(here)
        while parts and parts[0] == "super":
            here, parts = dirname(here), parts[1:]
    elif first != "self":
        return ()
    for length in range(len(parts), 0, -1):
        for found in (join(here, *parts[:length]) + ".rs", join(here, *parts[:length], "mod.rs")):
            if tree.has(found):
                return (found,)
    return ()


def of_c(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """`#include "…"`: beside the file, from a folder above it, or from `src/`, `include/` or a
    folder right in that (`include/<project>/`) in one."""
    for folder in _above(path):
        public = join(folder, "include")
        inside = (join(public, name) for name in tree.names(public))
        for base in (folder, join(folder, "src"), public, *inside):
            found = _within(base, target)
            if found and tree.has(found):
                return (found,)
    return ()


def of_ruby(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """`require_relative`."""
    found = _within(dirname(path), target.removesuffix(".rb") + ".rb")
    return (found,) if found and tree.has(found) else ()


STYLES: Mapping[str, Callable[[str, str, SourceTree], tuple[str, ...]]] = {
    "python": of_python,
    "scripts": of_scripts,
    "go": of_go,
    "java": of_java,
    "rust": of_rust,
    "c": of_c,
    "ruby": of_ruby,
}
"""How a language names what it imports: `import_style` of its data file."""


def resolve(style: str, path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """The files that an import means, whatever it says; nothing in a style that is not known."""
    found = STYLES[style](path, target, tree) if style in STYLES else ()
    return tuple(place for place in found if _is_inside(place))


def _above(path: str) -> Iterator[str]:
    """The folders that a file is in, the nearest first, the root (``""``) last."""
    folder = dirname(path)
    while folder:
        yield folder
        folder = dirname(folder)
    yield ""


def _within(base: str, target: str) -> str:
    """Empty if it leads out of the root."""
    found = normpath(join(base, target))
    return "" if found == "." or not _is_inside(found) else found


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/")


def _python_module(
    tree: SourceTree, base: str, parts: list[str], *, is_package: bool
) -> tuple[str, ...]:
    for length in range(len(parts), 0, -1):
        stem = join(base, *parts[:length])
        for found in (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi"):
            if tree.has(found):
                return (found,)
        if length > 1 and not is_package and not tree.names(join(base, parts[0])):
            break
    own = join(base, "__init__.py")
    return (own,) if is_package and tree.has(own) else ()


def _script(tree: SourceTree, stem: str) -> tuple[str, ...]:
    candidates = [stem]
    for suffix, instead in _SPELLED_AS.items():
        if stem.endswith(suffix):
            candidates += [stem.removesuffix(suffix) + end for end in instead]
    candidates += [stem + suffix for suffix in _SCRIPTS]
    candidates += [join(stem, "index") + suffix for suffix in _SCRIPTS]
    return next(((found,) for found in candidates if found and tree.has(found)), ())


def _settings(raw: bytes) -> dict[str, Any]:
    """The `compilerOptions`, with the comments and commas that JSON does not know taken out; empty
    if that is not enough."""
    text = raw.decode("utf-8-sig", "replace")
    for pattern in (_REMARK, _LAST_COMMA):
        text = pattern.sub(lambda found: found[1] or "", text)
    try:
        options = json.loads(text)["compilerOptions"]
    except (ValueError, KeyError, TypeError):
        return {}
    return options if isinstance(options, dict) else {}


def _by_settings(
    tree: SourceTree, folder: str, target: str, options: Mapping[str, Any]
) -> tuple[str, ...]:
    base = options.get("baseUrl")
    start = join(folder, base) if isinstance(base, str) else folder
    paths = options.get("paths")
    for pattern, replacements in paths.items() if isinstance(paths, dict) else ():
        head, star, tail = pattern.partition("*")
        if not (target == pattern or (star and target.startswith(head) and target.endswith(tail))):
            continue
        middle = target[len(head) : len(target) - len(tail)] if star else ""
        for replacement in replacements if isinstance(replacements, list) else ():
            found = _script(tree, _within(start, str(replacement).replace("*", middle)))
            if found:
                return found
    return _script(tree, _within(start, target)) if isinstance(base, str) else ()
