"""`pcpfs.toml`: what a person may edit, and what makes no sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.errors import Corrupt, NotFound, Unavailable
from tests.store.workplace import Workplace


class TestConfig:
    def test_a_folder_without_a_store_is_not_found(self, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match="pcpfs init"):
            Workplace.at(tmp_path)

    @pytest.mark.parametrize(
        "change",
        [
            ("format = 0", "format = 99"),
            ("format = 0", ""),
            ("format = 0", 'format = "0"'),
            ("store_id", "shop_id"),
            ('owner = "user:anna"', 'owner = "anna"'),
            ('owner = "user:anna"', "owner = ["),
            ('"global"', '"everything"'),
        ],
        ids=repr,
    )
    def test_settings_that_make_no_sense_are_named(
        self, place: Workplace, change: tuple[str, str]
    ) -> None:
        place.close()
        file = place.path / "pcpfs.toml"
        file.write_text(file.read_text().replace(*change))
        with pytest.raises(Corrupt, match=r"pcpfs\.toml"):
            place.reopened()

    @pytest.mark.parametrize("engine", ["memory", "fts5"])
    def test_a_person_may_edit_the_settings(self, place: Workplace, engine: str) -> None:
        for number in range(3):
            place.write(f"apple {number}\n")
        place.session.flush_indexes()
        found = place.session.search("apple")
        place.close()
        file = place.path / "pcpfs.toml"
        file.write_text(file.read_text().replace('"whoosh"', f'"{engine}"') + "\n# mine\n")
        again = place.reopened()
        assert again.session.index_state().engine == engine
        assert again.session.search("apple") == found
        assert len(found.results) == 3
        again.close()

    def test_an_engine_that_is_not_installed_is_named(self, place: Workplace) -> None:
        place.write("apple\n")
        place.close()
        file = place.path / "pcpfs.toml"
        file.write_text(file.read_text().replace('"whoosh"', '"tantivy"'))
        again = place.reopened()
        with pytest.raises(Unavailable, match="tantivy"):
            again.session.search("apple")
        assert again.write("apple\n").created
        again.close()
