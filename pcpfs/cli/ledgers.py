"""What the commands of `pcpfs thread` share: the ledger, its options, and how entries look."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pcpfs.cli.call import Call
from pcpfs.cli.text import plural, short, styled
from pcpfs.errors import NotFound, UsageError
from pcpfs.model.grants import READ, WRITE
from pcpfs.model.shown import safe, safe_lines

if TYPE_CHECKING:
    from pcpfs.ledger import ContextEntry, ContextProjection, ShownEntry, StoreLedger
    from pcpfs.model.answers import Written
    from pcpfs.model.instants import Instant

Answer = TypeVar("Answer")
Function = Callable[..., Any]
BUDGET = 4000


def ledger(call: Call, thread: str, algorithm: str | None = None, **how: Any) -> StoreLedger:
    """The ledger of a thread that may be new."""
    from pcpfs.ledger import Settings, StoreLedger  # noqa: PLC0415 (help needs no store)

    version = algorithm or call.store.config.ledger_algorithm
    given = {name: value for name, value in how.items() if value is not None}
    if version is not None:
        given["algorithm"] = version
    return StoreLedger(call.session, thread, Settings(**given))


def known_ledger(call: Call, thread: str, **how: Any) -> StoreLedger:
    """The ledger of a thread that is there; NotFound for any other."""
    found = ledger(call, thread, **how)
    if not awaited(found.restore(thread)):
        raise NotFound(f"there is no thread {thread!r}; the first `thread ingest` makes one")
    return found


def ledger_for_results(call: Call, thread: str) -> StoreLedger:
    """The ledger of a thread that is there. Who may write in it and not read it cannot know, and is
    believed."""
    from pcpfs.ledger.events import namespace_of  # noqa: PLC0415 (help needs no store)

    held = call.session.authority.permissions(namespace_of(thread))
    if WRITE in held and READ not in held:
        return ledger(call, thread)
    return known_ledger(call, thread)


def awaited(work: Coroutine[Any, Any, Answer]) -> Answer:
    """The outcome of what is asynchronous for others."""
    import asyncio  # noqa: PLC0415 (help waits for nothing)

    return asyncio.run(work)


def with_budget(function: Function) -> Function:
    """`--budget` and how to count, passed on by name."""

    @click.option(
        "--budget",
        type=click.IntRange(0),
        default=BUDGET,
        show_default=True,
        metavar="N",
        help="The most that all entries together may cost.",
    )
    @click.option(
        "--counter", metavar="NAME", help="bytes/4 (default); o200k, cl100k with pcpfs[tokens]."
    )
    @functools.wraps(function)
    def folded(*args: Any, **given: Any) -> Any:
        return function(*args, **given)

    return folded  # fmt: skip


def with_view_options(function: Function) -> Function:
    """`--budget`, and how to rank and count, passed on by name."""

    @with_budget
    @click.option(
        "--algorithm", metavar="VERSION", help="v1_keyword or v2_bm25; else as pcpfs.toml says."
    )
    @click.option(
        "--half-life",
        "half_life_days",
        type=float,
        metavar="DAYS",
        help="Newer entries weigh more: half as much after so many days.",
    )
    @functools.wraps(function)
    def folded(*args: Any, **given: Any) -> Any:
        return function(*args, **given)

    return folded  # fmt: skip


def with_entry_options(function: Function) -> Function:
    """What is said about an entry, passed on by name."""

    @click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable.")
    @click.option(
        "--importance",
        type=float,
        metavar="F",
        help="0 to 1; else 0.9 for reflection, 0.8 for failure, 0.6 for success, 0.5.",
    )
    @click.option("--key", metavar="KEY", help="Ingesting twice with the same key ingests once.")
    @functools.wraps(function)
    def folded(*args: Any, **given: Any) -> Any:
        return function(*args, **given)

    return folded  # fmt: skip


def entry(
    content: bytes,
    timestamp: Instant,
    *,
    source: str,
    tags: Iterable[str],
    importance: float | None,
    goal_id: str | None,
    key: str | None,
) -> ContextEntry:
    """An entry from bytes; what is no UTF-8 in them becomes escapes."""
    from pcpfs.ledger import ContextEntry  # noqa: PLC0415 (see `ledger`)
    from pcpfs.model.context import BY_TAGS  # noqa: PLC0415 (see `ledger`)

    return ContextEntry(
        source,
        content.decode("utf-8", "backslashreplace"),
        timestamp,
        tags,  # type: ignore[arg-type]  # any iterable will do
        BY_TAGS if importance is None else importance,
        goal_id,
        key,
    )


def entries_of_lines(
    raw: bytes, now: Instant, *, source: str | None, goal_id: str | None
) -> list[ContextEntry]:
    """Entries from NDJSON: `{"content", "source", "timestamp", "tags", "importance", "goal_id",
    "key"}` a line; all but the content may be absent."""
    found = []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.strip():
            try:
                found.append(_entry_of(json.loads(line), now, source, goal_id))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise UsageError(f"line {number} is no entry: {error}") from error
            except UsageError as error:
                raise UsageError(f"line {number}: {error.message}") from error
    return found


def _entry_of(
    value: dict[str, Any], now: Instant, source: str | None, goal: str | None
) -> ContextEntry:
    known = {"content", "source", "timestamp", "tags", "importance", "goal_id", "key"}
    if unknown := sorted(value.keys() - known):
        raise UsageError(f"an entry has no {unknown[0]!r}, only {', '.join(sorted(known))}")
    content = value["content"]
    if not isinstance(content, str):
        raise UsageError(f"content is a text, not {content!r}")
    return entry(
        content.encode("utf-8", "backslashreplace"),
        value.get("timestamp", now),
        source=value.get("source") or source or "",
        tags=value.get("tags", ()),
        importance=value.get("importance"),
        goal_id=value.get("goal_id") or goal,
        key=value.get("key"),
    )


def projection_lines(view: ContextProjection) -> Iterator[str]:
    """The entries with why they are shown, then what they cost."""
    for shown in view.entries:
        yield from entry_lines(shown)
    cost = f"{view.token_count} of {view.token_budget} tokens ({view.counter})"
    yield styled(f"{view.summary}; {cost}; {view.algorithm_version}", "dim")


def entry_lines(shown: ShownEntry) -> Iterator[str]:
    """Who said it and when, the terms of its score, and the text."""
    about = [shown.source, *([shown.goal_id] if shown.goal_id else []), *shown.tags]
    terms = " ".join(f"{name} {value:g}" for name, value in shown.terms.items() if value)
    head = styled(safe(" · ".join(about)), "bold")
    yield f"{head}  {shown.timestamp}  {short(shown.page_id)}" + (f"  [{terms}]" if terms else "")
    yield from (f"  {line}" for line in safe_lines(shown.content).rstrip("\n").split("\n"))


def ingested_lines(thread: str, written: Iterable[Written]) -> Iterator[str]:
    """How many entries were new; of a single one its ids."""
    all_ = tuple(written)
    new = sum(one.created for one in all_)
    known = f", {len(all_) - new} known already" if new < len(all_) else ""
    yield f"took {plural(new, 'entry', 'entries')} into the thread {safe(thread)}{known}"
    if len(all_) == 1:
        yield f"  {all_[0].page_id}  {short(all_[0].revision_id)}"
    for warning in dict.fromkeys(warning for one in all_ for warning in one.warnings):
        yield f"  note: {safe(warning)}"
