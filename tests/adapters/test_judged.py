"""Faults that the comparison with universal-ctags showed: `python -m benchmarks.accuracy`."""

from __future__ import annotations

import pytest
from pcpfs_adapters.installed import builtin

from pcpfs.ports import HEAD_BYTES

BLOCKS = """\
for a in b:
    looped = 1
with a:
    guarded = 1
if a:
    pass
elif b:
    other = 1
try:
    pass
except E:
    failed = 1
else:
    fine = 1
finally:
    always = 1
class C:
    if a:
        attribute = 1
def f():
    with a:
        local = 1
"""

SEEN = [
    ("a.py", BLOCKS, "looped guarded other failed fine always C f"),
    # A blank name names nothing, and what is in such a function is as local as in any.
    ("a.go", "var _ I = T{}\nconst (\n\t_ = iota\n\tA\n)\nfunc _() { var x int }\n", "A"),
    # The methods of an interface are symbols; of an interface without a name they are no one's.
    ("a.go", "type I interface{ M() }\nfunc f(a any) { a.(interface{ N() }).N() }\n", "I I.M f"),
    ("a.go", "type A = interface{ M() }\nvar v interface{ N() }\n", "A A.M v"),
    # What is noise before a name can be a name.
    ("a.ts", "export function window<T>() {}\nclass A { self() {} }\n", "window A A.self"),
    ("a.js", "module.exports = class A { m() {} };\nexports.b = class B {};\n", "A A.m b"),
    ("a.js", "module.exports = function f() { return function g() {}; };\n", "f f.g"),
    ("a.js", "module.exports = function () {};\n", "module.exports"),
    ("a.js", "A.prototype.m = function inner() {};\n", "A.m"),
    ("A.cs", "class A { event E X; event E Y, Z; }\n", "A A.X A.Y A.Z"),
    # Macros that stand where the grammar knows none.
    ("a.cc", "namespace a {\nA_BEGIN\nnamespace b { struct C {}; }\nA_END\n}\n", "a a.b a.b.C"),
    ("a.c", "typedef struct M_ALIGN(16) s_ { int x; } s;\nint f(void) M_PURE;\n", "s_ s f"),
    (
        "a.cc",
        "class M_API A : B {\n  M_USED inline int f() const M_BOUND { return 1; }\n};\n",
        "A A.f",
    ),
    ("a.js", "window.f = function () {};\nfunction exports() {}\n", "f exports"),
    ("a.js", "class A { [Symbol.iterator]() {} }\n", "A A.[Symbol.iterator]"),
    ("a.ts", "interface I { new (x: string): I }\nlet w: { new (u: string): W };\n", "I I.new w"),
    # A method of an anonymous class is none of the class around it.
    ("A.java", "class A { static { f(new B<T>() { void g() {} }); } }", "A A.B.g"),
    ("A.java", "class A { Map.Entry<K> e = new Map.Entry<K>() { K g() {} }; }", "A A.Map.Entry.g"),
    ("a.c", "static const u8 s[2][3] = {};\nextern char *a[2];\n", "s a"),
    # A file that is included in the body of a function.
    ("a.h", "if (n) {\n  int x = 1;\n}\n{\n  int y;\n}\nint z;\n", "z"),
    ("a.c", "#ifdef A\nwhile (n) { int x; }\n#endif\nint f(void);\n", "f"),
    (
        "a.mk",
        "ifdef A\nB = 1\nelse\noverride C := 2\nendif\n$(D)/e: f\n\techo\nG := $(H:=/i) j\nK = 1\n",
        "B C $(D)/e G K",
    ),
    ("a.kt", "internal typealias A = Int\nfun `b`() {}\n", "A b"),
    # Behind two annotations the grammar reads a class as an expression.
    ("a.kt", "package p\n@A(1)\n@B\nclass C {\n  fun m() {}\n}\nval d = 1\n", "C C.m d"),
    ("a.kt", "@A\n@B\nopen class C {\n  fun m() {}\n}\nval d = 1\n", "C C.m d"),
    ("a.kt", "@A\n@B\ninternal open class C {\n  fun m() {}\n}\nval d = 1\n", "C C.m d"),
    ("a.html", "<h1><a id=b></a>A<i>c</i></h1><h2> <img></h2>\n", "Ac Ac.b"),
    ("a.css", ".a,/* why: */#b { top: 0 }\n", ".a,#b"),
    ("a.sql", "CREATE TABLE [a].[b c] (d INT);\nSELECT e[1] FROM f;\n", "a.b c"),
    # The keyword after a macro that the grammar takes for a type.
    ("a.h", "EXPORT\nextern struct s t;\n", "t"),
]


@pytest.mark.parametrize(("path", "source", "names"), SEEN)
def test_what_is_a_definition(path: str, source: str, names: str) -> None:
    found = builtin().for_source(path, source.encode()).extract(source.encode())
    assert " ".join(symbol.qualified_name for symbol in found.symbols) == names


def _names(path: str, source: str) -> list[str]:
    raw = source.encode()
    seen = builtin().for_source(path, raw[:HEAD_BYTES]).extract(raw)
    return [symbol.qualified_name for symbol in seen.symbols]


def test_a_header_of_cpp_may_begin_with_pages_of_comments() -> None:
    source = "// what it is for\n" * 2000 + "class Note {\n  void save();\n};\n"
    assert _names("note.h", source) == ["Note", "Note.save"]


def test_macros_of_cpp_that_are_called_at_top_level_hide_nothing() -> None:
    source = (
        'FLAG_OF(int, size, 8, "log2(number of nodes)");\n'
        'FLAG_OF(int, most, 10,\n        "most; of all");\n'
        "namespace a {\nclass NOTE {\n  NOTE(const char* text);\n};\n}\n"
    )
    assert _names("a.cc", source) == ["a", "a.NOTE", "a.NOTE.NOTE"]
    (outer, *_) = builtin().for_source("a.cc", b"").extract(source.encode()).symbols
    assert outer.lines == (4, 8)


def test_names_of_specialised_templates_are_names() -> None:
    source = "template <class T>\nstruct Has<T, decltype(a::b<T>().c())> { int x; };\n"
    assert _names("a.cc", source) == ["Has"]


def test_patterns_of_bash_are_words() -> None:
    source = (
        "pick() {\n  case $1 in -!(-*)@([ab]|V*)) return ;; esac\n"
        "  [[ $1 =~ (\\$\\{[#!]?)([a-z]*)$ ]] && echo x/!($skip|functions)\n"
        '  eval "(( \\${#${1}[@]} > 0 ))"\n}\nPLAIN=@(a|b)\nafter() { :; }\n'
    )
    assert _names("a.sh", source) == ["pick", "PLAIN", "after"]
    seen = builtin().for_source("a.sh", b"").extract(source.encode())
    assert seen.error_count == 0
    assert seen.symbols[1].signature == "PLAIN=@(a|b)"
