"""What a source mentions, what that makes important, and an outline cut to a budget."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from array import array
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcpfs.search.importance import Definition, Focus, Place, importance, references
from pcpfs.search.mentions import mentions
from pcpfs.search.outline import NONE, Layout, by_worth, outline


class TestMentions:
    """Identifiers, without comments and literals."""

    @pytest.mark.parametrize(
        ("language", "text", "found"),
        [
            ("python", "harbour(tide.level)", {"harbour": 1, "tide": 1, ".level": 1}),
            ("python", '# harbour\nx = \'tide\' + """mole\npier"""', {}),
            ("python", "f(ferry, ferry) # ferry's\nmole", {"ferry": 2, "mole": 1}),
            ("python", "'it\\'s' + rest", {"rest": 1}),
            ("python", "0xbeef + 12abc + an", {}),
            ("python", "größe(ñandú)", {"größe": 1, "ñandú": 1}),
            ("cpp", "ptr->tide + harbour::mole", {"ptr": 1, ".tide": 1, "harbour": 1, ".mole": 1}),
            ("javascript", "// tide\nmole /* ferry */ + 'pier'", {"mole": 1}),
            ("rust", "fn x<'a>(tide: &'a str)", {"tide": 1, "str": 1}),
            ("php", "$tide # mole\n// pier\n", {"tide": 1}),
            ("sql", "select tide -- mole\n", {"select": 1, "tide": 1}),
            ("ruby", "tide # mole", {"tide": 1}),
            ("markdown", "The harbour and `tide`.", {}),
            ("json", '{"harbour": tide}', {}),
            (None, "harbour", {}),
        ],
    )
    def test_names_are_told_from_the_rest(
        self, language: str | None, text: str, found: Mapping[str, int]
    ) -> None:
        assert mentions(text, language) == found

    @settings(max_examples=25)
    @given(
        st.text(max_size=60),
        st.sampled_from(["python", "javascript", "rust", "lua", "php", "text"]),
    )
    def test_any_text_has_some(self, text: str, language: str) -> None:
        for name, count in mentions(text, language).items():
            assert count > 0
            assert name.lstrip(".") in text


def place(path: str, *names: str, language: str = "python", is_less: bool = False) -> Place:
    return Place(path, language, is_less, dict.fromkeys(names, 1))


def ranked(
    places: list[Place], defined: dict[int, list[str]], focus: Focus | None = None
) -> tuple[list[float], dict[str, float]]:
    """The ranks of files and of names; a name with a dot before it is a member."""
    definitions = [
        Definition(number, name.lstrip("."), name.startswith("."))
        for number, names in defined.items()
        for name in names
    ]
    found = importance(references(places, definitions), focus)
    names = [definition.name for definition in definitions]
    return list(found.places), dict(zip(names, found.definitions, strict=True))


class TestImportance:
    """What others refer to."""

    def test_what_is_mentioned_most_matters_most(self) -> None:
        places = [
            place("a.py", "Harbour", "MolePier", "c"),
            place("b.py", "Harbour", "c"),
            place("c.py"),
        ]
        files, names = ranked(places, {2: ["Harbour", "MolePier", "FerryLine"]})
        assert files[2] > files[0] > 0
        assert names["Harbour"] > names["MolePier"] > names["FerryLine"] == 0
        assert sum(files) == pytest.approx(1)

    def test_being_mentioned_by_what_matters_counts_more(self) -> None:
        places = [
            place("a.py", "HubThing", "hub"),
            place("b.py", "HubThing", "hub"),
            place("hub.py", "DeepThing", "deep"),
            place("deep.py"),
            place("lone.py", "FlatThing", "flat"),
            place("flat.py"),
        ]
        files, names = ranked(places, {2: ["HubThing"], 3: ["DeepThing"], 5: ["FlatThing"]})
        assert names["DeepThing"] > names["FlatThing"]
        assert files[3] > files[5]

    def test_a_bare_name_is_no_member(self) -> None:
        places = [place("a.py", "taking"), place("b.py"), place("c.py", ".taking")]
        assert ranked(places, {1: [".taking"]})[1]["taking"] > 0
        assert ranked(places[:2], {1: [".taking"]})[1]["taking"] == 0

    def test_of_files_that_define_a_name_the_imported_one_is_meant(self) -> None:
        places = [
            place("x/a.py", "make_tide", "one"),
            place("y/one.py"),
            place("z/two.py"),
        ]
        files, _ = ranked(places, {1: ["make_tide"], 2: ["make_tide"]})
        assert files[1] > files[2]

    def test_names_do_not_cross_languages_and_mean_ones_own_first(self) -> None:
        places = [
            place("a.py", "make_tide", ".turn_tide"),
            place("b.js", language="javascript"),
            place("c.py"),
        ]
        _, names = ranked(places, {0: [".turn_tide"], 1: ["make_tide"], 2: [".turn_tide"]})
        assert set(names.values()) == {0}

    def test_what_only_tests_define_is_hardly_meant_outside_of_them(self) -> None:
        places = [
            place("a.py", "make_tide", "made_tide", "b", "d"),
            place("tests/b.py", is_less=True),
            place("d.py"),
        ]
        _, names = ranked(places, {1: ["make_tide"], 2: ["made_tide"]})
        assert names["made_tide"] > 10 * names["make_tide"]

    def test_tests_say_less_and_are_meant_last(self) -> None:
        places = [
            place("tests/a.py", "make_tide", "both_have", is_less=True),
            place("b.py", "turn_tide", "c"),
            place("c.py"),
            place("tests/d.py", is_less=True),
        ]
        defined = {2: ["make_tide", "turn_tide", "both_have"], 3: ["both_have"]}
        files, names = ranked(places, defined)
        assert names["turn_tide"] > names["make_tide"]
        assert files[2] > files[3]

    def test_a_focus_brings_up_what_is_around_it(self) -> None:
        places = [
            place("a.py", "BigThing", "big"),
            place("b.py", "BigThing", "big"),
            place("big.py"),
            place("user.py", "small_thing", "small"),
            place("small.py", "deep_thing", "deep"),
            place("deep.py"),
        ]
        defined = {2: ["BigThing"], 4: ["small_thing"], 5: ["deep_thing"]}
        files, _ = ranked(places, defined, Focus({4: 1.0}))
        assert max(files) == files[4]
        assert files[5] > files[2]
        assert files[3] > files[0]

    def test_nothing_at_all_is_ranked_too(self) -> None:
        assert ranked([], {}) == ([], {})
        assert ranked([place("a.py")], {}) == ([1.0], {})
        assert ranked([place("a.py")], {}, Focus({0: 2.0})) == ([1.0], {})

    @settings(max_examples=25)
    @given(st.data())
    def test_ranks_are_shares_of_one(self, data: st.DataObject) -> None:
        names = st.sampled_from(["alpha", ".alpha", "be_ta", ".be_ta", "_gam_ma"])
        places = [
            place(f"{n}.py", *data.draw(st.sets(names)), is_less=data.draw(st.booleans()))
            for n in range(data.draw(st.integers(1, 6)))
        ]
        defined = {n: sorted(data.draw(st.sets(names))) for n in range(len(places))}
        files, shares = ranked(places, defined, data.draw(st.sampled_from([None, Focus({0: 1})])))
        assert sum(files) == pytest.approx(1)
        assert all(rank >= 0 for rank in [*files, *shares.values()])


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Layout, list[int]]:
    """Files with entries, some within earlier ones, and an order of all."""
    size = st.integers(0, 20)
    made = Layout(array("i"), array("i"), array("i"), array("i"))
    for file in range(draw(st.integers(0, 4))):
        made.heads.append(1 + draw(size))
        first = len(made.files)
        for number in range(first, first + draw(st.integers(0, 6))):
            inside = st.integers(first, number - 1) if number > first else st.nothing()
            made.files.append(file)
            made.sizes.append(draw(size))
            made.around.append(draw(st.just(NONE) | inside))
    return made, draw(st.permutations(range(len(made.heads) + len(made.files))))


def size_of(made: Layout, shown: Mapping[int, Iterable[int]]) -> int:
    return sum(made.heads[f] + sum(made.sizes[e] for e in inside) for f, inside in shown.items())


def with_one_more(made: Layout, done: Mapping[int, tuple[int, ...]]) -> list[dict[int, set[int]]]:
    """All outlines that show one more file, or one more entry with what is around it."""
    shown = {file: set(inside) for file, inside in done.items()}
    more = [{**shown, file: set()} for file in range(len(made.heads)) if file not in shown]
    for entry, file in enumerate(made.files):
        wanted, at = set(shown.get(file, ())), entry
        if entry in wanted:
            continue
        while at != NONE:
            wanted.add(at)
            at = made.around[at]
        more.append({**shown, file: wanted})
    return more


class TestOutline:
    """Exact, and as full as it gets."""

    @given(layouts(), st.integers(1, 60))
    def test_any_budget_holds_and_nothing_more_would_fit(
        self, given_: tuple[Layout, list[int]], budget: int
    ) -> None:
        made, order = given_
        done = outline(made, order, budget)
        assert size_of(made, done) <= 4 * budget
        for more in with_one_more(made, done):
            assert size_of(made, more) > 4 * budget

    @given(layouts(), st.integers(1, 60))
    def test_what_is_around_an_entry_is_shown_with_it(
        self, given_: tuple[Layout, list[int]], budget: int
    ) -> None:
        made, order = given_
        for file, inside in outline(made, order, budget).items():
            assert {made.files[entry] for entry in inside} <= {file}
            assert {made.around[entry] for entry in inside} - {NONE} <= set(inside)

    def test_the_worthiest_come_first(self) -> None:
        made = Layout(
            array("i", [5, 5]),
            array("i", [0, 0, 0, 1]),
            array("i", [4] * 4),
            array("i", [NONE] * 4),
        )
        order = by_worth([0, 0], [0.1, 0.9, 0.5, 0.7])
        assert list(order) == [3, 5, 4, 2, 0, 1]
        assert outline(made, order, 5) == {0: (1,), 1: (3,)}
        assert outline(made, order, 100) == {0: (0, 1, 2), 1: (3,)}
        assert outline(Layout(*[array("i")] * 4), (), 5) == {}


def test_every_process_ranks_alike() -> None:
    """Nothing depends on the order of a set of strings."""
    program = (
        "from pcpfs.search.importance import *\n"
        "names = [f'name_{n}' for n in range(40)]\n"
        "places = [Place(f'd{n % 3}/{n}.py', 'python', n % 4 == 0, "
        "{names[(n * 7 + k) % 40]: k + 1 for k in range(9)}) for n in range(20)]\n"
        "made = [Definition(n % 20, name, n % 5 == 0) for n, name in enumerate(names)]\n"
        "found = references(places, made)\n"
        "print(found, importance(found), importance(found, Focus({3: 1.0})))\n"
    )
    seeds = random.Random(1).sample(range(1000), 2)
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in seeds
    }
    assert len(answers) == 1
