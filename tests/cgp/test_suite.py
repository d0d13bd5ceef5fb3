"""The conformance suite: green on our provider, and every mode is caught by exactly its check."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pcpfs_conformance import example_provider
from pcpfs_conformance.example_modes import MODES
from pcpfs_conformance.provider_peer import Limits
from pcpfs_conformance.provider_suite import CHECKS, inspect

from pcpfs.model.inspection import Inspection, Outcome
from pcpfs.model.requests import EventDraft
from pcpfs.store.events.ingest import Ingest
from tests.cgp.test_provider import NOTE, ROUTER
from tests.cgp.test_serve import SERVE
from tests.host.acting import is_gone
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA, Workplace

EXAMPLE = (sys.executable, example_provider.__file__)
HURRIED = Limits(handshake=8, query=8, other=8, exit=3)
NAMED = {
    *("handshake", "consent-scope", "frame-validity", "verify-honesty", "budget-honesty"),
    *("as-of-temporal", "kinds-filter", "anchor-relevance", "provenance-fixture-consistency"),
    *("shutdown-clean", "malformed-input-tolerance", "embedding-fingerprint", "correlation"),
}
"""The checks that the protocol itself names."""

AT_LEAST = """
lying-costs under-report-cost over-budget frame-flood bad-score empty-title empty-citation
bad-timestamp malformed-digest stale-digest wrong-version hang-on-handshake crash-on-query
crash-on-garbage drop-correlation-id wrong-correlation-id rubber-stamp-verify hollow-verify
ignore-kinds ignore-anchors future-frames scope-lie score-foreign-embedding dirty-shutdown
""".split()  # noqa: SIM905 - as the specification lists them

HANGS = {"hang-on-handshake", "hang-on-query", "ignore-shutdown"}
"""Modes that are only told by a deadline; a short one, so that the test is not."""


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


def inspected(
    home: Path, *command: str, query: str | None = None, limits: Limits = HURRIED
) -> Inspection:
    return inspect(command, environment(home), query, limits=limits)


def those(inspection: Inspection, outcome: Outcome) -> list[str]:
    return [check.id for check in inspection.checks if check.outcome is outcome]


def evidence(inspection: Inspection, check: str) -> str:
    return next(each.evidence for each in inspection.checks if each.id == check)


def test_all_checks_and_modes_that_the_specification_names_are_there() -> None:
    assert set(CHECKS) >= NAMED
    assert set(MODES) >= set(AT_LEAST)
    assert {mode.check for mode in MODES.values()} == set(CHECKS)


def test_a_provider_without_fault_passes_every_check(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, *EXAMPLE)
    assert those(inspection, Outcome.PASS) == list(CHECKS)


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_fails_exactly_its_check(mode: str, tmp_path: Path) -> None:
    limits = Limits(handshake=1.5, query=1.5, other=8, exit=1) if mode in HANGS else HURRIED
    inspection = inspected(tmp_path, *EXAMPLE, "--misbehave", mode, limits=limits)
    assert those(inspection, Outcome.FAIL) == [MODES[mode].check]


def test_our_provider_passes_every_check_with_frames_for_every_probe(
    app: SourceTree, place: Workplace, tmp_path: Path
) -> None:
    """All seven kinds, three anchors, and frames that have ended under a pin."""
    app.write("router.py", ROUTER + "\n# the router of zebras\n", at="2030-01-01T00:00:00Z")
    app.write("zebra.md", "# Zebras\n\nThe router of zebras.\n")
    app.add()
    app.edit("router.py", "longest", "shortest")
    app.sync()
    place.write(NOTE, title="Greedy router", cites=(str(app.symbol("match").frame_id),))
    place.write("A router has ports.\n", title="Ports", tags=("fact",))
    episode(place)
    place.close()
    command = (*SERVE, "-C", str(place.path))
    inspection = inspected(tmp_path, *command, query="router")
    assert those(inspection, Outcome.PASS) == list(CHECKS), inspection
    assert evidence(inspection, "kinds-filter").startswith("7 of 7 kinds with frames")
    assert evidence(inspection, "as-of-two-sided") != "0 ends"
    assert evidence(inspection, "anchor-relevance") == "3 anchors"


def episode(place: Workplace) -> None:
    """An event about routers."""
    Ingest(place.store, ANNA).take(
        "thread:talk", [EventDraft(b"We talked about the router.\n", media_type="text/plain")]
    )


def test_a_provider_without_frames_is_skipped_not_passed(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pcpfs_conformance.example_provider import Example\n"
        "class Empty(Example):\n"
        "    wanted = lambda self, entry, query: False\n"
        "Empty().run(sys.stdin.buffer, sys.stdout.buffer)\n"
    )
    inspection = inspected(tmp_path, sys.executable, "-c", program)
    assert inspection.ok
    skipped = set(those(inspection, Outcome.SKIP))
    assert skipped >= {"frame-validity", "verify-honesty", "budget-honesty", "as-of-temporal"}
    assert skipped >= {"kinds-filter", "anchor-relevance", "provenance-fixture-consistency"}


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("raise SystemExit(7)", "exit code 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "exit code -9"),
        ("import sys; sys.exit('the index is broken')", "the index is broken"),
        ("while True: print('x' * 99999)", "floods its output"),
        ("import sys\nwhile True: sys.stdout.write('y' * 99999)", "without a line end"),
        ("import sys\nwhile True: sys.stderr.write('noise\\n')", "no reply within"),
        ("import time; time.sleep(99)", "no reply within"),
        ("import os, time; os.close(1); time.sleep(99)", "closed its output"),
        ("print('[1, 2]'); import time; time.sleep(99)", "no reply within"),
        ('print(\'{"type": "handshake_ack"}\')', "cannot be read"),
        ('print(\'{"type": "frames", "result": {"frames": [], "truncated": false}}\')', "frames"),
        ("import os; os.fork(); os.fork(); import time; time.sleep(99)", "no reply within"),
    ],
)
def test_whatever_it_does_there_is_a_verdict(program: str, told: str, tmp_path: Path) -> None:
    limits = Limits(handshake=1, query=1, other=1, exit=1, line_bytes=1 << 20, stray_lines=50)
    inspection = inspected(tmp_path, sys.executable, "-u", "-c", program, limits=limits)
    assert those(inspection, Outcome.FAIL) == ["handshake"]
    assert told in evidence(inspection, "handshake")
    assert len(inspection.checks) == len(CHECKS)
    assert all(check.evidence.isprintable() for check in inspection.checks)


ODD = """
import json, sys
from pcpfs_conformance.example_provider import Example
class Odd(Example):
    {body}
Odd().run(sys.stdin.buffer, sys.stdout.buffer)
"""
FRAME = "def frame(self, *given): return super().frame(*given) | "


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        (FRAME + "{'provenance': [{'type': 'file', 'uri': 'file://[', 'digest': 'x'}]}", "frame"),
        (FRAME + "{'provenance': [{'type': 'file', 'range': 'L' + '9' * 5000}]}", "frame"),
        (FRAME + "{'valid_from': '0001-01-01T00:00:00Z', 'valid_to': '9999-12-31T23:59:59Z'}", ""),
        (FRAME + "{'x': json.loads('[' * 900 + ']' * 900)}", ""),
        (FRAME + "{'uri': 'file:///dev/zero', 'score': 1e308}", "frame"),
    ],
)
def test_whatever_a_frame_holds_there_is_a_verdict(body: str, failed: str, tmp_path: Path) -> None:
    inspection = inspected(tmp_path, sys.executable, "-c", ODD.format(body=body))
    assert len(inspection.checks) == len(CHECKS)
    found = those(inspection, Outcome.FAIL)
    assert failed == "" or any(name.startswith(failed) for name in found)


@pytest.mark.parametrize("dimensions", ["9" * 5000, "999999999", "0"])
def test_a_space_of_any_size_gives_a_verdict(dimensions: str, tmp_path: Path) -> None:
    body = (
        "def ack(self):\n        ack = super().ack()\n"
        f"        ack['capabilities']['embeddings_fingerprint'] = 'm/{dimensions}'\n"
        "        return ack"
    )
    inspection = inspected(tmp_path, sys.executable, "-c", ODD.format(body=body))
    assert len(inspection.checks) == len(CHECKS)
    assert set(those(inspection, Outcome.FAIL)) <= {"embedding-fingerprint"}


def test_a_budget_may_be_refused_by_name(tmp_path: Path) -> None:
    body = (
        "def query(self, query):\n"
        "        small = query['max_tokens'] < 20\n"
        "        no = {'type': 'error', 'code': 'budget_unsatisfiable', 'message': 'too small'}\n"
        "        return no if small else super().query(query)"
    )
    inspection = inspected(tmp_path, sys.executable, "-c", ODD.format(body=body))
    assert those(inspection, Outcome.FAIL) == []


def test_a_command_that_is_none_gives_a_verdict(tmp_path: Path) -> None:
    assert "cannot be started" in evidence(inspected(tmp_path, "/no/such"), "handshake")


def test_nothing_of_a_provider_is_left_running(tmp_path: Path) -> None:
    sleep = "import time; time.sleep(99)"
    program = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {sleep!r}])\n"
        f"open({os.fspath(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n{sleep}"
    )
    inspected(tmp_path, sys.executable, "-c", program, limits=Limits(handshake=2))
    assert is_gone(int((tmp_path / "pid").read_text()))


def example(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pcpfs_conformance.example_provider", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_the_example_lists_its_modes_with_their_checks() -> None:
    listed = json.loads(example("--list-modes", "--json").stdout)
    assert listed == {name: mode.check for name, mode in MODES.items()}
    assert "over-budget" in example("--list-modes").stdout
    assert example("--misbehave", "nicely").returncode == 2
    assert example().returncode == 0


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--misbehave", "scope-lie"), 1)])
def test_the_command_prints_json_and_fails_where_a_check_does(
    arguments: Sequence[str], code: int, tmp_path: Path
) -> None:
    run = "from pcpfs.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", run, "inspect", "provider", "--json", "--", *EXAMPLE, *arguments],
        capture_output=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    checks = json.loads(done.stdout)["checks"]
    assert (done.returncode, done.stderr) == (code, b"")
    assert [set(check) for check in checks] == [{"id", "outcome", "evidence"}] * len(CHECKS)
    failed = [check["id"] for check in checks if check["outcome"] == "fail"]
    assert failed == (["consent-scope"] if code else [])
