"""`pcpfs serve` as a process, started as hosts do: with PATH and HOME only."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pcpfs.errors import Unavailable
from pcpfs.model import cgp
from pcpfs.provider.provider import Provider
from pcpfs.provider.server import serve
from pcpfs.store.session import Session
from pcpfs.store.store import INDEX_LOCK, Store
from tests.cgp import reference
from tests.cgp.hosting import Host
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA, Workplace

HELLO = b'{"type":"handshake","protocol_version":"contextgraph/1.0-draft"}\n'
SERVE = (sys.executable, "-c", "from pcpfs.cli.main import run; run()", "serve")


def served(store: Path, tmp_path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A provider in a process of its own."""
    return subprocess.Popen(
        [*SERVE, "-C", str(store), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )


def query(goal: str, **members: Any) -> bytes:
    inner = {"goal": goal, "max_frames": 8, "max_tokens": 4096} | members
    return json.dumps({"type": "query", "id": "q", "query": inner}).encode() + b"\n"


def test_a_whole_conversation(place: Workplace, tmp_path: Path) -> None:
    place.write("A zebra.\n")
    place.close()
    lines = HELLO + query("zebra") + b"no json\n" + b'{"type":"shutdown"}\n' + query("never")
    with served(place.path, tmp_path) as process:
        out, err = process.communicate(lines, timeout=60)
    replies = [json.loads(line) for line in out.splitlines()]
    assert [reply["type"] for reply in replies] == ["handshake_ack", "frames", "error"]
    assert replies[1]["result"]["frames"][0]["content"] == "A zebra.\n"
    assert (process.returncode, err) == (0, b"")


def test_the_end_of_the_input_ends_it(place: Workplace, tmp_path: Path) -> None:
    with served(place.path, tmp_path) as process:
        out, err = process.communicate(HELLO, timeout=60)
    assert (process.returncode, err, out.count(b"\n")) == (0, b"", 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_exit_code_0(
    place: Workplace, tmp_path: Path, number: signal.Signals
) -> None:
    with served(place.path, tmp_path) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(HELLO)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(number)
        assert process.wait(30) == 0


def test_no_store_is_said_at_once(tmp_path: Path) -> None:
    with served(tmp_path / "nowhere", tmp_path) as process:
        out, err = process.communicate(HELLO, timeout=60)
    assert (process.returncode, out) == (3, b"")
    assert b"no store" in err


def test_the_store_is_opened_after_the_handshake(place: Workplace, tmp_path: Path) -> None:
    """A catalog that has to be built anew does not hold up the handshake."""
    place.close()
    shutil.rmtree(place.path / ".pcpfs")
    with served(place.path, tmp_path) as process:
        process.communicate(HELLO, timeout=60)
    assert not (place.path / ".pcpfs").exists()


def test_a_store_that_was_moved_away_is_not_made_anew(place: Workplace, host: Host) -> None:
    place.write("A zebra.\n")
    elsewhere = place.path.with_name("elsewhere")
    place.path.rename(elsewhere)
    (reply,) = host.lines(query("zebra"))
    assert (reply["type"], reply["code"]) == ("error", "unavailable")
    assert not place.path.exists()
    elsewhere.rename(place.path)
    (reply,) = host.lines(query("zebra"))
    assert len(reply["result"]["frames"]) == 1


def test_a_lost_index_is_built_beside_and_said_meanwhile(place: Workplace) -> None:
    for number in range(4):
        place.write(f"Zebra {number}.\n")
    place.session.search("zebra")
    place.close()
    shutil.rmtree(place.path / ".pcpfs" / "index")
    with Store.open(place.path) as store:
        provider = Provider(lambda: Session(store, ANNA), most_backlog=3)
        asked = cgp.ContextQuery(goal="zebra", max_frames=8, max_tokens=4096)
        with pytest.raises(Unavailable, match="4 documents are being indexed"):
            provider.query(asked)
        for _ in range(200):
            time.sleep(0.1)
            try:
                found = provider.query(asked)
            except Unavailable:
                continue
            break
        assert len(found.frames) == 4
        fresh = Provider(lambda: Session(store, ANNA), most_backlog=3)
        assert len(fresh.query(asked).frames) == 4


def test_an_index_that_somebody_writes_just_now_is_not_lost(place: Workplace) -> None:
    """It has no seal until it is written."""
    for number in range(4):
        place.write(f"Zebra {number}.\n")
    place.session.search("zebra")
    place.close()
    for seal in (place.path / ".pcpfs" / "index").rglob("seal.json"):
        seal.unlink()
    with Store.open(place.path) as store:
        session = Session(store, ANNA)
        with store.disk.lock(store.local_folder / INDEX_LOCK, 0):
            assert session.index_backlog(["project:a"]) == 0
        assert session.index_backlog(["project:a"]) == 4


def test_a_few_documents_are_indexed_while_the_question_waits(place: Workplace) -> None:
    for number in range(4):
        place.write(f"Zebra {number}.\n")
    provider = Provider(lambda: place.session, most_backlog=4)
    asked = cgp.ContextQuery(goal="zebra", max_frames=8, max_tokens=4096)
    assert len(provider.query(asked).frames) == 4


@reference.needs_data
def test_what_is_written_keeps_the_schema(app: SourceTree, place: Workplace, host: Host) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (needed with the data only)

    app.write("zebra.py", "def zebra():\n    '''Striped.'''\n    return 'striped'\n")
    app.add()
    place.write("A zebra.\n", tags=("fact",))
    compact = {"representation_preferences": ["compact"], "anchors": ["zebra.py"]}
    replies = host.lines(
        HELLO,
        query("zebra"),
        query("zebra", **compact),
        query("zebra", as_of="2040-01-02T00:00:00Z"),
        b'{"type":"verify","id":"v","request":{"frames":[{"provider_id":"p","frame_id":"f"}]}}\n',
        b"garbage\n",
    )
    validator = Draft202012Validator(reference.schema())
    assert len(replies) == 6
    for reply in replies:
        validator.validate(reply)


def test_an_id_is_echoed_and_none_is_made_up(host: Host) -> None:
    """H4."""
    replies = host.lines(
        query("x"),
        query("x").replace(b'"id": "q", ', b""),
        b'{"type":"query","id":"bad","query":{}}\n',
        b'{"type":"verify","id":"v","request":{"frames":[]}}\n',
        b'{"type":"no_such_thing","id":"n"}\n',
    )
    assert [reply.get("id") for reply in replies] == ["q", None, "bad", "v", "n"]


def test_only_requests_are_answered(host: Host) -> None:
    """A notification, a reply and a blank line want nothing."""
    silent = (
        b"\n",
        b" \r\n",
        b'{"type":"notification/progress"}\n',
        b'{"type":"frames","result":5}\n',
        b'{"type":"error","message":"yours"}\n',
        b'{"type":"verified","response":{"verdicts":[]}}\n',
    )
    assert host.lines(*silent) == []


def test_a_foreign_version_is_a_named_error(host: Host) -> None:
    """H1, H3; another minor of our family is fine."""
    foreign, later = (
        host.say(cgp.Handshake(protocol_version=version))
        for version in ("contextgraph/2.0", "contextgraph/1.7")
    )
    assert isinstance(foreign, cgp.Error)
    assert foreign.code == "incompatible_version"
    assert isinstance(later, cgp.HandshakeAck)


def test_a_line_that_never_ends_is_one_bad_request(host: Host) -> None:
    replies = host.lines(b'{"x":"' + b"y" * (40 << 20) + b'"}\n', query("x"))
    assert [reply["type"] for reply in replies] == ["error", "frames"]


@pytest.mark.parametrize(
    ("trouble", "code"),
    [(Unavailable("the disk is away"), "unavailable"), (ValueError("a mistake"), "internal")],
)
def test_trouble_is_an_error_and_not_the_end(trouble: Exception, code: str) -> None:
    """R1, X1."""

    def no_session() -> Session:
        raise trouble

    answers = io.BytesIO()
    serve(Provider(no_session), io.BytesIO(query("x") + query("x") + HELLO), answers)
    first, second, ack = map(json.loads, answers.getvalue().splitlines())
    assert first == second
    assert (first["type"], first["id"], first["code"]) == ("error", "q", code)
    assert ack["type"] == "handshake_ack"
