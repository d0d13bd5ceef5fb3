"""What holds a key, a token or a password is refused, with reason and position, and nothing of it
is kept anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pcpfs.errors import SecretFound
from pcpfs.model.pages import Principal
from pcpfs.model.requests import Draft
from pcpfs.store.session import Session
from tests.store.workplace import SCOPE, Workplace, contents, draft, paths_of

TOKEN = "ghp_" + "a1B2" * 9
KEY = "AKIA" + "ABCDEFGH12345678"
URL = "postgres://anna:geheim7@db.tides.org/x"


def nowhere(place: Workplace, secret: str) -> None:
    """No file of the store holds it, those of git and the caches included."""
    for name, raw in contents(place.path).items():
        assert secret.encode() not in raw, name
    assert secret not in place.git("log", "-p", "--all")


@pytest.mark.parametrize(
    "given",
    [
        draft(f"one\n  use {TOKEN}\n"),
        draft("one\n", title=f"use {TOKEN}"),
        draft("one\n", tags=("a", TOKEN)),
        draft("one\n", summary=TOKEN),
        draft("one\n", keywords=(TOKEN,)),
        draft("one\n", anchors=(TOKEN,)),
        draft("one\n", source_refs=(URL.replace("geheim7", TOKEN),)),
        draft("one\n", epistemic={"authority": TOKEN}),
        draft("one\n", media_type=f"text/{TOKEN}"),
        draft(f"令牌{TOKEN}。"),
        draft(b"\xff\xfe" + f"use {TOKEN}".encode("utf-16-le")),
        draft(b"\0\xff\xfe binary " + TOKEN.encode() + b" more"),
        draft(f"---\ntitle: {TOKEN}\n---\none\n"),
    ],
)
def test_a_secret_is_refused_wherever_it_stands(place: Workplace, given: Draft) -> None:
    page = place.write("before\n")
    deeds: tuple[Callable[[], Any], ...] = (
        lambda: place.session.write(SCOPE, given),
        lambda: place.session.revise(page.page_id, given, expect=[page.revision_id]),
    )
    for deed in deeds:
        with pytest.raises(SecretFound) as refused:
            deed()
        assert TOKEN not in refused.value.message + str(refused.value.fields)
        assert "--allow-secret" in refused.value.message
    assert len(paths_of(place.path, "rev_*.json")) == 1
    nowhere(place, TOKEN)


def test_the_error_names_kind_and_position(place: Workplace) -> None:
    with pytest.raises(
        SecretFound, match=r"a github-token in the payload \(line 2, column 7\)"
    ) as e:
        place.write(f"one\n  use {TOKEN} and {KEY}\n", title=URL)
    assert e.value.fields["findings"] == [
        {"kind": "github-token", "where": "payload", "line": 2, "column": 7},
        {"kind": "aws-key", "where": "payload", "line": 2, "column": 52},
        {"kind": "password", "where": "title", "line": 1, "column": 17},
    ]


def test_a_path_and_a_reason_are_looked_through_too(place: Workplace) -> None:
    with pytest.raises(SecretFound, match="in the path"):
        place.write("one\n", path=f"{KEY}.md")
    page = place.write("one\n").page_id
    for deed in (place.session.tombstone, place.session.archive):
        with pytest.raises(SecretFound, match="in the reason"):
            deed(page, f"it was {TOKEN}")
    with pytest.raises(SecretFound, match="in the title"):
        place.session.governing.set(SCOPE, title=TOKEN)
    nowhere(place, KEY)


@pytest.mark.parametrize(
    "deed",
    [
        lambda place, page: place.session.delete(page, f"it was {TOKEN}"),
        lambda place, page: place.session.delete(page, "why", override=f"it was {TOKEN}"),
        lambda place, page: place.session.suppress("task", [page], f"it was {TOKEN}"),
        lambda place, page: place.session.suppress(TOKEN, [page], "why"),
        lambda place, page: place.session.link(page, TOKEN.lower(), page),
        lambda place, page: place.session.governing.grant(
            SCOPE, Principal(f"user:{TOKEN}"), ("read",)
        ),
    ],
)
def test_what_no_text_stands_behind_is_refused_without_a_way_round(
    place: Workplace, deed: Callable[[Workplace, str], Any]
) -> None:
    page = place.write("one\n").page_id
    with pytest.raises(SecretFound, match=r"github-token .* say it without"):
        deed(place, page)
    assert place.session.payload(page) == b"one\n"
    nowhere(place, TOKEN)
    nowhere(place, TOKEN.lower())


def test_a_person_may_keep_one_and_the_change_says_so(place: Workplace) -> None:
    page = place.write(f"use {TOKEN}\n", allow_secret=True)
    assert TOKEN in place.session.payload(page.page_id).decode()
    changes = "".join(file.read_text() for file in paths_of(place.path, "chg_*.json"))
    assert (
        '"allowed_secrets":[{"column":5,"kind":"github-token","line":1,"where":"payload"}]'
        in changes
    )
    assert '"type":"accepted"' in changes
    assert TOKEN not in changes


@pytest.mark.parametrize("who", ["model:local", "agent:reviewer"])
def test_no_model_may_keep_one(place: Workplace, who: str) -> None:
    place.write("one\n")
    place.session.governing.grant(SCOPE, Principal(who), ["read", "write"])
    model = Session(place.store, Principal(who))
    with pytest.raises(SecretFound, match="only a person may keep it"):
        model.write(SCOPE, draft(f"use {TOKEN}\n", allow_secret=True))
    assert model.write(SCOPE, draft("no secret\n", allow_secret=True)).created
    nowhere(place, TOKEN)


def test_what_was_accepted_is_not_asked_about_again_in_this_scope(place: Workplace) -> None:
    page = place.write(f"use {TOKEN}\n", allow_secret=True)
    place.revise(page.page_id, f"do use {TOKEN}\n")
    place.store.reindex()
    place.write(f"again {TOKEN}\n")
    with pytest.raises(SecretFound):
        place.write(f"again {KEY}\n")
    with pytest.raises(SecretFound):
        place.write(f"use {TOKEN}\n", scope="project:other")


def test_the_same_secret_is_accepted_under_another_salt_elsewhere(place: Workplace) -> None:
    """The list tells nobody that two scopes hold the same."""
    for scope in ("project:one", "project:two"):
        place.write(f"use {TOKEN}\n", scope=scope, allow_secret=True)
    rows = place.store.catalog.query("SELECT salt, digest FROM accepted")
    assert len(rows) == len({salt for salt, _ in rows}) == len({d for _, d in rows}) == 2


def test_a_placeholder_is_refused_as_well_where_somebody_can_be_asked(place: Workplace) -> None:
    with pytest.raises(SecretFound, match="a password"):
        place.write("postgres://user:password@host/db\n")
