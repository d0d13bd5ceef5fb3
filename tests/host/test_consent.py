"""C1 to C6: nothing leaves before somebody said so, and nothing runs that only a file asks for."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from pcpfs.errors import NotPermitted
from pcpfs.host.consent import ConsentGate, Consents, grants, revocations, scopes_of
from pcpfs.host.declarations import Declaration, Origin, Program, configured, typed
from pcpfs.host.host import ConsentMissing, require_an_answer
from pcpfs.host.receipts import Receipts, shown
from pcpfs.host.transport import Transport
from pcpfs.host.troubles import ProviderTrouble
from pcpfs.model import cgp
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from tests.host.acting import ACK, AROUND, Actor, ack, ask, frame, included, inside, reports
from tests.store.workplace import ANNA, Workplace

NOW = Instant.read("2030-01-01")
LATER = Instant.read("2031-01-01")


def gate(*receipts: object, now: Instant = NOW) -> ConsentGate:
    return ConsentGate(Consents.of(receipts), now)  # type: ignore[arg-type]


def agreed(declaration: Declaration, greeting: cgp.HandshakeAck, *scopes: str, **how: object):  # type: ignore[no-untyped-def]
    wanted = scopes or scopes_of(declaration, greeting.provider.data_flow)
    given = {"by": ANNA, "now": NOW, "until": None, **how}
    return grants(declaration, greeting.provider, wanted, **given)


def outside(*scopes: str) -> Actor:
    """A provider that takes data elsewhere."""
    return Actor([frame("theirs")], ack(*scopes, egress=True))


def test_one_without_egress_is_asked_at_once() -> None:
    assert included(ask(inside("here", frame("mine")), gate=gate())) == ["mine"]


@pytest.mark.parametrize("scopes", [(), ("org-tenant",), ("local-only",), ("acme:vectors",)])
def test_one_with_egress_hears_nothing_before_consent(scopes: tuple[str, ...]) -> None:
    """C1, C3: not a word of the question."""
    actor = outside(*scopes)
    answer = ask(actor.called("there"), inside("here", frame("mine")), gate=gate())
    assert reports(answer) == {"there": ("consent_missing", "C6")}
    assert answer.unconsented() == ("there",)
    assert [type(each) for each in actor.heard] == [cgp.Handshake]
    assert included(answer) == ["mine"]


def test_after_consent_it_is_asked() -> None:
    actor = outside("org-tenant")
    there = actor.called("there")
    answer = ask(there, gate=gate(*agreed(there, ack("org-tenant", egress=True))))
    assert included(answer) == ["theirs"]


def test_every_scope_needs_a_receipt_of_its_own() -> None:
    """C6: the error names what is missing."""
    actor = outside("org-tenant", "third-party-model", "local-only")
    there = actor.called("there")
    some = agreed(there, ACK, "org-tenant")
    (report,) = ask(there, gate=gate(*some)).reports
    assert report.scopes == ("third-party-model",)
    assert actor.queries == []
    both = (*some, *agreed(there, ACK, "third-party-model"))
    assert included(ask(there, gate=gate(*both))) == ["theirs"]


def test_a_contradiction_is_rejected_at_the_handshake_whatever_was_agreed() -> None:
    """C5."""
    actor = Actor([frame("theirs")], ack("third-party-model", egress=False))
    there = actor.called("there")
    answer = ask(there, gate=gate(*agreed(there, ACK, "third-party-model", "egress")))
    assert reports(answer) == {"there": ("contradictory", "C5")}
    assert actor.queries == []


@pytest.mark.parametrize("changed", [{"version": "1.1"}, {"name": "somebody"}])
def test_a_consent_is_for_one_name_and_version(changed: dict[str, str]) -> None:
    """C2."""
    actor = Actor([frame("theirs")], ack("org-tenant", egress=True, **changed))
    there = actor.called("there")
    answer = ask(there, gate=gate(*agreed(there, ack("org-tenant", egress=True))))
    assert reports(answer) == {"there": ("changed", "C2")}
    assert actor.queries == []


def test_a_consent_ends_when_it_says_and_when_it_is_revoked() -> None:
    there = outside("org-tenant").called("there")
    greeting = ack("org-tenant", egress=True)
    short = agreed(there, greeting, until=LATER)
    assert reports(ask(there, gate=gate(*short, now=NOW))) == {}
    assert "there" in reports(ask(there, gate=gate(*short, now=LATER)))
    back = revocations(short, ANNA, NOW)
    assert "there" in reports(ask(there, gate=gate(*short, *back)))
    assert reports(ask(there, gate=gate(*short, *back, *short))) == {}


def test_a_sentence_says_what_leaves_and_where_to() -> None:
    (receipt,) = agreed(outside().called("there"), ack("third-party-model", egress=True))
    assert "The goal, words, anchors and instants of questions" in receipt.sentence
    assert "third-party-model" in receipt.sentence
    assert "there (actor 1.0)" in receipt.sentence
    assert receipt.grantor == "human"


@pytest.mark.parametrize("who", ["model:local", "agent:reviewer", "tool:importer"])
def test_no_model_can_agree_to_anything(who: str) -> None:
    with pytest.raises(NotPermitted):
        agreed(outside().called("there"), ACK, "egress", by=Principal(who))


def test_a_rule_of_the_house_is_told_from_a_person() -> None:
    (receipt,) = agreed(outside().called("x"), ACK, "egress", by=Principal("system:policy"))
    assert receipt.grantor == "policy"


def marking(path: Path) -> str:
    """A command that leaves a mark when it is started."""
    return shlex.join([sys.executable, "-c", f"open({str(path)!r}, 'w')"])


def test_what_a_file_declares_is_not_even_started(tmp_path: Path) -> None:
    """A clone brings its `pcpfs.toml` along."""
    (declared,) = configured({"helper": marking(tmp_path / "ran")})
    answer = ask(declared, gate=gate())
    assert reports(answer) == {"helper": ("consent_missing", "C3")}
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ConsentMissing, match="consent grant helper"):
        require_an_answer(answer)


def test_a_consent_to_one_command_starts_no_other(tmp_path: Path) -> None:
    (first,) = configured({"helper": "true"})
    (second,) = configured({"helper": marking(tmp_path / "ran")})
    ask(second, gate=gate(*agreed(first, ACK, "run")))
    assert not (tmp_path / "ran").exists()
    ask(second, gate=gate(*agreed(second, ACK, "run")))
    assert (tmp_path / "ran").exists()


def test_what_a_file_declares_works_in_the_home_folder(tmp_path: Path) -> None:
    """`python -m` runs what lies in the working folder: never that of the store."""
    source = f"import os; open({str(tmp_path / 'where')!r}, 'w').write(os.getcwd())"
    declared = Declaration("helper", Program((sys.executable, "-c", source)), Origin.CONFIG)
    around = replace(AROUND, home=str(tmp_path))
    may = gate(*agreed(declared, ACK, "run"))
    with Transport(declared, may, around) as transport, pytest.raises(ProviderTrouble):
        transport.greet()
    assert (tmp_path / "where").read_text() == str(tmp_path)


def test_another_machine_is_not_contacted_before_consent() -> None:
    """C4, whatever it would say of itself."""
    declared = typed("docs=https://docs.example/cgp")
    (report,) = ask(declared, gate=gate()).reports
    assert (str(report.kind), report.rule) == ("consent_missing", "C4")
    assert scopes_of(declared, ACK.provider.data_flow) == ("egress",)


def receipts(place: Workplace) -> Receipts:
    return Receipts(place.store)


THERE = outside("org-tenant").called("there")
GREETING = ack("org-tenant", egress=True)


def is_agreed(place: Workplace) -> bool:
    consents = receipts(place).in_force()
    return consents.held(THERE, "org-tenant", NOW) is not None


def test_receipts_are_kept_and_only_ever_added(place: Workplace) -> None:
    assert receipts(place).all() == ()
    granted = agreed(THERE, GREETING)
    receipts(place).append(granted)
    folder = place.store.local_folder / "consents"
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert is_agreed(place)
    receipts(place).append(revocations(granted, ANNA, LATER))
    after = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert before.items() < after.items()
    assert not is_agreed(place)
    states = [each.state for each in shown(receipts(place).all(), NOW)]
    assert states == ["revoked", "taken back"]


def test_receipts_outlive_the_process_and_are_in_no_commit(place: Workplace) -> None:
    receipts(place).append(agreed(THERE, GREETING))
    again = place.reopened()
    assert is_agreed(again)
    assert again.store.git.common_dir in (again.store.local_folder / "consents").parents
    again.close()


def test_a_copied_folder_agrees_to_nothing(place: Workplace, tmp_path: Path) -> None:
    """The copy has `.git` and all receipts; it is another place."""
    receipts(place).append(agreed(THERE, GREETING))
    place.close()
    shutil.copytree(place.path, tmp_path / "copy")
    copy = Workplace.at(tmp_path / "copy")
    assert not is_agreed(copy)
    assert [each.void for each in receipts(copy).all()] == ["it was written in another place"]
    receipts(copy).append(agreed(THERE, GREETING))
    assert is_agreed(copy)
    copy.close()


def test_a_receipt_that_others_wrote_counts_for_nothing(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even with the right store, clone and path in it: the secret of this user is missing."""
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "somebody else"))
        receipts(place).append(agreed(THERE, GREETING))
        assert is_agreed(place)
    assert not is_agreed(place)
    (kept,) = receipts(place).all()
    assert kept.void == "it was not written by you on this machine"


def test_a_receipt_that_was_edited_counts_for_nothing(place: Workplace) -> None:
    receipts(place).append(agreed(THERE, GREETING, until=LATER))
    (file,) = (place.store.local_folder / "consents").iterdir()
    text = file.read_text()
    file.write_text(text.replace("2031-01-01", "2931-01-01"))
    assert not is_agreed(place)
    file.write_text("garbage")
    assert not is_agreed(place)
    (kept,) = receipts(place).all()
    assert kept.void is not None
    assert "cannot be read" in kept.void


def test_where_a_receipt_is_missing_what_was_granted_before_is_gone(place: Workplace) -> None:
    """A revocation may have gone with it."""
    granted = agreed(THERE, GREETING)
    receipts(place).append(granted)
    receipts(place).append(revocations(granted, ANNA, NOW))
    other = outside("org-tenant").called("other")
    receipts(place).append(agreed(other, GREETING))
    files = sorted((place.store.local_folder / "consents").iterdir())
    files[1].unlink()
    assert not is_agreed(place)
    assert receipts(place).in_force().held(other, "org-tenant", NOW) is not None


def test_receipts_written_at_the_same_time_are_one_after_the_other(place: Workplace) -> None:
    def grant(number: int) -> None:
        other = Workplace.at(place.path)
        for turn in range(4):
            scope = f"vendor:{number}-{turn}"
            Receipts(other.store).append(agreed(THERE, GREETING, scope))
        other.close()

    writers = [threading.Thread(target=grant, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    kept = receipts(place).all()
    assert [each.void for each in kept] == [None] * 12
    assert len(receipts(place).in_force().granted) == 12


def test_junk_beside_the_receipts_is_passed_over(place: Workplace) -> None:
    receipts(place).append(agreed(THERE, GREETING))
    folder = place.store.local_folder / "consents"
    (folder / "notes.txt").write_text("mine")
    (folder / "99999999-0123456789abcdef.json").write_text(json.dumps({"action": "grant"}))
    assert is_agreed(place)
