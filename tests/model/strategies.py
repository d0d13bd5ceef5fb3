"""Values of the model, as hypothesis makes them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pcpfs.model.branches import Aside, Beside, Branches, Fork, Line, Version
from pcpfs.model.changes import (
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
    ScopeTitled,
    UnknownEvent,
    Unlinked,
)
from pcpfs.model.frames import Extraction, Import, Symbol
from pcpfs.model.ids import (
    ChangeId,
    CloneId,
    Digest,
    FrameId,
    PageId,
    RelationId,
    RevisionId,
    RootId,
    base32,
)
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Facets, Payload, Principal, ProvenanceEvent, Revision
from pcpfs.model.roots import RootAdded, Walked

EARLIEST = Instant.read("0001-01-01").microseconds
LATEST = Instant.read("9999-12-31T23:59:59.999999Z").microseconds

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
instants = st.builds(Instant, st.integers(EARLIEST, LATEST))
sixteen = st.binary(min_size=16, max_size=16)
pages = sixteen.map(PageId.authored)
clones = sixteen.map(lambda raw: CloneId("cl_" + base32(raw)))
roots = sixteen.map(lambda raw: RootId("root_" + base32(raw)))
frame_ids = sixteen.map(lambda raw: FrameId("fr_" + base32(raw)))
relation_ids = sixteen.map(lambda raw: RelationId("rel_" + base32(raw)))
revisions = st.binary(max_size=4).map(RevisionId.of)
change_ids = st.binary(max_size=4).map(ChangeId.of)
digests = st.binary(max_size=4).map(Digest.of)
principals = st.sampled_from(
    [Principal(p) for p in ("user:anna", "model:local", "agent:reviewer", "tool:é", "system:x")]
)
namespaces = st.sampled_from([Namespace("project:a"), Namespace.given("Ä b:tree")])


def several(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3).map(tuple)


json_values = st.recursive(
    st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

relations = st.builds(
    Relation,
    relation_ids,
    revisions,
    st.sampled_from(["cites", "supports", "renamed_from"]),
    pages,
    revisions,
    principals,
    instants,
    st.none() | frame_ids,
    st.none() | digests,
)
versions = st.builds(Version, revisions, words)
branches = st.builds(
    Branches,
    st.dictionaries(words, words, max_size=3),
    st.dictionaries(words, st.builds(Aside, st.none() | words, instants), max_size=3),
    st.dictionaries(words, st.builds(Fork, instants, several(words)), max_size=3),
    several(words),
    several(words),
    st.none() | st.builds(Line, words, st.none() | instants),
)
known_events = st.one_of(
    st.builds(
        Beside,
        words,
        words,
        instants,
        st.none() | versions,
        st.none() | versions,
        st.none() | words,
        st.none() | pages,
        st.none() | pages,
    ),
    st.builds(RevisionWritten, revisions, several(revisions)),
    st.builds(Observed, revisions, instants, words, words, st.none() | words, st.none() | words),
    st.builds(
        Closed,
        revisions,
        instants,
        words,
        st.none() | several(frame_ids),
        st.none() | pages,
        st.none() | words,
        st.none() | words,
    ),
    st.builds(Retracted, several(change_ids), several(words)),
    st.builds(
        Walked,
        roots,
        st.none() | words,
        st.none() | words,
        st.none() | instants,
        st.none() | words,
        st.none() | instants,
        texts,
        st.none() | instants,
        st.booleans(),
        st.none() | branches,
    ),
    st.builds(LifecycleSet, st.sampled_from(["active", "archived", "tombstoned"]), texts),
    st.builds(Named, words),
    st.builds(Linked, relations),
    st.builds(Unlinked, relation_ids),
    st.builds(Noted, json_objects),
    st.builds(ScopeTitled, texts),
    st.builds(
        RootAdded,
        roots,
        words,
        st.sampled_from(["git", "folder"]),
        clones,
        texts,
        several(words),
        st.integers(1, 2**50),
    ),
)
unknown_events = json_objects.map(
    lambda members: UnknownEvent({**members, "type": "of a later format"})
)
events: st.SearchStrategy[Event] = known_events | unknown_events
changes = st.builds(
    Change,
    namespaces,
    st.none() | pages,
    instants,
    clones,
    principals,
    words,
    several(change_ids),
    several(events),
)

payloads = st.builds(
    Payload,
    st.sampled_from(["text/markdown", "application/octet-stream", "text/plain; charset=utf-8"]),
    digests,
    st.integers(0, 2**50),
)
facets = st.builds(
    Facets,
    st.none() | words,
    several(words),
    st.none() | words,
    several(words),
    several(words),
    several(words),
)
provenance = st.builds(
    ProvenanceEvent,
    st.sampled_from(["write", "revise", "derive"]),
    principals,
    instants,
    several(revisions),
    st.none() | words,
)
envelopes = st.builds(
    Revision,
    pages,
    namespaces,
    payloads,
    several(revisions),
    several(words),
    facets,
    st.none() | instants,
    st.none() | principals,
    several(provenance),
    st.none() | instants,
    epistemic=st.dictionaries(st.sampled_from(["authority", "sensitivity"]), words),
    salt=st.none() | sixteen.map(bytes.hex),
)

symbols = st.builds(
    Symbol,
    st.sampled_from(["function", "class", "heading"]),
    words,
    words,
    texts,
    texts,
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
    digests,
    st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
extractions = st.builds(
    Extraction,
    st.sampled_from(["python", "c_sharp"]),
    st.integers(1, 9),
    st.sampled_from(["python", "csharp"]),
    several(symbols),
    st.integers(0, 9),
    st.sampled_from(["utf-8", "utf-16-le"]),
    st.integers(0, 9),
    several(texts),
    several(st.builds(Import, words, st.integers(1, 9))),
    st.booleans(),
)
