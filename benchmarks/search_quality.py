"""Known items: are documented functions found by words of their own documentation, and how fast?

    python benchmarks/search_quality.py FOLDER [--engine whoosh|memory]

Builds an index of the text files and Python symbols below FOLDER, in a temporary folder, as the
store does: a document for each symbol and one for each file. 200 functions with a docstring of
their own are then asked for by six of its words, by one word replaced by one that is not in it
(`noisy`), and by their name. Prints MRR and the time of queries, as one JSON document.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from statistics import median

from pcpfs.ports import SearchEngine, SearchIndex
from pcpfs.search.analysis import Analyser, Document
from pcpfs.search.excerpt import locate, span_of
from pcpfs.search.query import STOP_WORDS, parse
from pcpfs.search.ranking import Hit, rank

ITEMS = 200
LARGEST = 1 << 20
PROSE = (".txt", ".md", ".rst")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Symbol:
    key: str
    name: str
    signature: str
    lines: tuple[int, int]
    doc: str
    is_function: bool


@dataclass(frozen=True, slots=True)
class File:
    path: str
    content: bytes
    symbols: tuple[Symbol, ...]

    @property
    def key(self) -> str:
        return f"file {self.path}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", default="whoosh")
    options = parser.parse_args()
    files = {file.key: file for file in read(options.folder)}
    with tempfile.TemporaryDirectory() as folder:
        engine = engine_named(options.engine)
        index = engine.open(Path(folder) / "index")
        figures = build(index, files.values())
        figures |= ask(index, files, items(files.values()))
        figures["open_and_first_query_ms"] = first_query(engine, Path(folder) / "index")
        index.close()
    json.dump(figures, sys.stdout, indent=2)
    print()


def engine_named(name: str) -> SearchEngine:
    (found,) = entry_points(group="pcpfs.indexes", name=name)
    engine: SearchEngine = found.load()
    return engine


def read(folder: Path) -> Iterator[File]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size <= LARGEST:
            content = path.read_bytes()
            relative = str(path.relative_to(folder))
            if b"\0" not in content:
                yield File(relative, content, tuple(symbols(relative, content)))


def symbols(path: str, content: bytes) -> Iterator[Symbol]:
    if path.endswith(".py"):
        try:
            tree = ast.parse(content)
        except SyntaxError:
            return
        yield from definitions(path, tree, "")


def definitions(path: str, node: ast.AST, prefix: str) -> Iterator[Symbol]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Definition):
            yield from definitions(path, child, prefix)
            continue
        name = prefix + child.name
        yield Symbol(
            key=f"symbol {path} {name} {child.lineno}",
            name=name,
            signature=signature(child),
            lines=(child.lineno, child.end_lineno or child.lineno),
            doc=ast.get_docstring(child) or "",
            is_function=not isinstance(child, ast.ClassDef),
        )
        yield from definitions(path, child, name + ".")


def signature(node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}({', '.join(map(ast.unparse, node.bases))})"
    return f"def {node.name}({ast.unparse(node.args)})"


def documents(file: File) -> Iterator[Document]:
    factor = 70 if file.path.startswith("tests/") or "/tests/" in file.path else 100
    is_prose = file.path.endswith(PROSE)
    yield Document(
        key=file.key,
        path=file.path,
        title=Path(file.path).name,
        prose=file.content if is_prose else "",
        body="" if is_prose else file.content,
        factor_percent=factor,
    )
    for s in file.symbols:
        yield Document(s.key, s.name, s.signature, file.path, prose=s.doc, factor_percent=factor)


def build(index: SearchIndex, files: Collection[File]) -> dict[str, object]:
    analyser = Analyser()
    raw = [document for file in files for document in documents(file)]
    start = time.perf_counter()
    index.update(map(analyser.analyse, raw), [], "built")
    took = time.perf_counter() - start
    size = sum(len(file.content) for file in files)
    return {"documents": len(raw), "bytes": size, "analysed_and_written_s": round(took, 2)}


def items(files: Collection[File]) -> list[Symbol]:
    """Documented functions whose docstring is theirs alone and has six words to ask for."""
    everything = [s for file in files for s in file.symbols if s.is_function]
    alike = Counter(s.doc for s in everything)
    fit = [s for s in everything if alike[s.doc] == 1 and len(words(s.doc)) >= 6]
    return random.Random(42).sample(fit, ITEMS)


def words(doc: str) -> list[str]:
    found = dict.fromkeys(re.findall(r"[A-Za-z_]{3,}", doc))
    return [word for word in found if word.lower() not in STOP_WORDS]


def ask(index: SearchIndex, files: dict[str, File], known: Sequence[Symbol]) -> dict[str, object]:
    chance = random.Random(7)
    six = [" ".join(chance.sample(words(s.doc), 6)) for s in known]
    first = [" ".join(words(s.doc)[:6]) for s in known]
    others = [chance.choice(words(other.doc)) for other in [*known[1:], *known[:1]]]
    pairs = zip(six, others, strict=True)
    noisy = [" ".join([*query.split()[:5], other]) for query, other in pairs]
    figures: dict[str, object] = {}
    for name, queries in [("six", six), ("first_six", first), ("noisy", noisy)]:
        figures[f"mrr_{name}_words"] = mrr(index, queries, known, lambda q, h: mapped(files, q, h))
        figures[f"mrr_{name}_words_symbols_only"] = mrr(
            index, queries, known, lambda q, h: h.key, symbols_only
        )
    figures["mrr_name"] = mrr(index, [s.name for s in known], known, lambda q, h: h.key)
    figures["six_words_ms"] = milliseconds(index, six)
    figures["one_word_ms"] = milliseconds(index, [query.split()[0] for query in six])
    figures["two_words_ms"] = milliseconds(index, [" ".join(q.split()[:2]) for q in six])
    return figures


def symbols_only(key: str) -> bool:
    return key.startswith("symbol ")


def mapped(files: dict[str, File], query: str, hit: Hit) -> str:
    """The symbol of a hit: a file's is the one that has most of the words."""
    file = files.get(hit.key)
    if file is None or not file.symbols:
        return hit.key
    found = span_of(locate(file.content, parse(query)), [s.lines for s in file.symbols])
    return hit.key if found is None else file.symbols[found].key


def mrr(
    index: SearchIndex,
    queries: Sequence[str],
    known: Sequence[Symbol],
    key_of: Callable[[str, Hit], str],
    allowed: Callable[[str], bool] | None = None,
) -> float:
    """The mean of 1 / rank of the known item among the first ten different results."""
    total = 0.0
    for query, symbol in zip(queries, known, strict=True):
        hits = rank([index], parse(query), allowed=allowed, limit=10)
        results = list(dict.fromkeys(key_of(query, hit) for hit in hits))
        total += 1 / (results.index(symbol.key) + 1) if symbol.key in results else 0
    return round(total / len(queries), 3)


def milliseconds(index: SearchIndex, queries: Sequence[str]) -> dict[str, float]:
    taken = []
    for query in queries:
        start = time.perf_counter()
        rank([index], parse(query), limit=10)
        taken.append(1000 * (time.perf_counter() - start))
    return {"median": round(median(taken), 2), "p95": round(sorted(taken)[-len(taken) // 20], 2)}


def first_query(engine: SearchEngine, folder: Path) -> float:
    start = time.perf_counter()
    index = engine.open(folder)
    rank([index], parse("session save"))
    index.close()
    return round(1000 * (time.perf_counter() - start), 1)


if __name__ == "__main__":
    main()
