"""Changes: golden bytes, and every event comes back as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from pcpfs.errors import Corrupt
from pcpfs.model.branches import Aside, Beside, Branches, Fork, Version
from pcpfs.model.changes import (
    CHANGE_EVENTS,
    Change,
    Closed,
    Event,
    LifecycleSet,
    Linked,
    Named,
    Noted,
    Observed,
    Relation,
    Retracted,
    RevisionWritten,
    ScopeDescribed,
    ScopeTitled,
    Thinned,
    UnknownEvent,
    Unlinked,
)
from pcpfs.model.grants import Granted, Revoked, ScopeLinked, ScopeUnlinked, VisibilitySet
from pcpfs.model.ids import (
    ChangeId,
    CloneId,
    Digest,
    FrameId,
    PageId,
    RelationId,
    RevisionId,
    RootId,
)
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.retention import RetentionSet
from pcpfs.model.roots import RootAdded, Walked
from pcpfs.model.secrets import SecretAccepted, SecretRefused
from tests.model.strategies import changes

PAGE = PageId("pg_" + "0" * 25 + "1")
CLONE = CloneId("cl_" + "0" * 26)
REVISION = RevisionId("rev_" + "a" * 64)
FRAME = FrameId("fr_" + "0" * 26)
AT = Instant.read("2026-03-01T12:00:00.5Z")
ANNA = Principal("user:anna")
RELATION = Relation(
    RelationId("rel_" + "0" * 26),
    REVISION,
    "cites",
    PAGE,
    REVISION,
    ANNA,
    AT,
    FRAME,
    Digest("sha256:" + "b" * 64),
)

ROOT = RootId("root_" + "0" * 26)

GOLDEN: dict[str, tuple[Event, str]] = {
    "revision": (
        RevisionWritten(REVISION, (REVISION,)),
        f'{{"parents":["{REVISION}"],"revision":"{REVISION}","type":"revision"}}',
    ),
    "observed": (
        Observed(REVISION, AT, "mtime", "python-1"),
        f'{{"adapter":"python-1","basis":"mtime","revision":"{REVISION}","type":"observed",'
        '"valid_from":"2026-03-01T12:00:00.5Z"}',
    ),
    "observed in a commit": (
        Observed(REVISION, AT, "commit", "python-1", "ab" * 20, "Ada <a@x>"),
        f'{{"adapter":"python-1","author":"Ada <a@x>","basis":"commit","commit":"{"ab" * 20}",'
        f'"revision":"{REVISION}","type":"observed","valid_from":"2026-03-01T12:00:00.5Z"}}',
    ),
    "closed": (
        Closed(REVISION, AT, "moved", None, PAGE),
        f'{{"frames":"*","reason":"moved","revision":"{REVISION}","to":"{PAGE}","type":"closed",'
        '"valid_to":"2026-03-01T12:00:00.5Z"}',
    ),
    "closed in part": (
        Closed(REVISION, AT, "asked", (FRAME,)),
        f'{{"frames":["{FRAME}"],"reason":"asked","revision":"{REVISION}","type":"closed",'
        '"valid_to":"2026-03-01T12:00:00.5Z"}',
    ),
    "retracted": (
        Retracted((ChangeId("chg_" + "c" * 32),)),
        f'{{"changes":["chg_{"c" * 32}"],"type":"retracted"}}',
    ),
    "retracted commits": (
        Retracted(commits=("ab" * 20,)),
        f'{{"changes":[],"commits":["{"ab" * 20}"],"type":"retracted"}}',
    ),
    "walked": (
        Walked(ROOT, "refs/heads/main", "ab" * 20, AT, "cd" * 20, AT, "since", AT),
        f'{{"branch":"refs/heads/main","cut":"since","root_id":"root_{"0" * 26}",'
        f'"since":"2026-03-01T12:00:00.5Z","start":"{"cd" * 20}",'
        f'"start_at":"2026-03-01T12:00:00.5Z","tip":"{"ab" * 20}",'
        f'"tip_at":"2026-03-01T12:00:00.5Z","type":"walked"}}',
    ),
    "walked beside": (
        Walked(
            ROOT,
            all_branches=True,
            branches=Branches(
                {"refs/heads/x": "ab" * 20},
                {"ab" * 20: Aside("cd" * 20, AT), "ba" * 20: Aside(None, AT)},
                {"cd" * 20: Fork(AT, ("cd" * 20,))},
                ("refs/heads/y",),
                ("ef" * 20,),
            ),
        ),
        f'{{"all_branches":true,"branches":{{"commits":{{"{"ab" * 20}":{{"at":'
        f'"2026-03-01T12:00:00.5Z","parent":"{"cd" * 20}"}},"{"ba" * 20}":{{"at":'
        f'"2026-03-01T12:00:00.5Z"}}}},"forks":{{"{"cd" * 20}":{{"at":"2026-03-01T12:00:00.5Z",'
        f'"same":["{"cd" * 20}"]}}}},"gone":["refs/heads/y"],"left":["{"ef" * 20}"],"tips":'
        f'{{"refs/heads/x":"{"ab" * 20}"}}}},"cut":"","root_id":"root_{"0" * 26}",'
        '"type":"walked"}',
    ),
    "beside": (
        Beside("ab" * 20, "Ada <a@x>", AT, None, Version(REVISION, "python-1"), of=PAGE),
        f'{{"at":"2026-03-01T12:00:00.5Z","author":"Ada <a@x>","commit":"{"ab" * 20}",'
        f'"now":{{"adapter":"python-1","revision":"{REVISION}"}},"of":"{PAGE}","type":"beside"}}',
    ),
    "beside and gone": (
        Beside("ab" * 20, "", AT, Version(REVISION, "python-1"), reason="moved", to=PAGE),
        f'{{"at":"2026-03-01T12:00:00.5Z","author":"","commit":"{"ab" * 20}","reason":"moved",'
        f'"to":"{PAGE}","type":"beside","was":{{"adapter":"python-1","revision":"{REVISION}"}}}}',
    ),
    "thinned": (
        Thinned((REVISION,)),
        f'{{"revisions":["{REVISION}"],"type":"thinned"}}',
    ),
    "lifecycle": (
        LifecycleSet("tombstoned", "é"),
        '{"status":"tombstoned","type":"lifecycle","why":"é"}',
    ),
    "named": (Named("notes/x.md"), '{"path":"notes/x.md","type":"named"}'),
    "linked": (
        Linked(RELATION),
        '{"relation":{"created_at":"2026-03-01T12:00:00.5Z","created_by":{"actor_id":"user:anna",'
        f'"actor_type":"user"}},"from_revision_id":"{REVISION}","relation_id":"rel_{"0" * 26}",'
        f'"to_digest":"sha256:{"b" * 64}","to_frame":"{FRAME}","to_page_id":"{PAGE}",'
        f'"to_revision_id":"{REVISION}","type":"cites"}},"type":"linked"}}',
    ),
    "unlinked": (
        Unlinked(RELATION.relation_id),
        f'{{"relation_id":"rel_{"0" * 26}","type":"unlinked"}}',
    ),
    "noted": (Noted({"opened": ["f"]}), '{"note":{"opened":["f"]},"type":"noted"}'),
    "described": (ScopeDescribed("é"), '{"description":"é","type":"described"}'),
    "titled": (ScopeTitled("Formal Math"), '{"title":"Formal Math","type":"titled"}'),
    "root": (
        RootAdded(ROOT, "app", "git", CLONE, "ff00", ("*.py",), 5),
        f'{{"fingerprint":"ff00","include":["*.py"],"kind":"git","max_bytes":5,"name":"app",'
        f'"observer":"{CLONE}","root_id":"root_{"0" * 26}","type":"root"}}',
    ),
    "granted": (
        Granted(ANNA, ("list", "read")),
        '{"permissions":["list","read"],"principal":"user:anna","type":"granted"}',
    ),
    "revoked": (
        Revoked(ANNA, ("read",)),
        '{"permissions":["read"],"principal":"user:anna","type":"revoked"}',
    ),
    "accepted": (
        SecretAccepted("aws-key", "00ff", "ab" * 32),
        f'{{"digest":"{"ab" * 32}","kind":"aws-key","salt":"00ff","type":"accepted"}}',
    ),
    "unaccepted": (SecretRefused("00ff"), '{"salt":"00ff","type":"unaccepted"}'),
    "retention": (
        RetentionSet(Instant.read("2030-01-01"), 365),
        '{"hold_until":"2030-01-01T00:00:00Z","keep_days":365,"type":"retention"}',
    ),
    "no retention": (RetentionSet(), '{"type":"retention"}'),
    "visibility": (VisibilitySet("shared"), '{"type":"visibility","visibility":"shared"}'),
    "scope linked": (ScopeLinked(Namespace("a:b")), '{"scope":"a:b","type":"scope_linked"}'),
    "scope unlinked": (ScopeUnlinked(Namespace("a")), '{"scope":"a","type":"scope_unlinked"}'),
    "unknown": (
        UnknownEvent({"type": "embargoed", "to": ["x"], "n": 1}),
        '{"n":1,"to":["x"],"type":"embargoed"}',
    ),
}


def change(*events: Event, page: PageId | None = PAGE) -> Change:
    return Change(Namespace("project:a"), page, AT, CLONE, ANNA, "write", (), tuple(events))


def test_the_golden_bytes_of_a_change() -> None:
    body = change(Named("x.md"))
    golden = (
        '{\n"actor":"user:anna",\n"after":[],\n"at":"2026-03-01T12:00:00.5Z",\n'
        f'"clone":"{CLONE}",\n"events":[{{"path":"x.md","type":"named"}}],\n'
        f'"namespace":"project:a",\n"operation":"write",\n"page":"{PAGE}"\n}}\n'
    ).encode()
    assert body.encode() == golden
    assert ChangeId.of(golden) == "chg_5493002678ef6e192899e974b8d42a24"


def test_a_scope_change_names_no_page() -> None:
    raw = change(ScopeTitled("A"), page=None).encode()
    assert b'"page"' not in raw
    assert Change.decode(raw, "x").page is None


@pytest.mark.parametrize("name", GOLDEN)
def test_the_golden_bytes_of_each_event(name: str) -> None:
    event, golden = GOLDEN[name]
    raw = change(event).encode()
    line = next(part for part in raw.decode().split("\n") if part.startswith('"events"'))
    assert line == f'"events":[{golden}],'
    assert Change.decode(raw, "x").events == (event,)


def test_there_is_golden_for_every_event_that_exists() -> None:
    assert {event.type for event, _ in GOLDEN.values()} >= set(CHANGE_EVENTS)


@given(changes)
def test_every_change_comes_back_from_its_bytes(body: Change) -> None:
    raw = body.encode()
    again = Change.decode(raw, "x")
    assert again == body
    assert again.encode() == raw


def test_an_event_of_a_later_format_is_kept_as_it_is() -> None:
    later = {"type": "embargoed", "to": "user:bob", "nested": {"a": [1, {"b": True}]}}
    body = change(UnknownEvent(later), Named("x.md"))
    again = Change.decode(body.encode(), "x")
    assert again.events[0] == UnknownEvent(later)
    assert again.encode() == body.encode()


BROKEN = {
    "no page id": {"page": "pg_x"},
    "no instant": {"at": "2026-03-01"},
    "no list": {"after": 5},
    "another kind of id": {"after": [str(REVISION)]},
    "events are no objects": {"events": ["x"]},
    "an event lacks a member": {"events": [{"type": "named"}]},
    "a type that is no text": {"events": [{"type": ["x"]}]},
    "a principal without kind": {"actor": "anna"},
    "a scope that leads out": {"namespace": "../x"},
    "a number as scope": {"namespace": 7},
    "nothing as clone": {"clone": None},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_change_that_says_nonsense_is_corrupt_and_named(name: str) -> None:
    members = json.loads(change(Named("x.md")).encode()) | BROKEN[name]
    with pytest.raises(Corrupt, match="pages/chg_x"):
        Change.decode(json.dumps(members).encode(), "pages/chg_x")


@pytest.mark.parametrize("member", ["namespace", "at", "clone", "actor", "after", "events"])
def test_a_change_that_lacks_a_member_is_corrupt(member: str) -> None:
    members = json.loads(change(Named("x.md")).encode())
    del members[member]
    with pytest.raises(Corrupt):
        Change.decode(json.dumps(members).encode(), "x")


def test_bytes_nested_too_deeply_to_read_are_corrupt() -> None:
    with pytest.raises(Corrupt):
        Change.decode(b"[" * 100_000, "x")
