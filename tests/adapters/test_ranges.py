"""The bytes of a symbol: what belongs to them and what does not, language by language."""

from __future__ import annotations

import re

import pytest
from pcpfs_adapters.installed import builtin

from pcpfs.ports import Adapter

ADAPTERS: dict[str, Adapter] = {a.name: a for a in builtin().all()}

EXACT = {
    "bash": ("# why\n", "function f() {\n  :\n}", "f", " # of f\n# after\n"),
    "c": ("/* why */\n", "__attribute__((used))\nstatic int f(void) {}", "f", " // of f\n// x\n"),
    "c_sharp": ("/// why\n", "[A]\n// between\n[B(1)]\npublic class C { }", "C", " // of C\n"),
    "cpp": ("// why\n", "template <class T>\nclass C {};", "C", " // of C\n// x\n"),
    "css": ("/* why */\n", "a { top: 0 }", "a", " /* of a */\n"),
    "dockerfile": ("# why\n", "FROM a AS b", "b", "\n# next\nRUN c\n"),
    "elixir": ('@doc "why"\n@spec f() :: 1\n', "def f do\n  1\nend", "f", " # of f\n# after\n"),
    "go": ("// why\n", "func f() {}", "f", " // of f\n// after\n"),
    "html": ("<!-- why -->\n", "<div id=a>\n</div>", "a", " <!-- after -->\n"),
    "java": ("/** why */\n", "@A(1)\n// between\n@B public class C {}", "C", " // of C\n"),
    "javascript": ("// why\n", "@a\nexport class C {}", "C", " // of C\n// after\n"),
    "json": ("{", '"a": {"b": 1}', "a", ', "c": 2}\n'),
    "kotlin": ("package p\n/** why */\n", "@A(1)\n@B class C {}", "C", "\nval d = 1\n"),
    "lua": ("-- why\n", "local function f()\nend", "f", " -- of f\n-- after\n"),
    "make": ("# why\n", "a: b\n\techo", "a", "\n\n# after\nC = 1\n"),
    "markdown": ("", "# A\n\ntext\n\n## B\n\nmore", "A", "\n\n# C\n"),
    "php": ("<?php\n/** why */\n", "#[A]\n#[B]\nfunction f() {}", "f", " // of f\n"),
    "python": ("# why\n", "@a\n# between\n@b(1)\ndef f():\n    g()  # of g", "f", "\n\n# after\n"),
    "ruby": ("# why\nprivate ", "def f\nend", "f", " # of f\n# after\n"),
    "rust": ("/// why\n", "#[a]\n// between\n#[b]\npub fn f() {}", "f", " // of f\n// after\n"),
    "scala": ("/** why */\n", "@a(1)\n@b class C {}", "C", " // of C\n"),
    "sql": ("-- why\n", "CREATE TABLE a (b INT)", "a", "; -- of a\n"),
    "swift": ("/// why\n", "@a\n@b(1) public class C {}", "C", " // of C\n"),
    "toml": ("# why\n", "[a] # of a\nb = 1", "a", " # of b\n\n# next\n[c]\n"),
    "tsx": ("// why\n", "export function F() { return <a/>; }", "F", " // of F\n// after\n"),
    "typescript": ("// why\n", "@a\nexport class C {\n  m() {} // of m\n}", "C", " // of C\n"),
    "yaml": ("# why\n", "a: # of a\n  b: 1", "a", "\n\n# next\nc: 2\n"),
}
"""What stands before, the bytes of the symbol, its name, what stands behind."""

ALONE_AND_TOGETHER = [
    ("go", "const A = 1\n", {"A": "const A = 1"}),
    ("go", "const (\n\tA = 1 // a\n\tB = 2\n)\n", {"A": "A = 1", "B": "B = 2"}),
    ("javascript", "export const A = 1; // a\n", {"A": "export const A = 1;"}),
    ("typescript", "export const A = 1, B = 2;\n", {"A": "A = 1", "B": "B = 2"}),
    ("tsx", "class C { m() {} // of m\n}\n", {"C": "class C { m() {} // of m\n}", "C.m": "m() {}"}),
    ("java", "class C { @A final static int X = 1; }", {"C.X": "@A final static int X = 1;"}),
    ("bash", "export A=1; B=2\n", {"A": "export A=1", "B": "B=2"}),
    ("c", "typedef struct t { int a; } t; // t\n", {"t": "typedef struct t { int a; } t;"}),
    ("cpp", "enum E { a };\n", {"E": "enum E { a }"}),
]

ATTRIBUTE = re.compile(r"@|#?\[|__attribute__|template\b|export\b")
COMMENT = re.compile(r"//|/\*|--|<!--|#(?![\[\w])")


@pytest.mark.parametrize("name", EXACT)
def test_slicing_gives_exactly_the_symbol(name: str) -> None:
    before, text, symbol, after = EXACT[name]
    for ends in ("\n", "\r\n"):
        source = f"{before}{text}{after}".replace("\n", ends)
        assert _texts(name, source)[symbol] == text.replace("\n", ends)


@pytest.mark.parametrize(("name", "source", "wanted"), ALONE_AND_TOGETHER)
def test_what_declares_one_belongs_to_it_and_what_declares_several_to_none(
    name: str, source: str, wanted: dict[str, str]
) -> None:
    assert wanted.items() <= _texts(name, source).items()


def test_each_language_is_looked_at() -> None:
    assert EXACT.keys() == ADAPTERS.keys() - {"text", "git_lfs"}


@pytest.mark.parametrize("name", sorted(EXACT.keys() - {"markdown"}))
def test_the_symbols_of_a_sample_begin_with_themselves_and_end_with_no_line_end(name: str) -> None:
    source = ADAPTERS[name].language.example.encode()  # type: ignore[attr-defined]
    for symbol in ADAPTERS[name].extract(source).symbols:
        text = source[slice(*symbol.bytes)].decode()
        assert text == text.strip()
        first = symbol.signature.split()[0]
        assert text.startswith(first) or ATTRIBUTE.match(text), (text, symbol.signature)
        assert not COMMENT.match(text)


def _texts(name: str, source: str) -> dict[str, str]:
    raw = source.encode()
    seen = ADAPTERS[name].extract(raw)
    assert seen.error_count == 0
    return {s.qualified_name: raw[slice(*s.bytes)].decode() for s in seen.symbols}
