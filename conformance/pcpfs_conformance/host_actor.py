"""A provider that does what a script says, for judging hosts: `python host_actor.py SCRIPT.json`.

The script is JSON: `ack` (the greeting), `frames` (all there are), `keeps_to` (`max_tokens`,
`max_frames`: those parts of the budget that it keeps to), `on_handshake` and `on_query` (what it
does instead of answering: `hang`, `crash`, `flood`, `garbage`), `delay` (seconds before frames),
and `trace`, a path: `trace`.asked is made when a query comes, `trace`.served lists the ids that it
answers with. It imports next to nothing, so that starting it is cheap.
"""

import json
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]


def main(script: "Json") -> None:
    for line in sys.stdin:
        envelope = json.loads(line)
        if envelope["type"] == "shutdown":
            return
        if envelope["type"] == "handshake":
            misbehave(script.get("on_handshake", ""))
            say(script["ack"])
        if envelope["type"] == "query":
            note(script, "asked", "")
            misbehave(script.get("on_query", ""))
            say(answer(script, envelope))


def answer(script: "Json", envelope: "Json") -> "Json":
    frames = fitting(script, envelope["query"])
    note(script, "served", json.dumps([frame["id"] for frame in frames]))
    time.sleep(script.get("delay", 0))
    given = {"id": envelope["id"]} if "id" in envelope else {}
    truncated = len(frames) < len(script["frames"])
    return {"type": "frames", **given, "result": {"frames": frames, "truncated": truncated}}


def fitting(script: "Json", query: "Json") -> "list[Json]":
    """The frames that it serves within those parts of the budget that it keeps to."""
    keeps_to = script.get("keeps_to", ("max_tokens", "max_frames"))
    served: list[Json] = []
    spent = 0
    for frame in script["frames"]:
        cost = frame["token_cost"]
        if "max_tokens" in keeps_to and spent + cost > query["max_tokens"]:
            continue
        if "max_frames" in keeps_to and len(served) == query["max_frames"]:
            break
        served.append(frame)
        spent += cost
    return served


def misbehave(how: str) -> None:
    if how == "crash":
        sys.exit(3)
    if how == "hang":
        time.sleep(3600)
    while how == "flood":
        sys.stdout.write("x" * 65536)
    if how == "garbage":
        sys.stdout.write("this is no envelope\n[1, 2]\n{}\n")
        sys.stdout.flush()
        sys.exit(0)


def note(script: "Json", what: str, text: str) -> None:
    with open(f"{script['trace']}.{what}", "w", encoding="utf-8") as file:
        file.write(text)


def say(envelope: "Json") -> None:
    sys.stdout.write(json.dumps(envelope) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        main(json.load(file))
