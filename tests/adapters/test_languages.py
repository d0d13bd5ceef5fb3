"""The data files: each says what its example holds, and the engine sees just that."""

from __future__ import annotations

import pytest
from pcpfs_adapters.installed import builtin
from pcpfs_adapters.kinds import KINDS
from pcpfs_adapters.tree_sitter_engine import TreeSitterAdapter

from pcpfs.model.frames import Symbol
from pcpfs.ports import Adapter

LANGUAGES = {a.name: a for a in builtin().all() if isinstance(a, TreeSitterAdapter)}


def symbols(name: str, source: str) -> tuple[Symbol, ...]:
    adapter: Adapter = LANGUAGES[name]
    return adapter.extract(source.encode()).symbols


def texts(name: str, source: str) -> dict[str, str]:
    """Qualified name → the text of the symbol."""
    raw = source.encode()
    return {s.qualified_name: raw[slice(*s.bytes)].decode() for s in symbols(name, source)}


def test_all_promised_languages_are_there() -> None:
    promised = (
        "bash c c_sharp cpp css dockerfile elixir go html java javascript json kotlin lua make php"
        " python ruby rust scala sql swift toml tsx typescript yaml"
    )
    assert sorted(LANGUAGES) == promised.split()
    assert {a.name for a in builtin().all()} == {*LANGUAGES, "git_lfs", "markdown", "text"}


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_example_holds_what_its_data_file_says(name: str) -> None:
    language = LANGUAGES[name].language
    seen = LANGUAGES[name].extract(language.example.encode())
    assert [_line(symbol) for symbol in seen.symbols] == language.symbols.splitlines()
    assert seen.error_count == 0
    assert seen.notes == ()
    assert {symbol.kind for symbol in seen.symbols} <= KINDS


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_documentation_of_the_example_lies_where_it_says(name: str) -> None:
    source = LANGUAGES[name].language.example.encode()
    documented = [s for s in LANGUAGES[name].extract(source).symbols if s.doc_bytes]
    assert documented or name in ("bash", "json")
    for symbol in documented:
        assert symbol.doc_bytes is not None
        text = source[slice(*symbol.doc_bytes)].decode()
        assert symbol.doc.split()[0] in text
        assert text == text.strip()


def test_decorators_attributes_and_export_belong_to_the_bytes() -> None:
    assert texts("python", "@a\n@b(1)\ndef f(): pass\n")["f"] == "@a\n@b(1)\ndef f(): pass"
    assert texts("rust", "#[a]\n// why\n#[b]\nfn f() {}\n")["f"] == "#[a]\n// why\n#[b]\nfn f() {}"
    assert texts("typescript", "@a\nexport class C {}\n")["C"] == "@a\nexport class C {}"
    member = texts("typescript", "class C { @a() @b m() {} n() {} }\n")
    assert (member["C.m"], member["C.n"]) == ("@a() @b m() {}", "n() {}")
    assert texts("java", "@A(1)\nclass C {}\n")["C"] == "@A(1)\nclass C {}"


def test_a_leading_comment_does_not_belong_to_the_bytes() -> None:
    source = "# why\ndef f():\n    return 1  # done\n\n# after\n"
    (symbol,) = symbols("python", source)
    assert source[slice(*symbol.bytes)].startswith("def f")
    assert symbol.doc == "why"
    assert symbol.doc_bytes == (0, 5)


def test_a_comment_of_other_code_documents_nothing() -> None:
    assert symbols("python", "x = 1  # of x\ndef f(): pass\n")[1].doc == ""
    assert symbols("python", "# a heading\n\ndef f(): pass\n")[0].doc == ""
    assert symbols("bash", "#!/bin/bash\nf() { :; }\n")[0].doc == ""
    assert symbols("rust", "// not a doc comment\nfn f() {}\n")[0].doc == ""


def test_a_signature_has_neither_comments_nor_attributes() -> None:
    source = "@a(1)\ndef f(\n    x: int,  # the x\n    *y,\n) -> dict[str, int]:\n    pass\n"
    (symbol,) = symbols("python", source)
    assert symbol.signature == "def f( x: int, *y, ) -> dict[str, int]"
    (symbol,) = symbols("go", "func f(a int /* why */, b int) error { return nil }")
    assert symbol.signature == "func f(a int , b int) error"


def test_overloads_and_property_pairs_stay_distinct() -> None:
    found = symbols("java", "class A { void f(int a) {} void f(String a) {} }")
    assert [s.signature for s in found[1:]] == ["void f(int a)", "void f(String a)"]
    source = (
        "class A:\n    @property\n    def p(self): ...\n    @p.setter\n    def p(self, v): ...\n"
    )
    assert [s.qualified_name for s in symbols("python", source)] == ["A", "A.p", "A.p"]


def test_names_that_differ_in_case_or_unicode_form_stay_distinct() -> None:
    names = [s.name for s in symbols("python", "def Tide(): ...\ndef tide(): ...\n")]
    assert names == ["Tide", "tide"]
    composed, decomposed = "h\u00f6he", "ho\u0308he"
    source = f"def {composed}(): ...\ndef {decomposed}(): ...\n"
    assert [s.name for s in symbols("python", source)] == [composed, decomposed]


def test_bytes_and_lines_are_right_after_text_that_is_not_ascii() -> None:
    found = texts("python", "s = 'é 𝄞'\ndef größe(): return '𝄞'\ndef f(): pass\n")
    assert found["größe"] == "def größe(): return '𝄞'"
    assert found["f"] == "def f(): pass"


def test_rust_reports_a_method_once() -> None:
    found = [s.qualified_name for s in symbols("rust", "impl<T> A<T> { fn m(&self) {} }\n")]
    assert found == ["A.m"]


def test_values_inside_functions_are_local() -> None:
    assert [s.name for s in symbols("python", "def f():\n    X = 1\n")] == ["f"]
    assert [s.name for s in symbols("go", "func f() { const x = 1; var y int }")] == ["f"]
    assert [s.name for s in symbols("c", "int f(void) { int x = 1; char y(int); }")] == ["f"]
    assert [s.name for s in symbols("javascript", "on(() => { const x = 1; });")] == []


def test_a_constant_in_a_group_keeps_its_bytes_when_the_group_grows() -> None:
    one = texts("go", "const (\n\tA = 1\n)\n")
    two = texts("go", "const (\n\tA = 1\n\tB = 2\n)\n")
    assert one["A"] == two["A"] == "A = 1"


@pytest.mark.parametrize(
    ("name", "source", "wanted"),
    [
        ("python", "def a(): pass\ndef b(:\n    pass\ndef c(): pass\n", {"a", "c"}),
        ("javascript", "function a() {}\nlet = = 3;\nclass C { m() {} }\n", {"a", "C"}),
        ("go", "package p\nfunc a() {}\nfunc b( {\nfunc c() {}\n", {"a"}),
        ("rust", "fn a() {}\nfn b( {\nfn c() {}\n", {"a"}),
        ("c", "int a(void) { return 0; }\nint b( {\nint c(void) { return 0; }\n", {"a"}),
    ],
)
def test_a_syntax_error_hides_only_what_does_not_parse(
    name: str, source: str, wanted: set[str]
) -> None:
    seen = LANGUAGES[name].extract(source.encode())
    assert wanted <= {symbol.name for symbol in seen.symbols}
    assert seen.error_count > 0


def _line(symbol: Symbol) -> str:
    first, last = symbol.lines
    told = f"{symbol.kind} {symbol.qualified_name} {first}-{last} | {symbol.signature}"
    return f"{told} | {symbol.doc}" if symbol.doc else told
