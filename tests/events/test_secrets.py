"""Secrets are found where they are, and nothing else is."""

from __future__ import annotations

import time

import pytest

from pcpfs.model.secrets import secrets_in, withheld

SECRETS = {
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----",
    "aws-key": "AKIA" + "ABCDEFGH12345678",
    "github-token": "ghp_" + "a1B2" * 9,
    "gitlab-token": "glpat-" + "a1B2" * 5,
    "slack-token": "xoxb-" + "1234567890-abc",
    "google-key": "AIza" + "a" * 35,
    "stripe-key": "sk_live_" + "a1B2" * 4,
    "model-key": "sk-ant-" + "a1B2" * 10,
    "package-token": "npm_" + "a1B2" * 9,
    "web-token": ".".join(["eyJ" + "a" * 12, "eyJ" + "b" * 12, "c" * 12]),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_replaced_wherever_it_stands(kind: str) -> None:
    secret = SECRETS[kind]
    for before, after in (("", ""), ("use ", " now"), ("(", ")"), ("数据 ", "\n"), ("令牌", "。é")):
        assert withheld(before + secret + after) == f"{before}[withheld: {kind}]{after}"
    assert withheld(f"{secret} {secret}") == f"[withheld: {kind}] [withheld: {kind}]"


def test_of_a_url_only_the_password_goes() -> None:
    text = "postgres://anna:pa55word@db.example/tides and https://example.org:8080/x@y"
    assert withheld(text) == (
        "postgres://anna:[withheld: password]@db.example/tides and https://example.org:8080/x@y"
    )


def test_a_private_key_that_is_cut_off_goes_to_its_end() -> None:
    assert withheld("x -----BEGIN PRIVATE KEY-----\nabc") == "x [withheld: private-key]"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the skill of sk-",
        "ghp_short",
        "AKIA and others",
        "rev_" + "a" * 64,
        "mailto:a@b.c",
        "a:b@c",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert secrets_in(text) == ()
    assert withheld(text) == text


@pytest.mark.parametrize(
    "part", ["-----BEGIN PRIVATE KEY-----", "eyJ", "a://b:", "sk-", "gh", "://:"]
)
def test_hostile_texts_are_looked_through_quickly(part: str) -> None:
    start = time.perf_counter()
    withheld(part * (200_000 // len(part)))
    assert time.perf_counter() - start < 5
