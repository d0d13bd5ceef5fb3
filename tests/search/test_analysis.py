"""What is found by which term: the one analysis of documents and queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pcpfs_index.memory import engine as memory

from pcpfs.ports import FIELDS
from pcpfs.search import analysis
from pcpfs.search.analysis import Analyser, Document, code_terms, index_version, prose_terms
from pcpfs.search.query import Matching, parse
from pcpfs.search.stemmer import stem
from pcpfs.search.words import LONGEST


@pytest.mark.parametrize(
    ("chunk", "terms"),
    [
        ("getUserById", {"getuserbyid", "get", "user", "by", "id"}),
        ("HTTPServerError", {"httpservererror", "http", "server", "error"}),
        ("user_id", {"user_id", "user", "id"}),
        ("_private", {"_private", "private"}),
        ("__init__", {"__init__", "init"}),
        ("utf8", {"utf8", "utf", "8"}),
        ("sha256sum", {"sha256sum", "sha", "256", "sum"}),
        ("parseURLs", {"parseurls", "parse", "urls"}),
        ("MAX_SIZE", {"max_size", "max", "size"}),
        ("x", {"x"}),
        ("C++", {"c++", "c"}),
        ("C#", {"c#", "c"}),
        ("größeMax", {"grössemax", "grösse", "max"}),
        ("ÄpfelBirnen", {"äpfelbirnen", "äpfel", "birnen"}),
        ("向量数据库", {"向量", "量数", "数据", "据库", "向", "量", "数", "据", "库"}),
        ("库db", {"库", "db"}),
        ("“quoted”", {"quoted"}),
        ("हिन्दी", {"हिन्दी"}),
        ("\uff13\uff12", {"32"}),
        ("e\u0301te\u0301", {"été"}),
    ],
)
def test_a_chunk_is_found_whole_and_in_parts(chunk: str, terms: set[str]) -> None:
    assert set(code_terms(chunk)) == terms


def test_digests_are_not_torn_into_single_letters() -> None:
    digest = "3fa9b1c7d2e4f60819ab"
    assert code_terms(digest) == (digest,)


def test_nothing_is_cut_off() -> None:
    one, other = "a" * 5000 + "x", "a" * 5000 + "y"
    assert code_terms(one) != code_terms(other)
    assert all(len(term) <= LONGEST for term in code_terms(one))
    assert code_terms(one)[0].startswith("a" * 100)


def test_a_text_is_counted_in_parts_that_part_no_word() -> None:
    letters = str.maketrans("0123456789", "abcdefghij")
    words = [f"{number:040}".translate(letters) for number in range(60_000)]
    found = Analyser().analyse(Document("k", body="\n".join(words)))
    assert found.terms.keys() == set(words)
    assert sum(found.lengths) == len(words)


def test_prose_is_found_by_stems_as_well() -> None:
    assert set(prose_terms("Saving")) == {"saving", "save"}


def test_counts_are_packed_by_field() -> None:
    found = Analyser().analyse(
        Document("k", name="Model.save", path="a/save.py", body=b"save save\n" * 3, prose="Saved.")
    )
    packed = found.terms["save"].to_bytes(8, "little")
    assert dict(zip(FIELDS, packed, strict=False)) == {
        "name": 1, "signature": 0, "path": 1, "title": 0, "prose": 1, "body": 6,
    }  # fmt: skip
    assert found.lengths == (2, 0, 3, 0, 1, 6)
    assert {"=model.save", "=save", "model.save", "save.py"} <= set(found.terms)


def test_counts_end_at_255() -> None:
    found = Analyser().analyse(Document("k", body="word " * 1000))
    assert found.terms["word"] == 255 << 8 * FIELDS.index("body")
    assert found.lengths[-1] == 1000


def test_operators_are_terms() -> None:
    found = Analyser().analyse(Document("k", body="a->b; std::vector<int> c = a^b; // ..."))
    assert {"->", "::", "^", "//", "<", ">", "="} <= set(found.terms)


def test_bytes_that_are_no_utf8_separate_words() -> None:
    found = Analyser().analyse(Document("k", body=b"one\xfftwo \x00three caf\xc3\xa9"))
    assert {"one", "two", "three", "café"} <= set(found.terms)


@given(st.lists(st.builds(Document, st.just("k"), *[st.text(max_size=30)] * 5, st.binary())))
def test_an_analyser_remembers_nothing_that_shows(documents: list[Document]) -> None:
    used = Analyser()
    for document in documents:
        assert used.analyse(document) == Analyser().analyse(document)


@given(st.builds(Document, st.just("k"), *[st.text("aB_.:+#-> é库", max_size=300)] * 5))
def test_short_texts_are_counted_like_long_ones(document: Document) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "_FEW_BYTES", -1)
        as_long = Analyser().analyse(document)
    assert Analyser().analyse(document) == as_long


def test_a_count_never_leaves_its_byte() -> None:
    text = "->" * 127 + " " + "a." * 400
    found = Analyser().analyse(Document("k", name=text[:255], signature=text, prose="a " * 300))
    assert max(max(packed.to_bytes(8, "little")[:3]) for packed in found.terms.values()) == 255
    assert found.terms["a"].to_bytes(8, "little")[FIELDS.index("prose")] == 255


@given(st.text(max_size=200))
def test_any_text_keeps_the_contract_of_the_engines(text: str) -> None:
    document = Analyser().analyse(Document("k", text, text, text, text, text, text))
    index = memory.open(None)  # type: ignore[arg-type]  # it keeps nothing
    index.update([document], [], "")
    for term in document.terms:
        assert list(index.postings(term).documents) == [0]


def test_the_version_of_an_index_names_engine_and_analysis() -> None:
    assert index_version(memory).startswith("memory-1-")


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"),
        ("agreed", "agre"), ("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"),
        ("conflated", "conflat"), ("hopping", "hop"), ("falling", "fall"), ("filing", "file"),
        ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("digitizer", "digit"),
        ("operator", "oper"), ("triplicate", "triplic"), ("hopeful", "hope"), ("revival", "reviv"),
        ("adoption", "adopt"), ("effective", "effect"), ("probate", "probat"), ("rate", "rate"),
        ("controll", "control"), ("roll", "roll"), ("saved", "save"), ("is", "is"), ("été", "été"),
    ],
)  # fmt: skip
def test_stems_are_porters(word: str, root: str) -> None:
    assert stem(word) == root


class TestParsing:
    @pytest.mark.parametrize("text", ["", "   ", '"', '""', "\n\t", "\ud800", "\0"])
    def test_nothing_to_look_for_is_no_clause(self, text: str) -> None:
        assert parse(text).clauses == ()

    @pytest.mark.parametrize("text", ["id:b", "*:*", "-digest", "AND", "a OR b", "(x", "[* TO *]"])
    def test_other_syntaxes_are_text(self, text: str) -> None:
        clauses = parse(text).clauses
        terms = [t for c in clauses for a in c.alternatives for t in a.terms]
        assert terms
        assert {term.matching for term in terms} == {Matching.EXACT}

    def test_a_star_after_a_word_is_a_prefix_and_a_tilde_is_fuzzy(self) -> None:
        prefix, fuzzy = parse("getUs* sesion~").clauses
        assert prefix.alternatives[0].terms[0].text == "getus"
        assert prefix.alternatives[0].terms[0].matching is Matching.PREFIX
        assert fuzzy.alternatives[0].terms[0].matching is Matching.FUZZY

    def test_the_words_of_a_phrase_are_required(self) -> None:
        query = parse('"def save" session')
        assert query.phrases == ("def save",)
        assert [c.required for c in query.clauses] == [True, True, False]

    def test_stop_words_count_only_alone(self) -> None:
        assert [c.text for c in parse("how is the session saved").clauses] == ["session", "saved"]
        assert [c.text for c in parse("this is").clauses] == ["this", "is"]
        assert [c.text for c in parse('"the" end').clauses] == ["the", "end"]

    def test_a_word_given_twice_is_one(self) -> None:
        assert len(parse("user User USER").clauses) == 1

    @given(st.text(max_size=300))
    def test_no_text_is_too_odd(self, text: str) -> None:
        query = parse(text)
        assert all(a.terms for c in query.clauses for a in c.alternatives)
        assert all(c.alternatives for c in query.clauses)
