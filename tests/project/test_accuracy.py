"""The yardstick of `python -m benchmarks.accuracy` counts right, and hides nothing unsaid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pcpfs_adapters.kinds import KINDS

from benchmarks.accuracy import packages
from benchmarks.accuracy.comparing import Comparison, Figures, adjusted, compare, rows
from benchmarks.accuracy.packages import Absent, sources
from benchmarks.accuracy.peer import of_ours
from benchmarks.accuracy.yardstick import Definition, LeftOut, Yardstick, load

KINDS_OF_CTAGS = {"function": ("function",), "struct": ("struct",), "typedef": ("struct", "type")}
STICK = Yardstick("c", "C", "pip", "it", (".c",), KINDS_OF_CTAGS, ("c",))


def found(kind: str, name: str, first: int, last: int = 0) -> Definition:
    return Definition("a.c", kind, name, (first, last or first))


def test_a_tag_agrees_with_the_innermost_symbol_on_its_line() -> None:
    outer, inner = found("function", "f", 1, 9), found("function", "f", 3, 4)
    made = compare(STICK, [found("function", "f", 3), found("function", "f", 1)], [outer, inner])
    assert [pair[1] for pair in made.agreed] == [inner, outer]
    assert made.total == Figures(2, 0, 0)


def test_another_line_or_kind_or_name_is_no_agreement() -> None:
    ours = [found("function", "f", 1, 2), found("struct", "s", 4), found("function", "g", 6)]
    tags = [found("function", "f", 3), found("function", "s", 4), found("function", "h", 6)]
    made = compare(STICK, tags, ours)
    assert made == Comparison((), tuple(tags), tuple(ours))
    assert made.total == Figures(0, 3, 3)


def test_what_is_told_twice_counts_once_unless_under_two_kinds() -> None:
    ours = [found("struct", "s", 1, 3)]
    tag, alias = found("struct", "s", 1), found("typedef", "s", 3)
    assert compare(STICK, [tag, tag, alias], ours).total == Figures(2, 0, 0)
    assert compare(STICK, [tag, found("struct", "s", 2)], ours).total == Figures(1, 1, 0)


def test_precision_and_recall() -> None:
    assert (Figures(8, 2, 0).recall, Figures(8, 2, 0).precision) == (0.8, 1.0)
    assert (Figures(8, 0, 2).recall, Figures(8, 0, 2).precision) == (1.0, 0.8)
    assert (Figures(0, 0, 0).recall, Figures(0, 1, 1).precision) == (1.0, 0.0)


def test_what_is_left_out_is_counted_by_reason_and_side() -> None:
    blank = LeftOut("ctags", "blank", name="^_$")
    again = LeftOut("ours", "told once", is_repeated=True)
    stick = Yardstick(
        "c", "C", "pip", "it", (".c",), KINDS_OF_CTAGS, ("c",), left_out=(blank, again)
    )
    tags = [found("function", "f", 1), found("function", "_", 5), found("function", "g", 7)]
    ours = [found("function", "f", 1), found("function", "f", 2), found("function", "_", 9)]
    fair, taken = adjusted(stick, compare(stick, tags, ours))
    assert fair.total == Figures(1, 1, 1)
    assert [definition.name for definition in fair.extra] == ["_"]
    assert taken == {blank: 1, again: 1}


def test_kinds_that_meet_share_a_row() -> None:
    assert rows(STICK) == [
        (("function",), ("function",)),
        (("struct", "type"), ("struct", "typedef")),
    ]


@pytest.mark.parametrize("stick", load().values(), ids=lambda stick: stick.name)
def test_a_yardstick_is_whole(stick: Yardstick) -> None:
    assert {kind for ours in stick.kinds.values() for kind in ours} <= KINDS
    for rule in stick.left_out:
        assert rule.side in ("ctags", "ours")
        assert len(rule.because.split()) > 3, "a reason that a person can judge"
        assert rule.kinds or rule.name or rule.scope or rule.line or rule.path or rule.is_repeated
        if rule.side == "ctags":
            assert set(rule.kinds) <= set(stick.kinds)
        for pattern in (rule.name, rule.scope, rule.line, rule.path):
            re.compile(pattern)


def test_the_six_languages_have_an_aim() -> None:
    aimed = {name for name, stick in load().items() if stick.aim == 0.98}
    assert {"python", "go", "java", "rust", "typescript", "c"} <= aimed


def test_our_side_says_what_is_around(tmp_path: Path) -> None:
    source = tmp_path / "a.rs"
    source.write_bytes(b"impl A {\n  fn f() { fn g() {} }\n}\n")
    stick = Yardstick("rust", "Rust", "pip", "it", (".rs",), {}, ("rust",))
    f, g = of_ours(stick, {"a.rs": source})
    assert (f.name, f.lines, f.scope) == ("f", (2, 2), "")
    assert (g.name, g.scope) == ("g", "method:A.f")


def test_a_symbol_of_several_names_counts_by_each(tmp_path: Path) -> None:
    source = tmp_path / "a.css"
    source.write_bytes(b".a,\n.b > c { top: 0 }\n")
    stick = Yardstick("css", "CSS", "pip", "it", (".css",), {}, ("css",), apart=r",\s*")
    assert [(d.name, d.lines) for d in of_ours(stick, {"a.css": source})] == [
        (".a", (1, 2)),
        (".b > c", (1, 2)),
    ]
    assert compare(stick, [], of_ours(stick, {"a.css": source})).total == Figures(0, 0, 2)


def test_a_package_that_cannot_be_fetched_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "_command", lambda *_: ["no-such-program"])
    with pytest.raises(Absent, match="no-such-program is not installed"):
        sources(STICK, tmp_path)
    monkeypatch.setattr(packages, "_command", lambda *_: ["sh", "-c", "echo gone >&2; exit 3"])
    with pytest.raises(Absent, match="gone"):
        sources(STICK, tmp_path)
