"""What a crash leaves is finished or harmless."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from pcpfs.errors import NotFound
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace, contents, paths_of


class TestIntents:
    """What a crash leaves: an intent, and all, some or none of the files that it names."""

    def crash(self, place: Workplace, kept: Callable[[str], bool]) -> tuple[str, list[str]]:
        """A write that got as far as some of its files: no catalog, no commit, no tree."""
        page = place.write("kept\n", path="kept.md").page_id
        before, head = contents(place.path), place.git("rev-parse", "HEAD").strip()
        written = place.write("apple\n", path="x.md")
        new = [n for n in contents(place.path) if n not in before and n.startswith("scopes/")]
        place.store.local.set_bases((), [str(written.path)])
        place.close()
        place.git("reset", "-q", "--soft", head)
        place.git("reset", "-q")
        for name in new:
            if "/tree/" in name or not kept(name):
                (place.path / name).unlink()
        shutil.rmtree(place.path / ".pcpfs")
        intent = [
            "write: crashed",
            [["Pcpfs-Operation", "write"]],
            "user:anna",
            [name for name in new if "/tree/" not in name],
        ]
        (place.path / ".git/pcpfs/intent.json").write_text(json.dumps(intent))
        assert place.git("rev-parse", "HEAD").strip() == head
        return page, [written.page_id, written.revision_id]

    def test_all_files_are_there_and_the_operation_is_finished(self, place: Workplace) -> None:
        kept, (page, revision) = self.crash(place, lambda name: True)
        again = place.reopened()
        assert again.session.manifest(page).heads == (revision,)
        assert again.tree() == {"kept.md": b"kept\n", "x.md": b"apple\n"}
        assert again.git("log", "-1", "--format=%s").strip() == "write: crashed"
        assert again.git("status", "--porcelain") == ""
        assert not (place.path / ".git/pcpfs/intent.json").exists()
        assert fsck(again.store).ok
        assert again.session.payload(kept) == b"kept\n"
        again.close()

    def test_the_change_is_missing_and_nothing_has_happened(self, place: Workplace) -> None:
        kept, (page, _) = self.crash(place, lambda name: "/chg_" not in name)
        again = place.reopened()
        with pytest.raises(NotFound):
            again.session.manifest(page)
        assert again.session.payload(kept) == b"kept\n"
        assert again.write("apple\n", path="x.md").created
        assert again.tree() == {"kept.md": b"kept\n", "x.md": b"apple\n"}
        assert again.git("status", "--porcelain") == ""
        again.close()

    def test_no_file_is_there_and_nothing_has_happened(self, place: Workplace) -> None:
        kept, (page, _) = self.crash(place, lambda name: False)
        again = place.reopened()
        with pytest.raises(NotFound):
            again.session.manifest(page)
        assert again.session.payload(kept) == b"kept\n"
        assert again.git("status", "--porcelain") == ""
        assert fsck(again.store).ok
        assert not (place.path / ".git/pcpfs/intent.json").exists()
        again.close()

    @pytest.mark.parametrize("raw", [b"", b"{gar", b"[]", b'["a",[],"user:anna",[5]]', b"\xff"])
    def test_an_intent_that_is_garbage_harms_nothing(self, place: Workplace, raw: bytes) -> None:
        page = place.write("apple\n").page_id
        place.close()
        (place.path / ".git/pcpfs/intent.json").write_bytes(raw)
        again = place.reopened()
        assert again.session.payload(page) == b"apple\n"
        assert again.write("pear\n").created
        again.close()

    def test_a_half_written_temporary_file_is_nothing(self, place: Workplace) -> None:
        page = place.write("apple\n").page_id
        for file in paths_of(place.path, "chg_*")[:1]:
            (file.parent / ".tmp-1234").write_bytes(b"{half")
            (file.parent / (file.name + ".tmp")).write_bytes(b"{half")
        place.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        assert again.session.payload(page) == b"apple\n"
        again.close()
