"""The floor: the least that any tool must do to know the symbols of a tree, in one process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from tree_sitter import Parser, Query, QueryCursor
from tree_sitter_language_pack import get_language

from benchmarks.corpus import Corpus
from benchmarks.rows import Row
from benchmarks.timing import median_cost

FLOOR = "floor"
READ = "read + sha256"
PARSE = "parse + query .py"
DEFINITIONS = """
(function_definition name: (identifier) @name) @definition
(class_definition name: (identifier) @name) @definition
"""


def read_and_digest(paths: Iterable[Path]) -> int:
    """How many bytes were read."""
    total = 0
    for path in paths:
        content = path.read_bytes()
        hashlib.sha256(content).digest()
        total += len(content)
    return total


def definitions(paths: Iterable[Path]) -> int:
    """How many functions and classes there are."""
    language = get_language("python")
    parser, cursor = Parser(language), QueryCursor(Query(language, DEFINITIONS))
    return sum(len(cursor.matches(parser.parse(path.read_bytes()).root_node)) for path in paths)


def measure(corpus: Corpus, times: int) -> list[Row]:
    read_and_digest(corpus.texts)  # what is measured is work, not a cold disk
    read = median_cost(lambda: read_and_digest(corpus.texts), times)
    parse = median_cost(lambda: definitions(corpus.python), times)
    size = f"{len(corpus.texts)} texts, {corpus.text_bytes / 1e6:.1f} MB"
    symbols = f"{len(corpus.python)} files, {definitions(corpus.python)} definitions"
    return [
        Row(READ, read.seconds, runs=times, ratio_to=FLOOR, note=size, processor=read.processor),
        Row(
            PARSE,
            parse.seconds,
            runs=times,
            ratio_to=FLOOR,
            note=symbols,
            processor=parse.processor,
        ),
        Row(
            FLOOR,
            read.seconds + parse.seconds,
            runs=times,
            note="both, in one process",
            processor=read.processor + parse.processor,
        ),
    ]
