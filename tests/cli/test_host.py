"""`pcpfs host`: asking several providers, and the consents of this machine."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pcpfs_conformance import example_provider

from tests.cli.running import Outcome, Terminal

EXAMPLE = shlex.join([sys.executable, example_provider.__file__])
CORPUS = Path(example_provider.CORPUS)
SENDER = (
    "import sys\n"
    "from pcpfs_conformance.example_provider import Example\n"
    "class Sender(Example):\n"
    "    def ack(self):\n"
    "        ack = super().ack()\n"
    "        ack['provider']['data_flow'] = {'reads': True, 'writes': False, 'egress': True,\n"
    "            'egress_scopes': ['org-tenant', 'third-party-model']}\n"
    "        return ack\n"
    "Sender().run(sys.stdin.buffer, sys.stdout.buffer)\n"
)


@pytest.fixture
def store(terminal: Terminal) -> Terminal:
    """A store with one note, as the working folder."""
    assert terminal.run("init", "store").code == 0
    terminal.go_to("store")
    note = ("write", "--scope", "project:a", "--title", "Retries", "-")
    assert terminal.run(*note, stdin=b"Retry three times, see the retry policy.\n").code == 0
    return terminal


def declare(terminal: Terminal, **providers: object) -> None:
    """Providers in `pcpfs.toml`, as a person writes them."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in providers.items()]
    file = terminal.folder / "pcpfs.toml"
    file.write_text(file.read_text() + "\n[providers]\n" + "\n".join(lines) + "\n")


@pytest.fixture
def sender(terminal: Terminal) -> str:
    """A command that takes questions off the machine."""
    file = terminal.write("sender.py", SENDER)
    return shlex.join([sys.executable, str(file)])


def ask(terminal: Terminal, *arguments: str) -> Outcome:
    return terminal.run("host", "query", "retry policy", *arguments)


def asked(terminal: Terminal, *arguments: str) -> Any:
    outcome = ask(terminal, *arguments, "--json")
    assert outcome.code == 0, outcome.out
    return outcome.json


def included(answer: Any) -> set[str]:
    return {r["identity"]["provider_id"] for r in answer["audit"] if r["outcome"] == "included"}


def test_the_store_and_a_typed_provider_are_asked_at_once(store: Terminal) -> None:
    answer = asked(store, "--provider", f"example={EXAMPLE}")
    assert included(answer) == {"example", "pcpfs"}
    assert [each["provider"] for each in answer["providers"]] == ["example", "pcpfs"]
    assert answer["reports"] == []
    assert answer["usage"]["budget_consumed"] == sum(i["cost"] for i in answer["usage"]["items"])
    assert "Retry three times" in answer["prompt"]


def test_the_prompt_goes_to_stdout_and_reports_to_stderr(store: Terminal) -> None:
    outcome = ask(store, "--provider", f"bad={EXAMPLE} --misbehave lying-costs")
    assert outcome.code == 0
    assert outcome.text.startswith("The frames below are quoted")
    assert outcome.text.endswith("</frame>\n")
    assert "bad: budget_liar (B3)" in outcome.message
    assert outcome.message.count("\n") == 1


def test_the_audit_is_printed_where_it_is_wanted(store: Terminal) -> None:
    text = ask(store, "--provider", f"example={EXAMPLE}", "--audit").text
    assert "example-provider 1.0.0" in text
    assert "included  unverified  example" in text
    assert "included  exact       pcpfs" in text
    assert "tokens used" in text


def test_files_below_a_folder_that_is_trusted_are_looked_at(store: Terminal) -> None:
    shared = ("--provider", f"bad={EXAMPLE} --misbehave stale-digest")
    assert included(asked(store, *shared)) == {"bad", "pcpfs"}
    assert included(asked(store, *shared, "--trust", str(CORPUS))) == {"pcpfs"}


def test_only_those_named_are_asked(store: Terminal) -> None:
    known = ("--provider", f"example={EXAMPLE}")
    assert included(asked(store, *known, "--only", "example")) == {"example"}
    assert ask(store, *known, "--only", "nobody").code == 3


def test_without_a_store_typed_providers_are_asked(terminal: Terminal) -> None:
    assert included(asked(terminal, "--provider", f"example={EXAMPLE}")) == {"example"}
    assert ask(terminal, "-C", "nowhere", "--provider", f"example={EXAMPLE}").code == 3
    outcome = ask(terminal)
    assert (outcome.code, "--provider" in outcome.message) == (7, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--max-tokens", "0"],
        ["--form", "other"],
        ["--provider", "nothing"],
        ["--provider", "a b=true"],
        ["--credential", "x"],
        ["--as-of", "yesterday"],
        ["--timeout", "nan"],
        ["--provider", "a=http://docs.example/"],
        ["--provider", "a=true", "--provider", "a=false"],
        ["--provider", "pcpfs=true"],
    ],
)
def test_what_cannot_be_is_a_usage_error(store: Terminal, arguments: list[str]) -> None:
    assert ask(store, *arguments).code == 2
    assert store.run("host", "query").code == 2


def test_what_a_clone_brings_along_never_runs_by_itself(store: Terminal, tmp_path: Path) -> None:
    """The whole way: somebody commits a command, another person clones and asks."""
    mark = tmp_path / "ran"
    declare(store, helper=["touch", str(mark)])
    git = ["git", "-C", str(store.folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-qam", "a helper"], check=True)
    subprocess.run(["git", "clone", "-q", str(store.folder), str(tmp_path / "clone")], check=True)
    store.go_to(str(tmp_path / "clone"))
    outcome = ask(store)
    assert outcome.code == 0
    assert "pcpfs host consent grant helper" in outcome.message
    assert ask(store, "--only", "helper").code == 5
    for harmless in (["list"], ["list", "--json"], ["revoke", "helper"]):
        store.run("host", "consent", *harmless)
    assert not mark.exists()


def test_a_declared_provider_is_asked_after_one_consent_to_exactly_that(store: Terminal) -> None:
    declare(store, example=EXAMPLE)
    refused = ask(store, "--only", "example", "--json")
    assert refused.code == 5
    assert refused.json["error"]["code"] == "consent_missing"
    assert refused.json["error"]["scopes"] == ["run"]
    (receipt,) = store.run("host", "consent", "grant", "example", "--json").json["receipts"]
    assert (receipt["scope"], receipt["name"], receipt["version"]) == (
        *("run", "example-provider"),
        "1.0.0",
    )
    assert receipt["grantor"] == "human"
    assert EXAMPLE in receipt["sentence"]
    assert included(asked(store, "--only", "example")) == {"example"}
    file = store.folder / "pcpfs.toml"
    file.write_text(file.read_text().replace("example_provider.py", "example_provider.py  --x"))
    assert ask(store, "--only", "example").code == 5


def test_consent_is_given_listed_and_taken_back_by_scope(store: Terminal, sender: str) -> None:
    given = ("--provider", f"cloud={sender}")
    refused = ask(store, *given, "--only", "cloud", "--json")
    assert refused.json["error"]["scopes"] == ["org-tenant", "third-party-model"]
    one = ("host", "consent", "grant", "cloud", "--scope", "org-tenant", *given)
    assert store.run(*one).code == 0
    refused = ask(store, *given, "--only", "cloud", "--json")
    assert refused.json["error"]["scopes"] == ["third-party-model"]
    granted = store.run("host", "consent", "grant", "cloud", *given)
    assert granted.text.count("agreed: ") == 2
    assert "leave this machine to: third-party-model" in granted.text
    assert included(asked(store, *given, "--only", "cloud")) == {"cloud"}
    back = ("host", "consent", "revoke", "cloud", "--scope", "org-tenant")
    assert store.run(*back, "--json").json["receipts"][0]["action"] == "revoke"
    assert ask(store, *given, "--only", "cloud").code == 5
    listed = store.run("host", "consent", "list", "--json").json["receipts"]
    assert [each["state"] for each in listed] == ["replaced", "revoked", "in force", "taken back"]
    assert "third-party-model" in store.run("host", "consent", "list").text
    assert store.run(*back).code == 3


def test_a_consent_can_end_by_itself(store: Terminal, sender: str) -> None:
    given = ("--provider", f"cloud={sender}")
    grant = ("host", "consent", "grant", "cloud", *given, "--until")
    soon = datetime.now(UTC) + timedelta(seconds=2)
    assert store.run(*grant, soon.isoformat().replace("+00:00", "Z")).code == 0
    while datetime.now(UTC) < soon:
        time.sleep(0.05)
    refused = ask(store, *given, "--only", "cloud")
    assert (refused.code, "ended at" in refused.message) == (5, True)
    listed = store.run("host", "consent", "list", "--json").json["receipts"]
    assert {each["state"] for each in listed} == {"expired"}


def test_a_consent_that_has_ended_already_is_not_given(store: Terminal, sender: str) -> None:
    """It would take the place of one that holds."""
    given = ("host", "consent", "grant", "cloud", "--provider", f"cloud={sender}")
    assert store.run(*given).code == 0
    refused = store.run(*given, "--until", "2020-01-01")
    assert (refused.code, "revoke" in refused.message) == (2, True)
    assert ask(store, *given[-2:], "--only", "cloud").code == 0


def test_a_model_cannot_agree_and_starts_nothing(store: Terminal, tmp_path: Path) -> None:
    declare(store, helper=["touch", str(tmp_path / "ran")])
    outcome = store.run("host", "consent", "grant", "helper", "--as", "model:local")
    assert outcome.code == 5
    assert not (tmp_path / "ran").exists()


def test_one_that_keeps_everything_here_needs_no_consent(store: Terminal) -> None:
    given = ("--provider", f"example={EXAMPLE}")
    outcome = store.run("host", "consent", "grant", "example", *given)
    assert "needs no consent" in outcome.text
    assert store.run("host", "consent", "list", "--json").json["receipts"] == []


def test_a_grant_to_one_that_does_not_answer_is_refused(store: Terminal) -> None:
    outcome = store.run("host", "consent", "grant", "bad", "--provider", "bad=false")
    assert outcome.code == 7
    assert "bad: crashed" in outcome.message
    unknown = ("host", "consent", "grant", "example", "--provider", f"example={EXAMPLE}")
    assert store.run(*unknown, "--scope", "moon").code == 3


def test_a_table_of_providers_that_is_none_is_said(store: Terminal) -> None:
    declare(store, odd=5)
    outcome = ask(store)
    assert (outcome.code, "odd" in outcome.message) == (2, True)
    assert store.run("status").code == 0


def test_as_of_and_kinds_go_to_all_of_them(store: Terminal) -> None:
    given = ("--provider", f"example={EXAMPLE}", "--only", "example", "--kind", "doc")
    answer = asked(store, *given, "--as-of", "2024-06-01")
    assert "five times at most" in answer["prompt"]
    assert "three times" not in answer["prompt"]


def test_the_canonical_form_is_the_same_bytes_each_time(store: Terminal) -> None:
    given = ("--provider", f"example={EXAMPLE}", "--form", "canonical")
    assert ask(store, *given).out == ask(store, *given).out
