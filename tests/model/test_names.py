"""Names that become paths: unusual ones are encoded, dangerous ones refused, none collapse."""

from __future__ import annotations

import os
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pcpfs.errors import InvalidName
from pcpfs.model.names import (
    SCOPE_FOLDERS,
    Namespace,
    TreePath,
    extension_of,
    is_editor_file,
    media_type_of,
    slug,
    source_path,
    source_ref,
    with_mark,
)

TRAVERSALS = (
    "..",
    ".",
    "a/../b",
    "../a",
    "a/..",
    "/etc/passwd",
    "..\\a",
    "a\\b",
    "%2e%2e/a",
    "a%2Fb",
    "a%5cb",
    "a%00b",
    "a\0b",
    "a\nb",
    "a\x1b[2Jb",
    "a\x7fb",
    "",
)
DEVICES = ("con", "CON", "prn", "aux", "nul", "NUL", "com1", "lpt9", "com¹", "conin$", "clock$")
given_names = st.text(
    st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("=:abcdef0123456789. "),
    min_size=1,
    max_size=20,
)


def accepted(text: str) -> Namespace | None:
    try:
        return Namespace.given(text)
    except InvalidName:
        return None


@given(given_names)
def test_an_encoded_scope_is_canonical_and_stays_as_it_is(text: str) -> None:
    scope = accepted(text)
    assume(scope is not None)
    assert scope is not None
    assert Namespace(scope) == scope
    assert Namespace.given(scope) == scope


@given(given_names, given_names)
def test_two_names_share_a_scope_only_if_one_is_the_spelling_of_the_other(
    one: str, other: str
) -> None:
    first, second = accepted(one), accepted(other)
    if first is not None and first == second and one != other:
        assert first in (one, other)


@given(given_names)
def test_a_scope_folder_is_one_that_every_system_can_hold(text: str) -> None:
    scope = accepted(text)
    assume(scope is not None)
    assert scope is not None
    for part in scope.folder.split("/"):
        assert part not in ("", ".", "..")
        assert part == part.lower()
        assert part.isascii()
        assert len(part) <= 255
        assert part[-1] not in ". "
        assert part.split(".")[0] not in DEVICES
    assert not set(scope.folder.split("/")[1:]) & set(SCOPE_FOLDERS)


@pytest.mark.parametrize(
    ("typed", "scope"),
    [
        ("project:formal-math", "project:formal-math"),
        ("Project", "=50roject"),
        ("a b", "a=20b"),
        ("é", "=c3=a9"),
        ("tree", "tree="),
        ("thread:pages:x", "thread:pages=:x"),
        ("con", "con="),
        ("con.txt", "con.txt="),
        (".hidden", "=2ehidden"),
        ("-dash", "=2ddash"),
        ("end.", "end=2e"),
        ("a=62", "a=3d62"),
        ("tree=", "tree="),
    ],
)
def test_scopes_are_spelled_so(typed: str, scope: str) -> None:
    assert Namespace.given(typed) == scope


@pytest.mark.parametrize("text", [*TRAVERSALS, "a::b", ":a", "a:", "a:..:b", "a/b", "x" * 121])
def test_a_scope_that_leads_out_of_its_folder_is_refused(text: str) -> None:
    with pytest.raises(InvalidName):
        Namespace.given(text)


@pytest.mark.parametrize("text", ["a" * 300, "é" * 60, ":".join("a" * 2000)])
def test_a_scope_too_long_for_a_folder_is_refused_before_anything_is_written(text: str) -> None:
    with pytest.raises(InvalidName):
        Namespace.given(text)


@pytest.mark.parametrize(
    "text", ["Project", "a=62", "tree", "con", "a b", "é", "end.", "=C3", "=6"]
)
def test_files_hold_the_canonical_spelling_only(text: str) -> None:
    with pytest.raises(InvalidName):
        Namespace(text)


@pytest.mark.parametrize("text", TRAVERSALS)
def test_a_tree_path_that_leads_out_is_refused(text: str) -> None:
    with pytest.raises(InvalidName):
        TreePath(text)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("shape", ["{}", "{}.md", "notes/{}.md", "{}/x.md", "{}.tar.gz", "{} .md"])
def test_device_names_are_refused_in_every_place(name: str, shape: str) -> None:
    with pytest.raises(InvalidName):
        TreePath(shape.format(name))


@pytest.mark.parametrize(
    "text",
    [
        "a//b",
        "a/",
        "C:/x",
        "c:x",
        " a.md",
        "a.md ",
        "a.",
        "a /b.md",
        ".git/config",
        ".GIT",
        ".gitattributes",
        "a/.gitmodules",
        "git~1",
        "a<b",
        "a|b",
        "a?b",
        "a*b",
        'a"b',
        "a:b",
        "x.md~",
        ".x.swp",
        "4913",
        "#x#",
        ".#x",
        "x.tmp",
        "\ud800.md",
        "a" * 201,
        "/".join(["a" * 100] * 11),
    ],
)
def test_a_tree_path_that_some_system_or_editor_misreads_is_refused(text: str) -> None:
    with pytest.raises(InvalidName):
        TreePath(text)


@pytest.mark.parametrize(
    "text", ["x.md", "notes/ü b.md", ".hidden/x", "a.b/c", "-x", "...x", "~x", "a" * 196 + ".md"]
)
def test_ordinary_and_merely_odd_paths_are_accepted(text: str) -> None:
    assert TreePath(text) == text


def test_paths_that_a_folder_could_confuse_share_a_claim() -> None:
    alike = ["Notes/É.md", "notes/é.md", "NOTES/e\u0301.MD"]
    assert len({TreePath(path).claim for path in alike}) == 1
    assert TreePath("Straße.md").claim == TreePath("strasse.md").claim
    assert TreePath("notes/e.md").claim != TreePath("notes/é.md").claim


@pytest.mark.parametrize(
    ("path", "marked"),
    [
        ("notes/x.md", "notes/x~1a.md"),
        ("x", "x~1a"),
        (".hidden", ".hidden~1a"),
        ("a.b/x", "a.b/x~1a"),
        ("x.tar.gz", "x.tar~1a.gz"),
    ],
)
def test_a_mark_goes_before_the_extension(path: str, marked: str) -> None:
    assert with_mark(path, "1a") == marked
    assert TreePath(marked) == marked


@given(st.text(max_size=200))
def test_a_slug_is_a_path_of_its_own_or_empty(title: str) -> None:
    made = slug(title)
    assert len(made.encode("utf-8", "surrogateescape")) <= 100
    assert unicodedata.is_normalized("NFC", made)
    assert all(char.isalnum() or char == "-" or unicodedata.combining(char) for char in made)
    assert not made.startswith("-")
    assert not made.endswith("-")


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Hello, World!", "hello-world"),
        ("../../etc/passwd", "etc-passwd"),
        ("数据库 design", "数据库-design"),
        ("  ", ""),
        ("!!!", ""),
        ("snake_case name", "snake-case-name"),
    ],
)
def test_slugs_read_like_their_titles(title: str, stem: str) -> None:
    assert slug(title) == stem


@given(st.binary(min_size=1, max_size=40).filter(lambda raw: b"\0" not in raw))
def test_a_source_ref_keeps_every_byte_of_a_path(raw: bytes) -> None:
    path = os.fsdecode(raw)
    ref = source_ref("root_x", path, (10, 40))
    assert source_path(ref) == ("root_x", path)
    assert ref.isascii()
    assert not any(char.isspace() or char in '?<>"' for char in ref)
    assert source_ref("root_x", path) + "#L10-40" == ref


def test_source_refs_are_spelled_so() -> None:
    assert source_ref("r", "app/é #1?%.py", (10, 40)) == "src:r/app/%C3%A9%20%231%3F%25.py#L10-40"
    assert source_ref("r", "a\udcff") == "src:r/a%FF"


@pytest.mark.parametrize(
    ("media_type", "extension"),
    [
        ("text/markdown", "md"),
        ("Text/Markdown; charset=utf-8", "md"),
        ("text/x-unheard-of", "txt"),
        ("application/x-unheard-of", "bin"),
        ("", "bin"),
    ],
)
def test_media_types_and_extensions(media_type: str, extension: str) -> None:
    assert extension_of(media_type) == extension


def test_a_file_name_tells_its_media_type_the_same_everywhere() -> None:
    assert media_type_of("X.MD") == media_type_of("a/b.markdown") == "text/markdown"
    assert media_type_of("md") is None
    assert media_type_of("x.unheard") is None


def test_editors_own_files_are_known() -> None:
    assert all(map(is_editor_file, ["x~", ".x.swp", ".x.swo", "4913", "#x#", ".#x", "a.tmp"]))
    assert not any(map(is_editor_file, ["x", "x~1.md", "swp", "x.swp", "#x", "49130", "tmp"]))
