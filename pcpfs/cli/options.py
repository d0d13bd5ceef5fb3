"""Options that several commands share, each folded into one value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pcpfs.model.instants import Instant

Function = Callable[..., Any]


def instant(text: str) -> Instant:
    """An instant with a time zone, or a date."""
    from pcpfs.model.instants import Instant  # noqa: PLC0415 (help needs no model)

    return Instant.read(text)


def instant_option(name: str, text: str) -> Callable[[Function], Function]:
    """An option that takes an instant."""
    return click.option(name, type=instant, metavar="INSTANT", help=text)


def with_pins(function: Function) -> Function:
    """`--as-of` and `--recorded-as-of`, given as `pins`."""

    @instant_option("--as-of", "What was true then, such as 2026-03-01 or 2026-03-01T12:00:00Z.")
    @instant_option("--recorded-as-of", "What the store knew then.")
    @functools.wraps(function)
    def folded(
        *args: Any, as_of: Instant | None, recorded_as_of: Instant | None, **others: Any
    ) -> Any:
        from pcpfs.model.answers import Pins  # noqa: PLC0415 (help needs no model)

        return function(*args, pins=Pins(as_of, recorded_as_of), **others)

    return folded


def with_epistemic(function: Function) -> Function:
    """The five questions that are apart (PCP-S6), given as `epistemic`: what was answered."""
    from pcpfs.cli.standing import EPISTEMIC  # noqa: PLC0415 (a constant of the command line)

    @functools.wraps(function)
    def folded(*args: Any, **others: Any) -> Any:
        told = {name: others.pop(name) for name in EPISTEMIC}
        given = {name: value for name, value in told.items() if value is not None}
        return function(*args, epistemic=given, **others)

    for name, text in reversed(EPISTEMIC.items()):
        folded = click.option(f"--{name.replace('_', '-')}", name, metavar="WORD", help=text)(
            folded
        )
    return folded


def with_part(function: Function) -> Function:
    """`--limit` and `--cursor` of a list."""

    @click.option(
        "--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="How many."
    )
    @click.option("--cursor", metavar="CURSOR", help="Go on after an earlier answer.")
    @functools.wraps(function)
    def folded(*args: Any, **others: Any) -> Any:
        return function(*args, **others)

    return folded


def with_filters(function: Function) -> Function:
    """What `search` and `symbol` share: where to look, what to take (given as `filters`), and how
    much of the answer."""

    @click.option(
        "--scope", "scopes", multiple=True, metavar="SCOPE", help="Only here; repeatable."
    )
    @click.option(
        "--policy",
        type=click.Choice(["strict", "linked", "global"]),
        help="strict: the given scopes only; linked: these and what they link to; "
        "global: all that you may see.",
    )
    @click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="KIND",
        help="Only this kind: page, file, function, method, class, heading, …",
    )
    @click.option(
        "--lang",
        "languages",
        multiple=True,
        metavar="LANGUAGE",
        help="Only this language, such as python.",
    )
    @click.option("--tests/--no-tests", default=None, help="Only tests, or everything else.")
    @click.option(
        "--generated/--no-generated",
        default=None,
        help="Only what a program made (lock files, *.min.js, …), or everything else.",
    )
    @click.option("--path", metavar="GLOB", help="Only paths like this, such as 'src/**/*.py'.")
    @click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only pages with this tag.")
    @click.option(
        "--lifecycle",
        multiple=True,
        type=click.Choice(["active", "superseded", "archived", "tombstoned"]),
        help="Only in this state, else active; repeatable.",
    )
    @click.option(
        "--relation",
        "relation_types",
        multiple=True,
        metavar="TYPE",
        help="Only pages with a relation of this type, in or out.",
    )
    @instant_option("--created-after", "Only what was recorded then or later.")
    @instant_option("--created-before", "Only what was recorded before then.")
    @with_epistemic
    @click.option(
        "--limit",
        type=click.IntRange(1, 200),
        default=10,
        show_default=True,
        help="How many results.",
    )
    @click.option("--cursor", metavar="CURSOR", help="Go on after an earlier answer.")
    @functools.wraps(function)
    def folded(
        *args: Any,
        kinds: tuple[str, ...],
        languages: tuple[str, ...],
        tests: bool | None,
        generated: bool | None,
        path: str | None,
        tags: tuple[str, ...],
        lifecycle: tuple[str, ...],
        relation_types: tuple[str, ...],
        created_after: Instant | None,
        created_before: Instant | None,
        epistemic: dict[str, str],
        depth: int = 1,
        **others: Any,
    ) -> Any:
        from pcpfs.model.requests import Filters  # noqa: PLC0415 (help needs no model)

        filters = Filters(
            kinds=kinds,
            languages=languages,
            tests=tests,
            generated=generated,
            path=path,
            tags=tags,
            lifecycle=lifecycle,
            relation_types=relation_types,
            created_after=created_after,
            created_before=created_before,
            epistemic=tuple(epistemic.items()),
            depth=depth,
        )
        return function(*args, filters=filters, **others)

    return folded  # fmt: skip


def with_history(function: Function) -> Function:
    """`--history`, `--since` and `--all-branches`, given as `history`; None without them."""

    @click.option(
        "--history", is_flag=True, help="Record the git history of the branch that is checked out."
    )
    @instant_option("--since", "With --history: only what held then or later.")
    @click.option(
        "--all-branches/--no-all-branches",
        default=None,
        help="With --history: also what other branches did, which holds at no time; or no more.",
    )
    @functools.wraps(function)
    def folded(
        *args: Any,
        history: bool,
        since: Instant | None,
        all_branches: bool | None,
        **others: Any,
    ) -> Any:
        from pcpfs.errors import UsageError  # noqa: PLC0415 (help needs no store)
        from pcpfs.sources.roots import HistoryWish  # noqa: PLC0415

        if since is not None and not history:
            raise UsageError("--since says how far back --history goes; give both")
        if all_branches is not None and not history:
            raise UsageError("--all-branches says how much of --history is told; give both")
        wish = HistoryWish(since, all_branches) if history else None
        return function(*args, history=wish, **others)

    return folded


def branch_option(help_text: str) -> Callable[[Function], Function]:
    """`--branch BRANCH`, given as `branch`."""
    return click.option("--branch", metavar="BRANCH", help=help_text)


def with_removals(function: Function) -> Function:
    """`--accept-removals`, given as `accept_removals`."""
    return click.option(
        "--accept-removals",
        is_flag=True,
        help="Also when more than 10 files and 10 % of a scope were removed from tree/ at once.",
    )(function)


def with_description(function: Function) -> Function:
    """What a revision says about its text, passed on by name to the session."""

    @click.option(
        "--media-type", metavar="TYPE", help="What kind of text; else told by the file's ending."
    )
    @click.option("--title", metavar="TITLE", help="Else what the text says, or what it was.")
    @click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable.")
    @click.option(
        "--cites",
        multiple=True,
        metavar="FRAME",
        help="A symbol that this page relies on: when it changes, the page is suspect. Repeatable.",
    )
    @click.option(
        "--derived-from", multiple=True, metavar="REV", help="A revision it was made from."
    )
    @click.option("--source-ref", "source_refs", multiple=True, metavar="REF", help="Its source.")
    @click.option(
        "--link",
        "relations",
        multiple=True,
        nargs=2,
        metavar="TYPE PAGE",
        help="A relation from this revision on; repeatable.",
    )
    @click.option("--summary", metavar="TEXT", help="What it says, in short; no evidence.")
    @click.option("--keyword", "keywords", multiple=True, metavar="WORD", help="Repeatable.")
    @instant_option("--valid-from", "From when on it is true.")
    @instant_option("--valid-to", "Until when it is true.")
    @instant_option("--observed-at", "When it was seen.")
    @with_epistemic
    @click.option("--ref", metavar="URI", help="The payload lies there, and is not copied.")
    @click.option("--digest", metavar="SHA256", help="With --ref: sha256:… of what lies there.")
    @click.option("--size", type=click.IntRange(0), metavar="BYTES", help="With --ref.")
    @click.option(
        "--allow-secret", is_flag=True, help="Keep it although it holds a key, token or password."
    )
    @functools.wraps(function)
    def described(*args: Any, keywords: tuple[str, ...], epistemic: Any, **given: Any) -> Any:
        told = {"keywords": keywords or None, "epistemic": epistemic or None}
        return function(*args, **told, **given)

    return described
