"""The suite for hosts: green on ours and on the example, and each mode is caught by its check."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pcpfs_conformance import example_host
from pcpfs_conformance.example_host import ExampleHost
from pcpfs_conformance.host_bench import Bench, Json, cast, frame
from pcpfs_conformance.host_modes import MODES
from pcpfs_conformance.host_peer import runner
from pcpfs_conformance.host_suite import CHECKS, inspect, inspect_runner
from pcpfs_conformance.provider_peer import NoReply
from pcpfs_conformance.verdicts import judge

from pcpfs.cli.call import document
from pcpfs.cli.commands.inspect.host import OURS
from pcpfs.errors import UsageError
from pcpfs.host.contract import judged
from pcpfs.model.inspection import Inspection, Outcome
from tests.host.acting import AROUND, is_gone

EXAMPLE = (sys.executable, example_host.__file__)
NAMED = {
    *("host-version-reject", "host-budget-drop", "host-frame-limit", "host-consent-gate"),
    *("host-scope-receipt", "host-provenance-bytes", "host-content-quoting"),
    *("host-composition-audit", "host-crash-isolation"),
    *("budget-bound", "total-partition", "quarantine", "determinism"),
}
"""The checks that the specification names."""
WANTED = ("joint-overflow", "silent-drop", "admit-quarantined", "arrival-order")
"""The mutants that the issue names; each is run through the whole suite."""


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


def those(inspection: Inspection, outcome: Outcome) -> list[str]:
    return [check.id for check in inspection.checks if check.outcome is outcome]


def test_all_checks_are_there_and_each_has_a_mode_that_it_catches() -> None:
    assert set(CHECKS) == NAMED | {"host-answer"}
    assert {mode.check for mode in MODES.values()} == set(CHECKS)
    assert set(WANTED) <= set(MODES)


def ours(question: Json) -> Json:
    """Our host, without the start of a process for each question."""
    answer: Json = json.loads(document(judged(json.dumps(question).encode(), AROUND)))
    return answer


def test_our_host_passes_every_check() -> None:
    inspection = inspect_runner(ours)
    assert those(inspection, Outcome.PASS) == list(CHECKS), inspection


def test_a_host_without_fault_passes_every_check() -> None:
    inspection = inspect_runner(lambda question: ExampleHost().run(question))
    assert those(inspection, Outcome.PASS) == list(CHECKS), inspection


@pytest.mark.parametrize("mode", WANTED)
def test_each_mutant_fails_exactly_its_check(mode: str) -> None:
    inspection = inspect_runner(lambda question: MODES[mode]().run(question))
    assert those(inspection, Outcome.FAIL) == [MODES[mode].check], inspection


@pytest.mark.parametrize("mode", sorted(set(MODES) - set(WANTED)))
def test_each_mode_fails_its_check(mode: str) -> None:
    check = MODES[mode].check
    found = judge(check, CHECKS[check], Bench(lambda question: MODES[mode]().run(question)))
    assert found.outcome is Outcome.FAIL, found


def test_a_host_that_admits_nothing_is_skipped_not_passed() -> None:
    inspection = inspect_runner(lambda question: {"admitted": [], "dropped": []})
    assert those(inspection, Outcome.FAIL) == ["host-answer"]
    assert those(inspection, Outcome.SKIP) == [name for name in CHECKS if name != "host-answer"]


def test_what_a_host_may_leave_aside_is_skipped() -> None:
    class Terse(ExampleHost):
        def run(self, question: Json) -> Json:
            answer = super().run({**question, "consents": []})
            return {name: answer[name] for name in ("admitted", "dropped")}

    for name in ("host-content-quoting", "host-scope-receipt"):
        found = judge(name, CHECKS[name], Bench(lambda question: Terse().run(question)))
        assert found.outcome is Outcome.SKIP, found
    audit = judge(
        "host-composition-audit",
        CHECKS["host-composition-audit"],
        Bench(lambda question: Terse().run(question)),
    )
    assert "no usage report" in audit.evidence


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("raise SystemExit(7)", "exit code 7"),
        ("import sys; sys.exit('the index is broken')", "the index is broken"),
        ("print('nothing')", "no JSON"),
        ("print('[1]')", "no JSON object"),
        ("print('{}')", "no list"),
        ('print(\'{"admitted": [5], "dropped": []}\')', "no list"),
        ("import os; os.kill(os.getpid(), 9)", "exit code -9"),
    ],
)
def test_whatever_a_host_does_there_is_a_verdict(program: str, told: str, tmp_path: Path) -> None:
    inspection = inspect((sys.executable, "-c", program), environment(tmp_path))
    (failed,) = [check for check in inspection.checks if check.outcome is Outcome.FAIL]
    assert failed.id == "host-answer"
    assert told in failed.evidence
    assert len(inspection.checks) == len(CHECKS)


@pytest.mark.parametrize(
    "items", [5, None, [5], [{}], [{"identity": 5, "cost": 1}], [{"identity": {}, "cost": 1}]]
)
def test_a_bill_that_cannot_be_read_is_a_verdict(items: object) -> None:
    class Scribbler(ExampleHost):
        def run(self, question: Json) -> Json:
            return {**super().run(question), "usage": {"items": items}}

    name = "host-composition-audit"
    found = judge(name, CHECKS[name], Bench(lambda question: Scribbler().run(question)))
    assert found.outcome is Outcome.FAIL
    assert "UR1" in found.evidence


def test_frames_that_nobody_offered_are_a_verdict() -> None:
    invented = {"provider_id": "a", "frame_id": "mine", "content_digest": ""}

    class Inventor(ExampleHost):
        def run(self, question: Json) -> Json:
            answer = super().run(question)
            return {**answer, "admitted": [*answer["admitted"], *[invented] * 8]}

    for name in ("budget-bound", "total-partition", "host-composition-audit"):
        found = judge(name, CHECKS[name], Bench(lambda question: Inventor().run(question)))
        assert found.outcome is Outcome.FAIL, found


def test_a_command_that_is_none_gives_a_verdict(tmp_path: Path) -> None:
    inspection = inspect(("/no/such",), environment(tmp_path))
    assert "cannot be started" in inspection.checks[0].evidence


def test_a_host_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    sleeping = runner((sys.executable, "-c", "import time; time.sleep(99)"), environment(tmp_path))
    bench = Bench(lambda question: sleeping({**question, "timeout_seconds": -29.5}))
    found = judge("host-answer", CHECKS["host-answer"], bench)
    assert "no answer within 0.5 s" in found.evidence


def test_the_contract_of_ours_says_why(tmp_path: Path) -> None:
    run = runner(OURS, environment(tmp_path))
    played = Bench(run).play(cast("a", frame("a-1")), cast("b", frame("b-1", token_cost=1)))
    assert played.reasons == {("b", "b-1"): "quarantined: B3: frame 'b-1' says 1 tokens and has 6"}
    assert [report["kind"] for report in played.answer["reports"]] == ["budget_liar"]


def test_a_host_that_writes_without_end_is_stopped_at_once(tmp_path: Path) -> None:
    """What it writes goes to no file: it once filled the disk."""
    flood = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    run = runner((sys.executable, "-c", flood), environment(tmp_path))
    with pytest.raises(NoReply, match="more than anybody can read"):
        run({"timeout_seconds": 30})


def test_errors_without_end_hide_no_answer(tmp_path: Path) -> None:
    talker = "import sys\nsys.stderr.write('x' * 9_000_000 + 'the last')\nsys.exit(3)"
    run = runner((sys.executable, "-c", talker), environment(tmp_path))
    with pytest.raises(NoReply, match=r"exit code 3: x{9,}the last"):
        run({"timeout_seconds": 30})


def test_a_child_that_outlives_its_host_is_not_waited_for(tmp_path: Path) -> None:
    sleep = "import time; time.sleep(99)"
    parent = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {sleep!r}])\n"
        "print('{\"pid\": %d}' % child.pid)"
    )
    answer = runner((sys.executable, "-c", parent), environment(tmp_path))({"timeout_seconds": 30})
    assert is_gone(int(answer["pid"]))


@pytest.mark.parametrize(
    "question",
    [
        *(b"", b"[]", b"{}", b"\xff", b'{"query": {"goal": "x"}}', b"[" * 9999),
        b'{"query": {"goal": "x", "max_tokens": 9, "max_frames": 9}, "providers": 5}',
        b'{"query": {"goal": "x", "max_tokens": 9, "max_frames": 9}, "providers": [5]}',
        b'{"query": {"goal": "x", "max_tokens": 9, "max_frames": 9}, "providers": [{"id": "a"}]}',
        b'{"query": {"goal": "x", "max_tokens": 9, "max_frames": 9}, "roots": [5]}',
        b'{"query": {"goal": "x", "max_tokens": 9, "max_frames": 9}, "consents": [{}]}',
        b'{"query": {"goal": "x", "max_tokens": 9, "max_frames": 9}, "timeout_seconds": -1}',
    ],
)
def test_a_question_that_is_none_is_refused(question: bytes) -> None:
    with pytest.raises(UsageError):
        judged(question, AROUND)


def example(*arguments: str, question: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pcpfs_conformance.example_host", *arguments],
        input=question,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_example_lists_its_modes_with_their_checks() -> None:
    listed = json.loads(example("--list-modes", "--json").stdout)
    assert listed == {name: mode.check for name, mode in MODES.items()}
    assert "silent-drop" in example("--list-modes").stdout
    assert example("--misbehave", "nicely").returncode == 2
    asked = {"query": {"max_tokens": 9, "max_frames": 9}, "providers": []}
    assert json.loads(example(question=json.dumps(asked)).stdout)["admitted"] == []


@pytest.mark.parametrize(
    ("arguments", "code"), [(("--misbehave", "admit-nothing"), 1), (("--nonsense",), 1)]
)
def test_the_command_prints_json_and_fails_where_a_check_does(
    arguments: Sequence[str], code: int, tmp_path: Path
) -> None:
    run = "from pcpfs.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", run, "inspect", "host", "--json", "--", *EXAMPLE, *arguments],
        capture_output=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    checks = json.loads(done.stdout)["checks"]
    assert done.returncode == code
    assert [check["id"] for check in checks] == list(CHECKS)
    assert checks[0]["outcome"] == "fail"
