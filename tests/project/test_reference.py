"""`docs/reference/commands.md` is what the commands say of themselves."""

from __future__ import annotations

from pathlib import Path

from pcpfs.cli.reference import main, reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def test_the_reference_is_as_the_code_says(tmp_path: Path) -> None:
    main([str(tmp_path / "commands.md")])
    anew = (tmp_path / "commands.md").read_text(encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == anew, (
        "stale; make it anew: python -m pcpfs.cli.reference docs/reference/commands.md"
    )


def test_it_has_every_command_and_every_option() -> None:
    page = reference()
    folder = Path(__file__).parents[2] / "pcpfs" / "cli" / "commands"
    for module in folder.rglob("[a-z]*.py"):
        name = " ".join(module.relative_to(folder).with_suffix("").parts)
        assert f"### pcpfs {name.rstrip('_').replace('_', '-')}\n" in page
    for option in ("--accept-removals", "--override-hold", "--as-of", "--json"):
        assert option in page
