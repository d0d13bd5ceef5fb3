"""The import contracts of pyproject.toml hold, and the layers name every part of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter over the sources in a folder laid out like the checkout."""
    roots = (folder, *(folder / name for name in ("adapters", "index", "conformance")))
    code = "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--no-logo"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, roots))},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_import_contracts_hold() -> None:
    answer = lint_imports(CHECKOUT)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert re.search(r"Contracts: \d+ kept, 0 broken", answer.stdout)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("pcpfs/model/instants.py", "from pcpfs import disk"),
        ("pcpfs/ports.py", "if TYPE_CHECKING:\n    from pcpfs import store"),
        ("pcpfs/store/__init__.py", "def late():\n    import pcpfs_adapters"),
        ("index/pcpfs_index/__init__.py", "import pcpfs_adapters"),
        ("pcpfs/search/__init__.py", "import tree_sitter"),
        ("adapters/pcpfs_adapters/__init__.py", "import whoosh.index"),
        ("pcpfs/view/__init__.py", "import mcp"),
    ],
)
def test_a_breach_of_each_contract_is_found(module: str, line: str, tmp_path: Path) -> None:
    for name in ("pcpfs", "adapters", "index", "conformance"):
        shutil.copytree(CHECKOUT / name, tmp_path / name)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    answer = lint_imports(tmp_path)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert re.search(r" [1-9] broken", answer.stdout)


def test_every_module_of_the_package_has_a_layer() -> None:
    config = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["id"] == "layers")
    named = {name for layer in layers for name in re.findall(r"\w+", layer)}
    here = {
        path.stem
        for path in (CHECKOUT / "pcpfs").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert here - {"__init__"} - named == set()
