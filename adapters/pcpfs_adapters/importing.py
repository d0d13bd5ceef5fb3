"""Where an import leads, inside the root that the importing file is in; pure.

Each function takes the path of the importing file, what it imports (as the language spells it)
and the tree, and gives the paths that are meant: none where it leads out of the root, or nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from posixpath import basename, dirname, join, normpath
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
_JAVA = (".java", ".kt")
_SOURCES = re.compile(r"src/(?:main|test)/(java|kotlin)$")
_PHP_NAMESPACE = re.compile(rb"(?m)^\s*(?:<\?php\s+)?namespace\s+([\w\\]+)\s*[;{]")
_CS_NAMESPACE = re.compile(rb"(?m)^\s*namespace\s+([\w.]+)")
_EXPANSION = re.compile(r"^\"?(?:\$\{[^}]*\}|\$\([^)]*\)|\$\w+|`[^`]*`)\"?")


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
        for name in ("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
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
    """The file of a class, from a folder above the file, the main sources beside its tests, or the
    same folder of another module; a member or an inner class is in the file of the outer one.
    `a.b.*`: all files of a package."""
    parts = target.removesuffix(".*").split(".")
    bases = [base for base in _java_bases(path, tree) if tree.names(join(base, parts[0]))]
    for base in bases if target.endswith(".*") else ():
        names = (name for name in tree.names(join(base, *parts)) if name.endswith(_JAVA))
        if found := tuple(join(base, *parts, name) for name in names):
            return found
    for length in range(len(parts), 0, -1):
        for base in bases:
            for suffix in _JAVA:
                file = join(base, *parts[:length]) + suffix
                if tree.has(file):
                    return (file,)
    return ()


def _java_bases(path: str, tree: SourceTree) -> Iterator[str]:
    """Where packages may begin."""
    above = list(_above(path))
    yield from above
    for base in above:
        if "src/test/" in base:
            yield base.replace("src/test/", "src/main/")
    for base in above:
        inside = _SOURCES.search(base)
        if inside is not None:
            yield from (join(module, f"src/main/{inside[1]}") for module in tree.names(""))
            return


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
    folder right in that (`include/<project>/`) in one; `<…>` from `include/` only."""
    is_public = target.startswith("<")
    target = target.strip("<>")
    for folder in _above(path):
        public = join(folder, "include")
        inside = (join(public, name) for name in tree.names(public))
        for base in (public,) if is_public else (folder, join(folder, "src"), public, *inside):
            found = _within(base, target)
            if found and tree.has(found):
                return (found,)
    return ()


def of_ruby(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """What is spelled with `./` (`require_relative`) from the file's own folder, all else from the
    nearest `lib/` above it or beside what is above it."""
    name = target.removesuffix(".rb") + ".rb"
    if target.startswith("./"):
        return _first(tree, [_within(dirname(path), name)])
    above = list(_above(path))
    bases = [base for base in above if basename(base) == "lib"]
    return _first(tree, [_within(base, name) for base in bases + [join(a, "lib") for a in above]])


def of_php(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """The file of a class: by `psr-4` of the nearest `composer.json`, else below a folder above the
    file by as much of its name as there are folders for, if it says to be of that namespace. What
    is spelled with `./` is a file beside this one."""
    if target.startswith("."):
        return _first(tree, [_within(dirname(path), target)])
    name = target.strip("\\")
    for folder in _above(path):
        raw = tree.read(join(folder, "composer.json"))
        if raw is not None:
            found = _first(tree, list(_by_composer(folder, name, raw)))
            if found:
                return found
            break
    parts = name.split("\\")
    for base in _above(path):
        for start in range(len(parts)):
            file = join(base, *parts[start:]) + ".php"
            if tree.has(file) and _declared(tree, file, _PHP_NAMESPACE) == "\\".join(parts[:-1]):
                return (file,)
    return ()


def of_c_sharp(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """All files of a namespace, which lie in a folder of its name or of the end of that, or the
    file of a class in one; below a folder above the file, if they say to be of that namespace."""
    parts = target.split(".")
    for base in _above(path):
        for start in range(len(parts) + 1):
            folder = join(base, *parts[start:]).rstrip("/")
            names = [name for name in tree.names(folder) if name.endswith(".cs")]
            files = [join(folder, name) for name in names]
            if any(_declared(tree, file, _CS_NAMESPACE) == target for file in files[:3]):
                return tuple(files)
            file = f"{folder}.cs"
            is_class = start < len(parts) and tree.has(file)
            if is_class and _declared(tree, file, _CS_NAMESPACE) == ".".join(parts[:-1]):
                return (file,)
    return ()


def of_bash(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """A path, from the file's own folder or one above it; what is worked out at the beginning of
    it (`$HERE/`, `$(dirname "$0")/`) is taken for such a folder."""
    rest = _EXPANSION.sub("", target).replace('"', "")
    if set(rest) & set("$`") or target.startswith("/"):
        return ()
    return _first(tree, [_within(base, rest.lstrip("/")) for base in _above(path)])


def of_lua(path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
    """`a.b`: `a/b.lua` or `a/b/init.lua` from a folder above the file, its `lua/` or its `src/`."""
    stem = target.replace(".", "/")
    bases = [join(base, inside) for base in _above(path) for inside in ("", "lua", "src")]
    names = (f"{stem}.lua", f"{stem}/init.lua")
    return _first(tree, [_within(base, name) for base in bases for name in names])


STYLES: Mapping[str, Callable[[str, str, SourceTree], tuple[str, ...]]] = {
    "python": of_python,
    "scripts": of_scripts,
    "go": of_go,
    "java": of_java,
    "rust": of_rust,
    "c": of_c,
    "ruby": of_ruby,
    "php": of_php,
    "c_sharp": of_c_sharp,
    "bash": of_bash,
    "lua": of_lua,
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


def _first(tree: SourceTree, candidates: Iterable[str]) -> tuple[str, ...]:
    return next(((found,) for found in candidates if found and tree.has(found)), ())


def _declared(tree: SourceTree, path: str, pattern: re.Pattern[bytes]) -> str:
    """The first namespace that a file says to be of; empty if it says none."""
    found = pattern.search(tree.read(path) or b"")
    return found[1].decode("utf-8", "replace") if found else ""


def _by_composer(folder: str, name: str, raw: bytes) -> Iterator[str]:
    for prefix, places in _psr_4(raw):
        if name.startswith(prefix):
            rest = name[len(prefix) :].strip("\\").replace("\\", "/")
            yield from (_within(join(folder, place), f"{rest}.php") for place in places)


@lru_cache(maxsize=16)
def _psr_4(raw: bytes) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Prefixes of namespaces and the folders of each, the longest first; empty if it says none."""
    try:
        settings = json.loads(raw)
        found = {
            prefix: (places,) if isinstance(places, str) else tuple(map(str, places))
            for section in ("autoload-dev", "autoload")
            for prefix, places in settings.get(section, {}).get("psr-4", {}).items()
        }
    except (ValueError, AttributeError, TypeError, RecursionError):
        return ()
    return tuple(sorted(found.items(), key=lambda item: -len(item[0])))


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
    return _first(tree, candidates)


@lru_cache(maxsize=16)
def _settings(raw: bytes) -> Mapping[str, Any]:
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
