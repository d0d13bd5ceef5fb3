"""The wheel, built from the checkout and used from another folder, without the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    """Run it without what the surroundings would leak in; its output, or what it complained of."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    answer = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=CHECKOUT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a new environment, which has this wheel and sees our dependencies.

    A `.pth` names the folder of the dependencies; `.pth` files in there are not read, so that the
    checkout itself cannot be found through it.
    """
    folder = tmp_path_factory.mktemp("a new environment")
    venv.create(folder, with_pip=False, symlinks=os.name == "posix")
    found = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    outer = sysconfig.get_paths()["purelib"]
    Path(found["purelib"], "dependencies.pth").write_text(outer, encoding="utf-8")
    interpreter = Path(found["scripts"], "python")
    pip = (sys.executable, "-m", "pip", "--python", interpreter, "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", "--disable-pip-version-check", wheel, cwd=folder)
    return Path(found["scripts"])


def test_the_wheel_installs_only_names_of_pcpfs(wheel: Path) -> None:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    info = {name for name in names if name.endswith(".dist-info")}
    assert len(info) == 1
    assert names - info == {"pcpfs", "pcpfs_adapters", "pcpfs_index", "pcpfs_conformance"}


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    """Templates, queries and the typing marker as well as modules."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    roots = (CHECKOUT, CHECKOUT / "adapters", CHECKOUT / "index", CHECKOUT / "conformance")
    files = {
        path.relative_to(root).as_posix()
        for root in roots
        for path in root.glob("pcpfs*/**/*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - packed == set()


def test_the_wheel_holds_the_sample_byte_for_byte(wheel: Path) -> None:
    sample = CHECKOUT / "sample_repo"
    files = {
        f"pcpfs/_sample_repo/{path.relative_to(sample).as_posix()}": path.read_bytes()
        for path in sample.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {
            name: archive.read(name)
            for name in archive.namelist()
            if name.startswith("pcpfs/_sample_repo/")
        }
    assert packed == files


def test_the_installed_command_runs_from_another_folder(scripts: Path, tmp_path: Path) -> None:
    answer = run(scripts / "pcpfs", "--version", cwd=tmp_path)
    version = run(scripts / "python", "-c", "import pcpfs; print(pcpfs.__version__)", cwd=tmp_path)
    assert version.strip() in answer


def test_the_installed_packages_are_not_those_of_the_checkout(
    scripts: Path, tmp_path: Path
) -> None:
    code = (
        "import json, pcpfs, pcpfs_adapters, pcpfs_conformance, pcpfs_index;"
        "print(json.dumps([m.__file__ for m in"
        " (pcpfs, pcpfs_adapters, pcpfs_conformance, pcpfs_index)]))"
    )
    files = json.loads(run(scripts / "python", "-c", code, cwd=tmp_path))
    assert [file for file in files if not Path(file).is_relative_to(scripts.parent)] == []


def test_the_installed_parts_are_found_by_entry_point(scripts: Path, tmp_path: Path) -> None:
    code = (
        "from importlib.metadata import entry_points;"
        "(adapters,) = entry_points(group='pcpfs.adapters');"
        "engines = [e.name for e in entry_points(group='pcpfs.indexes') if e.load()];"
        "registry = adapters.load()();"
        "print(registry.for_source('a.py', b'').name, *sorted(engines))"
    )
    answer = run(scripts / "python", "-c", code, cwd=tmp_path)
    assert answer.split() == ["python", "fts5", "memory", "whoosh"]


def test_the_installed_command_does_the_main_job(scripts: Path, tmp_path: Path) -> None:
    pcpfs = scripts / "pcpfs"
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "tide.py").write_text("def next_high_water():\n    return 12\n")
    run(pcpfs, "init", "store", cwd=tmp_path)
    run(pcpfs, "-C", "store", "add", "code", "--scope", "project:tides", cwd=tmp_path)
    answer = json.loads(
        run(pcpfs, "-C", "store", "--json", "symbol", "next_high_water", cwd=tmp_path)
    )
    assert [hit["qualified_name"] for hit in answer["results"]] == ["next_high_water"]
