"""What universal-ctags finds, and what the adapters find, as the same sort of definitions."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pcpfs_adapters import registry

from benchmarks.accuracy.yardstick import Definition, Yardstick
from pcpfs.model.frames import Symbol
from pcpfs.ports import HEAD_BYTES

HOW_TO_GET = "universal-ctags is not installed: apt-get install universal-ctags, brew install …"
_FIELDS = "--fields=-P+nKzsS"


def of_ctags(yardstick: Yardstick, files: Mapping[str, Path], root: Path) -> list[Definition]:
    """Its definitions, no references, in all files; `root` is where the paths begin."""
    command = [
        "ctags",
        "--options=NONE",
        f"--languages={yardstick.ctags}",
        f"--langmap={yardstick.ctags}:{''.join(yardstick.suffixes)}",
        *yardstick.options,
        "--output-format=json",
        _FIELDS,
        "--sort=no",
        "-L-",
    ]
    given = "\n".join(files) + "\n"
    ran = subprocess.run(command, cwd=root, input=given, capture_output=True, text=True, check=True)
    lines = {path: _lines(file) for path, file in files.items()}
    tags = [_tag(json.loads(line), lines) for line in ran.stdout.splitlines() if '"tag"' in line]
    if not yardstick.joint:
        return tags
    return [replace(tag, name=re.split(yardstick.joint, tag.name)[-1]) for tag in tags]


def of_ours(yardstick: Yardstick, files: Mapping[str, Path]) -> list[Definition]:
    """Our symbols in the files that get one of the adapters of this language."""
    adapters = registry()
    found: list[Definition] = []
    for path, file in files.items():
        raw = file.read_bytes()
        adapter = adapters.for_source(path, raw[:HEAD_BYTES])
        if adapter.name in yardstick.adapters:
            found += _symbols(path, adapter.extract(raw).symbols, _lines(file))
    if not yardstick.apart:
        return found
    return [replace(d, name=name) for d in found for name in re.split(yardstick.apart, d.name)]


def _symbols(path: str, symbols: tuple[Symbol, ...], lines: list[str]) -> Iterator[Definition]:
    around: list[Symbol] = []
    for symbol in symbols:
        while around and around[-1].bytes[1] <= symbol.bytes[0]:
            around.pop()
        scope = " ".join(f"{outer.kind}:{outer.qualified_name}" for outer in around)
        if around and symbol.qualified_name != f"{around[-1].qualified_name}.{symbol.name}":
            scope += " nameless:"
        around.append(symbol)
        text = "\n".join(lines[symbol.lines[0] - 1 : symbol.lines[0] + 4])
        yield Definition(path, symbol.kind, symbol.name, symbol.lines, scope, text)


def _tag(tag: Mapping[str, str], lines: Mapping[str, list[str]]) -> Definition:
    at = int(tag["line"])
    scope = f"{tag.get('scopeKind', '')}:{tag['scope']}" if "scope" in tag else ""
    source = lines[tag["path"]]
    text = source[at - 1] if at <= len(source) else ""
    return Definition(tag["path"], tag["kind"], tag["name"], (at, at), scope, text)


def _lines(file: Path) -> list[str]:
    return file.read_bytes().decode("utf-8", "replace").split("\n")
