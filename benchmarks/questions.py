"""Known-item search: functions asked for by words of their own documentation."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.command import Command
from benchmarks.corpus import Corpus
from benchmarks.rows import Aim, Row

COUNT = 200
FEWEST_WORDS, MOST_WORDS = 5, 8
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Question:
    """Words of one function's documentation, and where that function is."""

    words: str
    path: str
    qualified_name: str


Search = Callable[[str], Iterable[tuple[str, str]]]
"""From words to (path, qualified name) of the hits, best first."""


def questions(corpus: Corpus) -> Sequence[Question]:
    """200 of them, evenly from all documented functions outside tests, the same each time."""
    every = [
        question
        for path in corpus.python
        if path.relative_to(corpus.root).parts[0] != "tests"
        for question in questions_of(path, path.relative_to(corpus.root).as_posix())
    ]
    asked = Counter(question.words for question in every)
    unique = [question for question in every if asked[question.words] == 1]
    return [unique[n * len(unique) // COUNT] for n in range(COUNT)]


def questions_of(path: Path, name: str) -> Iterator[Question]:
    for qualified_name, node in functions(ast.parse(path.read_bytes()), ""):
        first_paragraph = (ast.get_docstring(node) or "").split("\n\n")[0]
        words = re.findall(r"\w+", first_paragraph)
        if len(words) >= FEWEST_WORDS:
            yield Question(" ".join(words[:MOST_WORDS]), name, qualified_name)


def functions(
    node: ast.AST, prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, child
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from functions(child, f"{prefix}{child.name}.")
        else:
            yield from functions(child, prefix)


def reciprocal_rank(question: Question, search: Search) -> float:
    """1 for the first hit, 1/2 for the second, 0 beyond the tenth."""
    hits = list(search(question.words))[:DEEPEST]
    wanted = (question.path, question.qualified_name)
    return 1 / (hits.index(wanted) + 1) if wanted in hits else 0.0


def measure(command: Command, corpus: Corpus) -> list[Row]:
    def search(words: str) -> list[tuple[str, str]]:
        results = command.answer("search", words, "--limit", str(DEEPEST))["results"]
        return [(hit.get("path", ""), hit.get("qualified_name", "")) for hit in results]

    ranks = [reciprocal_rank(question, search) for question in questions(corpus)]
    found = sum(rank > 0 for rank in ranks)
    return [
        Row(
            "documented functions, MRR",
            sum(ranks) / len(ranks),
            "",
            runs=len(ranks),
            aim=Aim(0.8, at_least=True),
            note=f"{found} among the first {DEEPEST}",
        )
    ]
