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


def with_filters(function: Function) -> Function:
    """What `search` and `symbol` share: where to look, what to take (given as `filters`), and how
    much of the answer."""

    @click.option(
        "--scope", "scopes", multiple=True, metavar="SCOPE", help="Only here; repeatable."
    )
    @click.option(
        "--policy",
        type=click.Choice(["strict", "global"]),
        help="strict: the given scopes only; global: all that you may see.",
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
    @click.option("--path", metavar="GLOB", help="Only paths like this, such as 'src/**/*.py'.")
    @click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only pages with this tag.")
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
        path: str | None,
        tags: tuple[str, ...],
        **others: Any,
    ) -> Any:
        from pcpfs.store.search_request import Filters  # noqa: PLC0415 (help needs no store)

        filters = Filters(kinds=kinds, languages=languages, path=path, tags=tags)
        return function(*args, filters=filters, **others)

    return folded  # fmt: skip


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
    @instant_option("--valid-from", "From when on it is true.")
    @instant_option("--valid-to", "Until when it is true.")
    @functools.wraps(function)
    def described(*args: Any, **given: Any) -> Any:
        return function(*args, **given)

    return described
