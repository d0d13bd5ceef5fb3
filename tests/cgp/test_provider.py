"""What the provider serves: kinds, forms, provenance, time, anchors and verdicts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pcpfs.model import cgp
from pcpfs.model.requests import EventDraft
from pcpfs.store.events.ingest import Ingest
from tests.cgp.hosting import Host, by_kind, cited_bytes, path_of, titles
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA, Workplace

ROUTER = '''\
"""Routing of requests."""

LIMIT = 30


class Router:
    """Finds the handler of a path."""

    def match(self, path):
        """The longest prefix wins."""
        return max(self.routes, key=len)

    def add(self, path, handler):
        self.routes[path] = handler
'''

NOTE = "# Why the router is greedy\n\nThe longest prefix wins, since handlers nest.\n"


def test_a_symbol_is_served_whole_with_its_lines_and_how_it_was_made(
    app: SourceTree, host: Host
) -> None:
    app.write("router.py", ROUTER)
    app.add()
    frame = host.frames("Router.match")[0]
    assert frame.kind == "symbol"
    assert frame.title == "Router.match"
    assert frame.citation_label == "Router.match (app/router.py:9)"
    assert frame.content == "\n".join(ROUTER.split("\n")[8:11]) + "\n"
    file, derivation = frame.provenance
    assert (file.type, file.range) == ("file", "L9-11")
    assert cited_bytes(file) == (frame.content or "").encode()
    assert file.digest == frame.content_digest
    assert (derivation.type, derivation.method) == ("derivation", "tree-sitter-symbol-extraction")
    assert derivation.by == "pcpfs/0.1.0"


def test_each_kind_of_page_has_its_kind_of_frame(
    place: Workplace, app: SourceTree, host: Host
) -> None:
    app.write("router.py", ROUTER + "\n# a zebra lives outside of every symbol\n")
    app.write("zebra.md", "# Zebras\n\nA zebra in a document.\n")
    app.add()
    place.write("A zebra that we remember.\n", title="Memory")
    place.write("A zebra has stripes.\n", title="Fact", tags=("fact",))
    kinds = {frame.kind for frame in host.frames("zebra", max_frames=20)}
    assert kinds == {"snippet", "doc", "memory", "fact"}
    assert by_kind(host.frames("Router"))["symbol"].title == "Router"


def test_a_page_is_cited_by_its_payload_file(place: Workplace, host: Host) -> None:
    written = place.write(NOTE, title="Greedy")
    (frame,) = host.frames("greedy router")
    assert frame.kind == "memory"
    assert frame.content == NOTE
    assert frame.uri == f"pcpfs://{place.store.store_id}/{written.page_id}@{written.revision_id}"
    assert cited_bytes(frame.provenance[0]) == NOTE.encode()
    assert "/payloads/" in (frame.provenance[0].uri or "")


def test_an_event_is_cited_by_its_line_of_the_segment(place: Workplace, host: Host) -> None:
    drafts = [EventDraft(f"zebra number {n}\n".encode(), "text/plain") for n in range(3)]
    Ingest(place.store, ANNA).take("thread:talk", drafts)
    frames = host.frames("zebra number 1", max_frames=3)
    assert {frame.kind for frame in frames} == {"episode"}
    first = next(frame for frame in frames if frame.content == "zebra number 1\n")
    file, episode = first.provenance
    assert (file.uri or "").endswith(".jsonl")
    assert file.range == "L2"
    assert (episode.type, episode.uri) == ("episode", first.uri)
    assert host.verdicts(frames) == ["valid"] * 3


def test_a_title_is_never_an_id(place: Workplace, host: Host) -> None:
    """F2, F3; a page without any title is called after what it is."""
    place.write(b"some zebra\n", title=None, media_type="text/plain")
    place.write(b"another zebra\n", title="0123456789abcdef0123456789abcdef")
    assert all(not frame.title.startswith("pg_") for frame in host.frames("zebra"))
    assert len(host.frames("zebra")) == 2


def test_odd_paths_are_percent_encoded(app: SourceTree, host: Host) -> None:
    app.write("a dir/ü #1%.py", "def zebra():\n    return 1\n")
    app.write(b"b\xff.py", "def giraffe():\n    return 1\n")
    app.add()
    for name in ("zebra", "giraffe"):
        (frame,) = host.frames(name, kinds=("symbol",))
        assert path_of(frame.uri or "").exists()
        assert "%" in (frame.uri or "")


def test_a_goal_in_plain_words_is_enough(place: Workplace, app: SourceTree, host: Host) -> None:
    app.write("router.py", ROUTER)
    app.add()
    place.write(NOTE, title="Why the router is greedy")
    goal = 'please explain: why is the "router" so greedy, and which prefix does it prefer?'
    assert "Why the router is greedy" in titles(host.frames(goal))
    assert host.frames("conformance probe: return your most relevant frames", query_text="prefix")


def test_words_that_are_nowhere_give_an_empty_answer(place: Workplace, host: Host) -> None:
    place.write(NOTE)
    assert host.result("xylophone") == cgp.QueryResult(frames=(), truncated=False)


def test_only_the_kinds_that_were_asked_for(app: SourceTree, place: Workplace, host: Host) -> None:
    """Q1; unknown kinds beside known ones are no error (U2)."""
    app.write("router.py", ROUTER)
    app.add()
    place.write(NOTE)
    assert {f.kind for f in host.frames("router prefix", kinds=("memory", "hologram"))} == {
        "memory"
    }
    assert {f.kind for f in host.frames("router prefix", kinds=("symbol",))} == {"symbol"}
    reply = host.say(
        cgp.Query(query=cgp.ContextQuery(goal="g", kinds=("hologram",), max_frames=1, max_tokens=1))
    )
    assert isinstance(reply, cgp.Error)
    assert reply.code == "unsupported_kind"


@pytest.mark.parametrize("members", [{"max_tokens": 0}, {"max_frames": 0}])
def test_no_budget_gives_no_frames_and_says_so(
    place: Workplace, host: Host, members: dict[str, int]
) -> None:
    place.write(NOTE)
    result = host.result("router", **members)
    assert result.frames == ()
    assert result.truncated


def test_what_does_not_fit_is_counted(place: Workplace, host: Host) -> None:
    for n in range(6):
        place.write(f"# Zebra {n}\n\nNumber {n} of the zebras.\n")
    result = host.result("zebra", max_frames=4)
    assert (len(result.frames), result.truncated, result.dropped_estimate) == (4, True, 2)
    assert not host.result("zebra", max_frames=6).truncated


def test_a_long_symbol_becomes_a_fragment_where_the_whole_does_not_fit(
    app: SourceTree, host: Host
) -> None:
    body = "".join(f"    step_{n} = zebra({n})\n" for n in range(300))
    app.write("long.py", f"def endless():\n    needle = 1\n{body}\n\ndef short():\n    pass\n")
    app.add()
    (whole,) = host.frames("endless", max_tokens=20_000)
    (part,) = host.frames("endless", max_tokens=300)
    assert (whole.kind, part.kind) == ("symbol", "snippet")
    assert part.title == "endless, lines 1-27"
    assert (part.content or "").startswith("def endless():\n    needle = 1\n")
    assert part.provenance[0].range == "L1-27"
    (small,) = host.frames("endless", max_tokens=300, kinds=("symbol",))
    assert (small.representation, small.content) == ("compact", "def endless()\n")
    full = {"kinds": ("symbol",), "representation_preferences": ("full",)}
    assert host.frames("endless", max_tokens=300, **full) == ()


def test_a_host_that_likes_compact_frames_gets_signatures(app: SourceTree, host: Host) -> None:
    """P2, P5: the content_ref of a compact frame, as an anchor, brings the whole."""
    app.write("router.py", ROUTER)
    app.add()
    preferences = ("compact", "full")
    (compact,) = host.frames("Router.match", representation_preferences=preferences, max_frames=1)
    assert compact.representation == "compact"
    assert compact.content == "def match(self, path)\nThe longest prefix wins.\n"
    assert compact.content_ref is not None
    whole = host.frames("x", anchors=(compact.content_ref.uri,))[0]
    assert whole.content_digest == compact.canonical_content_hash
    assert host.verdicts([compact, whole]) == ["valid", "valid"]


def test_no_line_is_served_twice(app: SourceTree, host: Host) -> None:
    app.write("router.py", ROUTER)
    app.add()
    frames = host.frames("router match longest prefix path handler", max_frames=50)
    spans = [f.provenance[0].range or "" for f in frames]
    assert len(spans) == len(set(spans))
    assert sum((f.content or "").count("return max(self.routes") for f in frames) == 1


def test_the_same_text_is_served_once(place: Workplace, host: Host) -> None:
    for title in ("one", "two"):
        place.write("A zebra.\n", title=title)
    assert len(host.frames("zebra")) == 1


def test_a_changed_source_is_read_again(app: SourceTree, host: Host) -> None:
    """Never served stale: the store still knows the old bytes only."""
    app.write("router.py", ROUTER)
    app.add()
    (before,) = host.frames("Router.match", max_frames=1)
    app.edit("router.py", "LIMIT = 30\n", "LIMIT = 30\nMORE = 31\n")
    (moved,) = host.frames("Router.match", max_frames=1)
    assert moved.content == before.content
    assert moved.provenance[0].range == "L10-12"
    assert moved.valid_from == before.valid_from
    app.edit("router.py", "longest prefix", "shortest prefix")
    (changed,) = host.frames("Router.match", max_frames=1)
    assert "shortest prefix" in (changed.content or "")
    assert changed.valid_from != before.valid_from


def test_a_source_that_is_gone_is_left_out(app: SourceTree, host: Host) -> None:
    file = app.write("router.py", ROUTER)
    app.write("other.py", "def router_of_old():\n    pass\n")
    app.add()
    file.unlink()
    assert titles(host.frames("router")) == ["router_of_old"]
    (app.path / "other.py").write_text("x = 1\n")
    assert host.frames("router") == ()


@pytest.mark.parametrize("instead", ["link", "pipe", "folder", "bytes"])
def test_a_source_that_is_no_readable_text_any_more_is_left_out(
    app: SourceTree, host: Host, instead: str
) -> None:
    file = app.write("router.py", ROUTER)
    other = app.write("other.txt", ROUTER.replace("Router", "Another"))
    app.add()
    file.unlink()
    if instead == "link":
        file.symlink_to(other)
    elif instead == "pipe":
        os.mkfifo(file)
    elif instead == "folder":
        file.mkdir()
    else:
        file.write_bytes(b"class Router:\0\1\2")
    assert host.frames("Router", kinds=("symbol", "snippet")) == ()


def test_verdicts_come_from_the_actual_bytes(app: SourceTree, place: Workplace, host: Host) -> None:
    """V1 to V4, without any sync in between."""
    file = app.write("router.py", ROUTER)
    app.add()
    note = place.write(NOTE, title="Greedy")
    served = {frame.title: frame for frame in host.frames("Router greedy match add", max_frames=9)}
    frames = [served["Greedy"], *(f for t, f in served.items() if t.startswith("Router"))]
    assert set(host.verdicts(frames)) == {"valid"}
    app.edit("router.py", "longest prefix", "shortest prefix")
    place.revise(note.page_id, NOTE + "More.\n")
    verdicts = host.verify(frames)
    assert verdicts[0].status == "stale"
    assert "stale" in [verdict.status for verdict in verdicts[1:]]
    now = {frame.id: frame.content_digest for frame in host.frames("Router greedy match add")}
    for verdict in verdicts:
        if verdict.frame.frame_id in now and verdict.status == "stale":
            assert verdict.replacement_digest == now[verdict.frame.frame_id]
    file.unlink()
    place.session.tombstone(note.page_id, "over")
    assert set(host.verdicts(frames)) == {"gone"}


def test_what_cannot_be_known_is_not_valid(place: Workplace, host: Host) -> None:
    place.write(NOTE)
    (frame,) = host.frames("greedy")
    strange = [
        cgp.Identity(provider_id="p", frame_id=frame.id),
        cgp.Identity(provider_id="p", frame_id="nonsense", content_digest=frame.content_digest),
        cgp.Identity(
            provider_id="p", frame_id="pg_" + "0" * 26, content_digest=frame.content_digest
        ),
    ]
    reply = host.say(cgp.Verify(request=cgp.IdentityList(frames=tuple(strange))))
    assert isinstance(reply, cgp.Verified)
    assert [v.status for v in reply.response.verdicts] == ["unknown"] * 3


def test_a_pin_is_two_sided(app: SourceTree, place: Workplace, host: Host) -> None:
    """What held then, with the bytes of then; at its end it holds no more."""
    app.write("router.py", ROUTER, at="2030-01-01T00:00:00Z")
    app.add()
    app.write("router.py", ROUTER.replace("longest", "shortest"), at="2040-06-01T00:00:00Z")
    place.clock.time = place.clock.time.read("2040-07-01")
    app.sync()
    (now,) = host.frames("Router.match", max_frames=1)
    (then,) = host.frames("Router.match", max_frames=1, as_of="2035-01-01T00:00:00Z")
    assert (now.valid_from, now.valid_to) == ("2040-06-01T00:00:00Z", None)
    assert (then.valid_from, then.valid_to) == ("2030-01-01T00:00:00Z", now.valid_from)
    assert "longest" in (then.content or "")
    assert "shortest" in (now.content or "")
    (at_the_end,) = host.frames("Router.match", max_frames=1, as_of=now.valid_from)
    assert at_the_end.content == now.content
    assert host.frames("Router.match", as_of="2029-01-01T00:00:00Z") == ()
    assert host.verdicts([now, then]) == ["valid", "valid"]


def test_a_page_under_a_pin_is_as_it_was(place: Workplace, host: Host) -> None:
    first = place.write(NOTE, title="Greedy", valid_from=None)
    before = str(place.clock.time)
    place.clock.time = place.clock.time.read("2041-01-01")
    place.revise(first.page_id, NOTE + "\nAnd it stays so.\n")
    (then,) = host.frames("greedy", as_of=before)
    (now,) = host.frames("greedy")
    assert then.content == NOTE
    assert then.id != now.id
    assert host.verdicts([then, now]) == ["valid", "valid"]


def test_an_instant_that_is_none_is_a_bad_request(place: Workplace, host: Host) -> None:
    query = cgp.ContextQuery(goal="g", max_frames=1, max_tokens=1, as_of="yesterday")
    reply = host.say(cgp.Query(query=query))
    assert isinstance(reply, cgp.Error)
    assert reply.code == "bad_request"


def test_a_frame_at_the_anchor_comes_first(app: SourceTree, place: Workplace, host: Host) -> None:
    """G3, however the place is called."""
    app.write("router.py", ROUTER)
    app.write("zebra.py", "def zebra():\n    return 'router router router'\n")
    app.add()
    uri = app.path.joinpath("zebra.py").as_uri()
    session = place.session
    page = session.resolve("zebra.py").page
    frame = app.symbol("zebra").frame_id
    for anchor in (
        uri,
        str(app.path / "zebra.py"),
        "zebra.py",
        "app/zebra.py",
        page,
        frame,
        "zebra",
    ):
        first = host.frames("router", anchors=(str(anchor),))[0]
        assert "zebra" in first.title
        assert first.uri == str(anchor) or first.relations[0].target_uri == str(anchor)
    assert host.frames("router", anchors=("nowhere.py",))[0].title.startswith("Router")


def test_what_is_around_an_anchor_is_a_graph(app: SourceTree, place: Workplace, host: Host) -> None:
    app.write("router.py", ROUTER)
    app.add()
    place.write(NOTE, title="Why greedy", cites=(str(app.symbol("match").frame_id),))
    uri = app.path.joinpath("router.py").as_uri()
    frames = host.frames("longest prefix", anchors=(uri,))
    graph, note = by_kind(frames)["graph"], by_kind(frames)["memory"]
    assert "defines: method Router.match, lines 9-11" in (graph.content or "")
    assert "cites, from: Why greedy" in (graph.content or "")
    assert uri in [edge.target_uri for edge in note.relations]
    assert note.score == graph.score == 1.0
    assert [edge.display_name for edge in note.relations] == ["Router.match"]
    assert host.verdicts([graph]) == ["valid"]
    assert host.frames("x", anchors=(uri,), kinds=("graph",)) == (graph,)


def test_a_graph_tells_what_a_source_imports_and_who_imports_it(
    app: SourceTree, host: Host
) -> None:
    app.write("router.py", ROUTER)
    app.write("app.py", "import router\n")
    app.add()
    for name, rel, other, told in (
        ("app.py", "code.imports", "router.py", "imports: router.py"),
        ("router.py", "pcpfs:imported_by", "app.py", "imports, from: app.py"),
    ):
        uri = app.path.joinpath(name).as_uri()
        graph = by_kind(host.frames("x", anchors=(uri,), kinds=("graph",)))["graph"]
        assert told in (graph.content or "")
        target = app.path.joinpath(other).as_uri()
        assert (rel, target) in [(edge.rel, edge.target_uri) for edge in graph.relations]


def test_a_page_at_an_anchor_is_found_without_any_word(place: Workplace, host: Host) -> None:
    written = place.write(NOTE, title="Greedy")
    anchors = (f"pcpfs://{place.store.store_id}/{written.page_id}",)
    assert titles(host.frames("xylophone", anchors=anchors)) == ["Greedy"]


def test_an_unbound_source_is_cited_by_what_the_store_keeps(
    app: SourceTree, place: Workplace, tmp_path: Path
) -> None:
    app.write("router.py", ROUTER)
    app.add()
    place.git("clone", "--quiet", str(place.path), str(tmp_path / "clone"))
    clone = Workplace.at(tmp_path / "clone")
    (frame,) = Host(clone.store).frames("Router.match", max_frames=1)
    assert (frame.uri or "").startswith("pcpfs://")
    assert str(tmp_path / "clone") in (frame.provenance[0].uri or "")
    assert Host(clone.store).verdicts([frame]) == ["valid"]
    clone.close()


def test_a_symbol_on_a_crowded_line_is_cited_by_its_line(app: SourceTree, host: Host) -> None:
    line = "var a = 1; function zebra() { return 1; } var b = 2;\n"
    app.write("one.js", line + "x;\n")
    app.add()
    frame = next(f for f in host.frames("zebra") if f.uri and f.uri.endswith("one.js"))
    assert frame.content == "function zebra() { return 1; }"
    assert (
        cited_bytes(frame.provenance[0])
        == b"var a = 1; function zebra() { return 1; } var b = 2;\n"
    )


@pytest.mark.parametrize("codec", ["utf-16", "latin-1"])
def test_texts_that_are_no_utf_8_are_served_and_cited(
    app: SourceTree, host: Host, codec: str
) -> None:
    app.write(
        "u.py", "# é\ndef zebra():\n    return 'é'\n\n\ndef other():\n    pass\n".encode(codec)
    )
    app.add()
    (frame,) = host.frames("zebra", kinds=("symbol",), max_frames=1)
    assert "return 'é'" in (frame.content or "")
    assert "other" not in (frame.content or "")


def test_an_answer_is_the_same_every_time(app: SourceTree, place: Workplace, host: Host) -> None:
    app.write("router.py", ROUTER)
    app.add()
    place.write(NOTE)
    first = host.result("router prefix handler", max_tokens=120)
    again = Host(place.reopened().store).result("router prefix handler", max_tokens=120)
    assert first == again
