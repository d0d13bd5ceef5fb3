"""What comes first, and that no engine and no history of updates changes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pcpfs_index.fts5_engine import engine as fts5
from pcpfs_index.memory import engine as memory
from pcpfs_index.whoosh_engine import engine as whoosh

from pcpfs.ports import SearchEngine, SearchIndex
from pcpfs.search.analysis import Analyser, Document
from pcpfs.search.query import parse
from pcpfs.search.ranking import Match, rank

CODE = (
    "class HTTPServerError(Exception): pass\n"
    "std::vector<int> a = b->c; a ^ b; self.user_id = utf8  # C++ 向量数据库\n"
)
LIBRARY = (
    Document("sym:get", "Users.getUserById", "def getUserById(self, id)", "app/users.py"),
    Document("sym:save", "Store.save", "def save(self)", "app/store.py", prose="Saves the users."),
    Document("sym:saver", "saver", "def saver()", "app/store.py"),
    Document("file:code", path="lib/code.cpp", title="code.cpp", body=CODE),
    Document("file:notes", path="docs/notes.txt", title="notes.txt", prose="On saving sessions."),
    Document("file:test", path="tests/t.py", body="def save(): users", factor_percent=70),
)


@pytest.fixture(params=[memory, whoosh, fts5], ids=lambda engine: engine.name)
def engine(request: pytest.FixtureRequest) -> SearchEngine:
    engine: SearchEngine = request.param
    return engine


@pytest.fixture
def library(engine: SearchEngine, tmp_path: Path) -> SearchIndex:
    return filled(engine, tmp_path / "library", LIBRARY)


def filled(engine: SearchEngine, folder: Path, documents: Sequence[Document]) -> SearchIndex:
    index = engine.open(folder)
    index.update(map(Analyser().analyse, documents), [], "filled")
    return index


def keys(indexes: Sequence[SearchIndex], query: str, limit: int = 20) -> list[str]:
    return [hit.key for hit in rank(indexes, parse(query), limit=limit)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("getUserById", "sym:get"),
        ("getuserbyid", "sym:get"),
        ("get_user_by_id", "sym:get"),
        ("Users.getUserById", "sym:get"),
        ("user", "sym:get"),
        ("http server", "file:code"),
        ("HTTPServerError", "file:code"),
        ("user_id", "file:code"),
        ("self.user_id", "file:code"),
        ("utf8", "file:code"),
        ("utf-8", "file:code"),
        ("C++", "file:code"),
        ("->", "file:code"),
        ("::", "file:code"),
        ("a^b", "file:code"),
        ("^", "file:code"),
        ("数据库", "file:code"),
        ("数", "file:code"),
        ("code.cpp", "file:code"),
        ("lib/code.cpp", "file:code"),
        ("sessions saved", "file:notes"),
        ("sesion~", "file:notes"),
        ("getUs*", "sym:get"),
        ("vect*", "file:code"),
        ('"vector<int>"', "file:code"),
    ],
)
def test_it_is_found_first(library: SearchIndex, query: str, found: str) -> None:
    assert keys([library], query)[0] == found


@pytest.mark.parametrize(
    "query",
    [
        "",
        '"',
        "nowhere",
        "*:*",
        "*",
        "据数库",
        "path:lib",
        "zz*",
        "qqqqqq~",
        "\ud800",
        '"a z"',
    ],
)
def test_it_is_not_found(library: SearchIndex, query: str) -> None:
    assert keys([library], query) == []


def test_the_exact_name_comes_first_then_names_with_it(library: SearchIndex) -> None:
    first, *_ = hits = rank([library], parse("save"))
    assert (first.key, first.exact) == ("sym:save", True)
    assert [hit.exact for hit in hits[1:]] == [False] * len(hits[1:])


def test_the_whole_identifier_comes_before_its_parts(library: SearchIndex) -> None:
    assert keys([library], "user_id") == ["file:code", "sym:get"]


def test_tests_come_after_what_they_test(engine: SearchEngine, tmp_path: Path) -> None:
    texts = [("b", 100), ("a", 70), ("c", 100)]
    documents = [Document(key, body="one word", factor_percent=factor) for key, factor in texts]
    assert keys([filled(engine, tmp_path, documents)], "word") == ["b", "c", "a"]


def test_documents_with_all_words_come_first_then_fewer(
    engine: SearchEngine, tmp_path: Path
) -> None:
    documents = [
        Document("one", title="alpha", body="alpha " * 50),
        Document("two", body="alpha beta " + "filler " * 40),
        Document("three", body="alpha beta gamma " + "filler " * 150),
        Document("none", body="filler"),
    ]
    assert keys([filled(engine, tmp_path, documents)], "alpha beta gamma") == [
        "three",
        "two",
        "one",
    ]


def test_a_change_log_with_every_word_does_not_answer_every_question(
    engine: SearchEngine, tmp_path: Path
) -> None:
    everything = " ".join(f"word{n} of release" for n in range(2000))
    documents = [
        Document("log", prose=f"{everything} parse the cookie header {everything} quickly"),
        Document("it", name="parse_cookie", prose="Parse a cookie header into a dictionary."),
        *(Document(f"other{n}", name=f"f{n}", prose="Some other text.") for n in range(20)),
    ]
    assert keys([filled(engine, tmp_path, documents)], "parse cookie header quickly")[0] == "it"


def test_a_word_that_nearly_all_have_is_not_missed(engine: SearchEngine, tmp_path: Path) -> None:
    documents = [Document(f"d{n:02}", body="project notes") for n in range(30)]
    documents.append(Document("it", title="compactness", body="theorem"))
    assert keys([filled(engine, tmp_path, documents)], "project compactness")[0] == "it"


def test_equals_come_in_order_of_key(engine: SearchEngine, tmp_path: Path) -> None:
    documents = [Document(key, body="same") for key in ("c", "a", "b", "d")]
    assert keys([filled(engine, tmp_path, documents)], "same") == ["a", "b", "c", "d"]
    assert keys([filled(engine, tmp_path, documents)], "same", limit=2) == ["a", "b"]


def test_a_hit_says_which_words_it_has_where(library: SearchIndex) -> None:
    (hit,) = (h for h in rank([library], parse("users saving nowhere")) if h.key == "sym:save")
    assert hit.matches == (Match("users", ("prose",)), Match("saving", ("prose",)))


def test_scores_never_rise_down_the_list(library: SearchIndex) -> None:
    for query in ("save", "users", "save users", "user_id", "a b c"):
        scores = [hit.score for hit in rank([library], parse(query))]
        assert scores == sorted(scores, reverse=True)


def test_the_mask_is_asked_in_order_until_there_are_enough(library: SearchIndex) -> None:
    everything, asked = keys([library], "save"), []

    def allowed(key: str) -> bool:
        asked.append(key)
        return key != everything[0]

    assert [h.key for h in rank([library], parse("save"), allowed=allowed, limit=1)] == [
        everything[1]
    ]
    assert asked == everything[:2]


@pytest.mark.parametrize("limit", [0, -1])
def test_no_limit_no_hits(library: SearchIndex, limit: int) -> None:
    assert rank([library], parse("save"), limit=limit) == []


def test_no_index_no_hits() -> None:
    assert rank([], parse("save")) == []


def test_several_indexes_rank_as_one(engine: SearchEngine, tmp_path: Path) -> None:
    whole = filled(engine, tmp_path / "whole", LIBRARY)
    halves = [filled(engine, tmp_path / str(n), LIBRARY[n::2]) for n in (0, 1)]
    pending = filled(memory, tmp_path, LIBRARY[:2])
    rest = filled(engine, tmp_path / "rest", LIBRARY[2:])
    for query in ("save", "users save", "user*", "savr~", "user_id", "the sessions are saved"):
        expected = rank([whole], parse(query))
        assert rank(halves, parse(query)) == expected
        assert rank([rest, pending], parse(query)) == expected


_texts = st.lists(
    st.sampled_from(["alpha", "beta", "gammaDelta", "x", "->", "saving", "数据"]), max_size=8
).map(" ".join)
_documents = st.builds(
    Document, st.sampled_from("abcdefgh"), _texts, _texts, _texts, _texts, _texts, _texts
)


_queries = st.lists(
    st.sampled_from(
        ["alpha", "beta", "Gamma", "gam*", "betta~", "gammaDelta ->", '"x alpha"', "saved", "数据"]
    ),
    min_size=1,
    max_size=4,
).map(" ".join)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    courses=st.lists(
        st.tuples(st.lists(_documents, max_size=5), st.lists(st.sampled_from("abcdefgh"))),
        min_size=1,
        max_size=5,
    ),
    queries=st.lists(_queries, min_size=1, max_size=6),
)
def test_all_engines_rebuilt_or_kept_up_give_the_same_hits(
    courses: list[tuple[list[Document], list[str]]],
    queries: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("index")
    kept = [engine.open(folder / f"kept-{engine.name}") for engine in (memory, whoosh, fts5)]
    living = dict[str, Document]()
    for documents, removed in courses:
        for index in kept:
            index.update(map(Analyser().analyse, documents), removed, "")
        living = {key: document for key, document in living.items() if key not in removed}
        living |= {document.key: document for document in documents}
    reference = filled(memory, folder, list(living.values()))
    rebuilt = [filled(e, folder / e.name, list(living.values())) for e in (whoosh, fts5)]
    for query in queries:
        expected = rank([reference], parse(query))
        for index in (*kept, *rebuilt):
            assert rank([index], parse(query)) == expected
    for index in (*kept, *rebuilt):
        index.close()
