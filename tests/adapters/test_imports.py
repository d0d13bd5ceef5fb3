"""What a source imports, and which files of its root that means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pcpfs_adapters.importing import STYLES, resolve
from pcpfs_adapters.installed import builtin
from pcpfs_adapters.language import Language
from pcpfs_adapters.tree_sitter_engine import TreeSitterAdapter

from pcpfs.ports import Importing

LANGUAGES = [a.language for a in builtin().all() if isinstance(a, TreeSitterAdapter)]


@dataclass(frozen=True, slots=True)
class Files:
    """A tree of files in memory."""

    contents: Mapping[str, bytes]

    def has(self, path: str) -> bool:
        return path in self.contents

    def names(self, folder: str) -> tuple[str, ...]:
        inside = f"{folder}/" if folder else ""
        below = (path[len(inside) :] for path in self.contents if path.startswith(inside))
        return tuple(sorted({path.split("/")[0] for path in below}))

    def read(self, path: str) -> bytes | None:
        return self.contents.get(path)


def tree(*paths: str) -> Files:
    return Files(dict.fromkeys(paths, b""))


def imports(path: str, source: str) -> tuple[str, ...]:
    found = builtin().for_source(path, b"").extract(source.encode()).imports
    return tuple(target for target, _ in found)


def leads(path: str, target: str, files: Files) -> tuple[str, ...]:
    adapter = builtin().for_source(path, b"")
    assert isinstance(adapter, Importing)
    return adapter.resolved(path, target, files)


@pytest.mark.parametrize(
    ("path", "source", "wanted"),
    [
        (
            "a.py",
            "import a.b, c as d\ndef f():\n    from ..x import (y, z as w)\n",
            "a.b c ..x.y ..x.z",
        ),
        ("a.py", "from . import q\nfrom m import *\nfrom a.b import c\n", ".q m a.b.c"),
        (
            "a.js",
            'import a from "./a";\nexport * from "./c";\nconst d = require("d");\n',
            "./a ./c d",
        ),
        ("a.js", 'import "./b";\nimport("./e");\nrequired("no");\n', "./b ./e"),
        ("a.tsx", "import type { A } from '@/a';\n", "@/a"),
        ("a.go", 'import (\n\t"fmt"\n\tx "a.b/c"\n)\nimport `d`\n', "fmt a.b/c d"),
        ("A.java", "import a.b.C;\nimport static a.b.C.m;\nimport d.*;\n", "a.b.C a.b.C.m d.*"),
        ("a.kt", "import a.b.C\n", "a.b.C"),
        (
            "a.rs",
            "mod x;\nmod y {}\nuse crate::a::b;\nuse super::q as r;\n",
            "self::x crate::a::b super::q",
        ),
        (
            "a.rs",
            "use crate::a::{b, c::d};\nuse self::z::*;\n",
            "crate::a::b crate::a::c::d self::z",
        ),
        (
            "a.c",
            '#include "a/b.h"\n#include <c.h>\n#ifdef X\n#include "d.h"\n#endif\n',
            "a/b.h <c.h> d.h",
        ),
        ("a.cc", '#include "a.h"\n', "a.h"),
        (
            "a.rb",
            'require "c"\nrequire_relative "a/b"\nautoload :X, "d/x"\nputs "no"\n',
            "c ./a/b d/x",
        ),
        (
            "a.php",
            "<?php\nuse A\\B, C as D;\nuse E\\{F, G\\H as I};\nuse function J\\k;\n"
            "class L { use M; }\n",
            "A\\B C E\\F E\\G\\H J\\k",
        ),
        (
            "a.php",
            "<?php\nrequire 'a.php';\nrequire_once __DIR__ . '/b/c.php';\nf('no');\n",
            "./a.php ./b/c.php",
        ),
        (
            "a.cs",
            "using A;\nusing static B.C;\nusing X = D.E;\nglobal using F;\nnamespace G {using H;}",
            "A B.C D.E F H",
        ),
        (
            "a.sh",
            'source ./a.sh\n. "$HERE/b.sh"\n. $(dirname "$0")/c.sh\necho no.sh\n',
            './a.sh $HERE/b.sh $(dirname"$0")/c.sh',
        ),
        ("a.lua", "local a = require('a.b')\nrequire 'c'\nprint('no')\n", "a.b c"),
        ("a.css", '@import "b.css";', ""),
        ("a.py", "import a\nimport a\n", "a"),
    ],
)
def test_what_is_imported(path: str, source: str, wanted: str) -> None:
    assert imports(path, source) == tuple(wanted.split())


PYTHON = tree("pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py", "src/own/c.py")
SCRIPTS = tree("web/a.ts", "web/b/index.tsx", "web/c.js", "web/lib/d.ts", "web/types.d.ts")
SETTINGS = Files(
    {
        "web/tsconfig.json": b"""{ // why
            "compilerOptions": {"baseUrl": ".", /* "x" */ "paths": {"@/*": ["lib/*"],},},
        }""",
        "web/lib/d.ts": b"",
        "web/a.ts": b"",
    }
)
SETTINGS_OUT = b'{"compilerOptions": {"baseUrl": "../.."}}'
GO = Files(
    {
        "go.mod": b"module example.org/notes\n\ngo 1.22\n",
        "main.go": b"",
        "store/a.go": b"",
        "store/b.go": b"",
        "store/a_test.go": b"",
    }
)
JAVA = tree("src/main/java/a/b/C.java", "src/test/java/a/b/CTest.java", "src/main/java/a/K.kt")
RUST = tree("src/lib.rs", "src/a.rs", "src/a/b.rs", "src/c/mod.rs", "src/c/d.rs")
C = tree("src/a.c", "src/a.h", "include/lib/b.h", "src/deep/c.c")
RUBY = tree("lib/a.rb", "lib/a/b.rb", "test/a_test.rb", "a.rb")
JAVA_MODULES = tree("core/src/main/java/a/C.java", "web/src/test/java/a/w/D.java")
PUBLIC = tree("src/string.h", "src/a.c", "include/lib/b.h")
PHP = Files(
    {
        "composer.json": b'{"autoload": {"psr-4": {"App\\\\": "src/", "App\\\\Own\\\\": ["own"]}}}',
        "src/Models/User.php": b"<?php\nnamespace App\\Models;\n",
        "own/X.php": b"",
        "index.php": b"",
    }
)
PHP_PLAIN = Files(
    {
        "lib/Models/User.php": b"<?php\nnamespace App\\Models;\nclass User {}\n",
        "lib/Other/User.php": b"<?php\nnamespace Else\\Other;\n",
        "lib/a.php": b"",
    }
)
C_SHARP = Files(
    {
        "src/App/Core/Log.cs": b"\xef\xbb\xbfusing System;\nnamespace App.Core\n{\n",
        "src/App/Core/Level.cs": b"namespace App.Core;\n",
        "src/App/Main.cs": b"namespace App;\n",
        "src/Core/Other.cs": b"namespace Other.Core;\n",
    }
)
BASH = tree("bin/run.sh", "bin/lib.sh", "share/lib/util.sh", "bin/share/x.sh")
LUA = tree("lua/a/b.lua", "lua/c/init.lua", "main.lua")

LEADS = [
    ("pkg/a.py", ".sub.b", PYTHON, "pkg/sub/b.py"),
    ("pkg/a.py", ".sub.b.Class", PYTHON, "pkg/sub/b.py"),
    ("pkg/sub/b.py", "..a.f", PYTHON, "pkg/a.py"),
    ("pkg/sub/b.py", "..", PYTHON, "pkg/__init__.py"),
    ("pkg/sub/b.py", "...x", PYTHON, ""),
    ("pkg/sub/b.py", "....x", PYTHON, ""),
    ("pkg/a.py", "pkg.sub", PYTHON, "pkg/sub/__init__.py"),
    ("pkg/a.py", "pkg.sub.b.f", PYTHON, "pkg/sub/b.py"),
    ("pkg/a.py", "own.c", PYTHON, "src/own/c.py"),
    ("pkg/a.py", "os.path", PYTHON, ""),
    ("pkg/a.py", ".name", PYTHON, "pkg/__init__.py"),
    ("web/a.ts", "./b", SCRIPTS, "web/b/index.tsx"),
    ("web/a.ts", "./c", SCRIPTS, "web/c.js"),
    ("web/a.ts", "./lib/d.js", SCRIPTS, "web/lib/d.ts"),
    ("web/a.ts", "./types", SCRIPTS, "web/types.d.ts"),
    ("web/lib/d.ts", "../a", SCRIPTS, "web/a.ts"),
    ("web/a.ts", "../../etc", SCRIPTS, ""),
    ("web/a.ts", "react", SCRIPTS, ""),
    ("web/a.ts", "@/d", SETTINGS, "web/lib/d.ts"),
    ("web/lib/d.ts", "lib/d", SETTINGS, "web/lib/d.ts"),
    ("web/lib/d.ts", "react", SETTINGS, ""),
    ("main.go", "example.org/notes/store", GO, "store/a.go store/b.go"),
    ("store/a.go", "example.org/notes", GO, "main.go"),
    ("main.go", "example.org/notesx/store", GO, ""),
    ("main.go", "fmt", GO, ""),
    ("src/main/java/a/K.kt", "a.b.C.Inner", JAVA, "src/main/java/a/b/C.java"),
    ("src/test/java/a/b/CTest.java", "a.b.C", JAVA, "src/main/java/a/b/C.java"),
    ("src/main/java/a/b/C.java", "a.K", JAVA, "src/main/java/a/K.kt"),
    ("src/main/java/a/b/C.java", "java.util.List", JAVA, ""),
    ("src/lib.rs", "self::a", RUST, "src/a.rs"),
    ("src/a.rs", "self::b", RUST, "src/a/b.rs"),
    ("src/c/mod.rs", "self::d", RUST, "src/c/d.rs"),
    ("src/c/d.rs", "crate::a::b::Item", RUST, "src/a/b.rs"),
    ("src/c/d.rs", "super::super::a", RUST, "src/a.rs"),
    ("src/a/b.rs", "crate::c", RUST, "src/c/mod.rs"),
    ("src/a.rs", "std::io", RUST, ""),
    ("src/a.c", "a.h", C, "src/a.h"),
    ("src/deep/c.c", "a.h", C, "src/a.h"),
    ("src/a.c", "lib/b.h", C, "include/lib/b.h"),
    ("src/deep/c.c", "b.h", C, "include/lib/b.h"),
    ("src/a.c", "../../x.h", C, ""),
    ("lib/a.rb", "a/b", RUBY, "lib/a/b.rb"),
    ("lib/a/b.rb", "a", RUBY, "lib/a.rb"),
    ("lib/a.rb", "./../../x", RUBY, ""),
    ("lib/a/b.rb", "./../a", RUBY, "lib/a.rb"),
    ("lib/a/b.rb", "./b", RUBY, "lib/a/b.rb"),
    ("test/a_test.rb", "a/b", RUBY, "lib/a/b.rb"),
    ("test/a_test.rb", "set", RUBY, ""),
    ("web/src/test/java/a/w/D.java", "a.C", JAVA_MODULES, "core/src/main/java/a/C.java"),
    ("web/src/test/java/a/w/D.java", "java.util.List", JAVA_MODULES, ""),
    ("src/main/java/a/K.kt", "a.b.*", JAVA, "src/main/java/a/b/C.java"),
    ("src/test/java/a/b/CTest.java", "a.b.C.*", JAVA, "src/main/java/a/b/C.java"),
    ("src/a.c", "<lib/b.h>", PUBLIC, "include/lib/b.h"),
    ("src/a.c", "<string.h>", PUBLIC, ""),
    ("index.php", "App\\Models\\User", PHP, "src/Models/User.php"),
    ("index.php", "\\App\\Own\\X", PHP, "own/X.php"),
    ("index.php", "Vendor\\Models\\User", PHP, ""),
    ("index.php", "./src/Models/User.php", PHP, "src/Models/User.php"),
    ("index.php", "./../x.php", PHP, ""),
    ("lib/a.php", "App\\Models\\User", PHP_PLAIN, "lib/Models/User.php"),
    ("lib/a.php", "App\\Other\\User", PHP_PLAIN, ""),
    ("src/App/Main.cs", "App.Core", C_SHARP, "src/App/Core/Level.cs src/App/Core/Log.cs"),
    ("src/App/Core/Log.cs", "App", C_SHARP, "src/App/Main.cs"),
    ("src/App/Main.cs", "App.Core.Log", C_SHARP, "src/App/Core/Log.cs"),
    ("src/App/Main.cs", "Other.Core", C_SHARP, "src/Core/Other.cs"),
    ("src/App/Main.cs", "System.Text", C_SHARP, ""),
    ("bin/run.sh", "./lib.sh", BASH, "bin/lib.sh"),
    ("bin/run.sh", "$HERE/lib.sh", BASH, "bin/lib.sh"),
    ("bin/run.sh", '$(dirname"$0")/share/x.sh', BASH, "bin/share/x.sh"),
    ("bin/run.sh", "${ROOT}/share/lib/util.sh", BASH, "share/lib/util.sh"),
    ("bin/run.sh", "/etc/profile", BASH, ""),
    ("bin/run.sh", "$A/$B.sh", BASH, ""),
    ("main.lua", "a.b", LUA, "lua/a/b.lua"),
    ("lua/a/b.lua", "c", LUA, "lua/c/init.lua"),
]


@pytest.mark.parametrize(("path", "target", "files", "wanted"), LEADS)
def test_where_an_import_leads(path: str, target: str, files: Files, wanted: str) -> None:
    assert leads(path, target, files) == tuple(wanted.split())


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_imports_and_their_style_go_together(language: Language) -> None:
    assert bool(language.imports) == (language.import_style in STYLES)


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text("./:*ab\\\0~@", max_size=12), st.sampled_from(["a/b/c.x", "c.x", "a/mod.rs"]))
def test_no_import_leads_out_of_the_root(style: str, target: str, path: str) -> None:
    class Watching(Files):
        def has(self, path: str) -> bool:
            return True

    found = resolve(style, path, target, Watching({"tsconfig.json": SETTINGS_OUT}))
    for place in found:
        assert not place.startswith("/")
        assert ".." not in place.split("/")
