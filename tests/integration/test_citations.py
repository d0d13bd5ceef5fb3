"""Notes that cite code are suspect while what they cite does not hold."""

from __future__ import annotations

import pytest

from pcpfs.errors import Conflict
from pcpfs.sources.status import status
from tests.integration.source_tree import PYTHON, SourceTree
from tests.store.workplace import recorded

PAIR = """\
class A:
    @property
    def x(self):
        return 1

    @x.setter
    def x(self, value):
        self.y = value
"""


class TestCitations:
    """Notes that cite code are suspect while what they cite does not hold."""

    def cite(self, app: SourceTree, name: str) -> str:
        hit = app.symbol(name)
        assert hit.frame_id is not None
        return app.place.write(f"about {name}\n", cites=(hit.frame_id,)).page_id

    def test_a_change_of_what_is_cited_makes_the_note_suspect_and_says_what(
        self, added: SourceTree
    ) -> None:
        note = self.cite(added, "Basket.second")
        old = added.symbol("Basket.second")
        assert added.place.session.suspects() == ()
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        (page,) = added.place.session.suspects()
        (suspicion,) = page.frames
        new = added.symbol("Basket.second")
        assert (page.page_id, page.title) == (note, "about Basket.second")
        assert (suspicion.status, suspicion.qualified_name) == ("changed", "Basket.second")
        assert (suspicion.digest, suspicion.replacement_digest) == (old.digest, new.digest)
        assert suspicion.closed_at == new.valid_from
        (hit,) = [h for h in added.place.session.search("about").results if h.page_id == note]
        assert hit.suspect is True
        assert status(added.place.session).suspect == (page,)
        assert added.place.session.manifest(note).suspect == page.frames

    def test_a_change_elsewhere_leaves_the_note_alone(self, added: SourceTree) -> None:
        self.cite(added, "first")
        added.write("a.py", "# moved down\n" + PYTHON.replace("return 2", "return 3"))
        added.sync()
        assert added.place.session.suspects() == ()

    def test_a_deleted_file_makes_the_note_suspect_and_healing_clears_it(
        self, added: SourceTree
    ) -> None:
        self.cite(added, "first")
        (added.path / "a.py").unlink()
        added.sync()
        ((suspicion,),) = [page.frames for page in added.place.session.suspects()]
        assert (suspicion.status, suspicion.replacement_digest) == ("gone", None)
        assert suspicion.closed_at is not None
        added.write("a.py")
        added.sync()
        assert added.place.session.suspects() == ()

    def test_an_edit_that_is_undone_clears_the_mark(self, added: SourceTree) -> None:
        self.cite(added, "Basket.second")
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        assert len(added.place.session.suspects()) == 1
        added.edit("a.py", "return 3", "return 2")
        added.sync()
        assert added.place.session.suspects() == ()

    def test_a_moved_file_makes_nobody_suspect(self, added: SourceTree) -> None:
        note = self.cite(added, "first")
        for old, new in (("a.py", "m.py"), ("m.py", "sub/n.py")):
            (added.path / new).parent.mkdir(exist_ok=True)
            (added.path / old).rename(added.path / new)
            added.sync()
            assert added.place.session.suspects() == ()
        added.edit("sub/n.py", "return a", "return b")
        added.sync()
        ((suspicion,),) = [page.frames for page in added.place.session.suspects()]
        assert (suspicion.status, suspicion.path) == ("changed", "sub/n.py")
        assert added.place.session.manifest(note).suspect == (suspicion,)

    def test_a_moved_property_pair_makes_nobody_suspect(self, app: SourceTree) -> None:
        app.write("p.py", PAIR)
        app.add()
        pair = app.symbols("A.x")
        assert len({hit.frame_id for hit in pair}) == 2
        app.place.write("about both\n", cites=tuple(str(hit.frame_id) for hit in pair))
        (app.path / "p.py").rename(app.path / "q.py")
        app.sync()
        assert app.place.session.suspects() == ()

    def test_a_setter_beside_a_property_makes_nobody_suspect(self, app: SourceTree) -> None:
        setter = PAIR.index("\n    @x.setter")
        app.write("p.py", PAIR[:setter])
        app.add()
        self.cite(app, "A.x")
        for text in (PAIR, PAIR[:setter], PAIR[:setter] + PAIR[8:setter]):
            app.write("p.py", text)  # alone, one of two, alone, the first of two to the letter
            app.sync()
            assert app.place.session.suspects() == ()
        app.write("p.py", PAIR.replace("return 1", "return 2"))
        app.sync()
        assert len(app.place.session.suspects()) == 1

    def test_a_symbol_that_moves_to_another_file_makes_nobody_suspect(
        self, added: SourceTree
    ) -> None:
        self.cite(added, "first")
        text = PYTHON[PYTHON.index("def first") : PYTHON.index("class Basket")]
        added.write("a.py", PYTHON.replace(text, ""))
        added.write("b.py", text)
        added.sync()
        assert added.place.session.suspects() == ()
        added.edit("b.py", "return a", "return b")
        added.sync()
        ((suspicion,),) = [page.frames for page in added.place.session.suspects()]
        assert (suspicion.status, suspicion.path) == ("changed", "b.py")

    def test_a_symbol_that_left_another_in_its_place_is_followed(self, added: SourceTree) -> None:
        self.cite(added, "first")
        text = PYTHON[PYTHON.index("def first") : PYTHON.index("class Basket")]
        added.write("a.py", PYTHON.replace("return a", "return b"))
        added.write("b.py", text)
        added.sync()
        assert added.place.session.suspects() == ()

    def test_a_symbol_that_goes_to_two_places_is_gone(self, added: SourceTree) -> None:
        self.cite(added, "first")
        text = PYTHON[PYTHON.index("def first") : PYTHON.index("class Basket")]
        added.write("a.py", PYTHON.replace(text, ""))
        added.write("b.py", text)
        added.write("c.py", text)
        added.sync()
        ((suspicion,),) = [page.frames for page in added.place.session.suspects()]
        assert (suspicion.status, suspicion.path) == ("gone", "a.py")

    def test_another_file_in_the_place_of_a_moved_one_is_not_what_was_cited(
        self, added: SourceTree
    ) -> None:
        self.cite(added, "first")
        (added.path / "a.py").rename(added.path / "m.py")
        added.sync()
        added.write("a.py", PYTHON.replace("return a", "return b"))
        added.sync()
        assert added.place.session.suspects() == ()

    def test_a_later_citation_of_what_holds_now_clears_the_mark(self, added: SourceTree) -> None:
        note = self.cite(added, "Basket.second")
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        frame = added.symbol("Basket.second").frame_id
        assert frame is not None
        added.place.revise(note, "about it, again\n", cites=(frame,))
        assert added.place.session.suspects() == ()

    def test_what_has_closed_cannot_be_cited_as_if_it_held(self, added: SourceTree) -> None:
        frame = added.symbol("first").frame_id
        assert frame is not None
        (added.path / "a.py").unlink()
        added.sync()
        with pytest.raises(Conflict):
            added.place.write("late\n", cites=(frame,))

    def test_a_withdrawn_note_is_not_listed(self, added: SourceTree) -> None:
        note = self.cite(added, "first")
        (added.path / "a.py").unlink()
        added.sync()
        added.place.session.archive(note, "done")
        assert added.place.session.suspects() == ()

    def test_looking_back_by_record_shows_what_was_known(self, added: SourceTree) -> None:
        note = self.cite(added, "Basket.second")
        then = added.place.clock.now()
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        assert added.place.session.manifest(note, recorded(then)).suspect is None
        assert added.place.session.manifest(note).suspect is not None
