"""A `pcpfs` that starts at once: a process has imported everything, and forks for each command.

Guides run some eighty commands, each of which would import for a fifth of a second. What a command
gets is its own: arguments, environment, folder and the three streams of its caller.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLIENT = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    told = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    socket.send_fds(line, [len(told).to_bytes(8, "big")], [0, 1, 2])
    line.sendall(told)
    sys.exit(line.recv(1)[0])
"""


@contextmanager
def ready(command: Path) -> Iterator[None]:
    """The executable file `command` is `pcpfs` as long as this lasts."""
    with socket.socket(socket.AF_UNIX) as door:
        address = str(command.with_suffix(".socket"))
        door.bind(address)
        door.listen()
        client = command.with_suffix(".py")
        client.write_text(CLIENT.format(address=address))
        command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{client}' \"$@\"\n")
        command.chmod(0o755)
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.project.ready", str(door.fileno())],
            pass_fds=[door.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        try:
            yield
        finally:
            server.terminate()
            server.wait()
            for file in (Path(address), client, command):
                file.unlink()


def serve(door: socket.socket) -> None:
    """Fork for every caller, until SIGTERM."""
    import pcpfs.cli.commands  # noqa: PLC0415 (what most commands import)
    import pcpfs.sources.service  # noqa: PLC0415
    import pcpfs.store.session  # noqa: F401, PLC0415

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        line, _ = door.accept()
        if os.fork() == 0:
            answer(line)
        line.close()


def answer(line: socket.socket) -> None:
    """Be the command of one caller; a child of ours tells its exit code."""
    length, streams, _, _ = socket.recv_fds(line, 8, 3)
    told = line.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
    arguments, environment, folder = json.loads(told)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        line.close()
        become(arguments, environment, folder, streams)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    line.sendall(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def become(
    arguments: list[str], environment: dict[str, str], folder: str, streams: list[int]
) -> None:
    from pcpfs.cli.main import run  # noqa: PLC0415 (imported already)

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["pcpfs", *arguments]
    run()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
