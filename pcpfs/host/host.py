"""The host: one question to many providers, one prompt from what they may be believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pcpfs.errors import NotPermitted, PcpfsError, Unavailable, UsageError
from pcpfs.host.accounts import Attribution, AuditRow, Usage, attributions, audit, cited_in, usage
from pcpfs.host.audit import Answer
from pcpfs.host.composition import Budget, Citation, Form, compose
from pcpfs.host.declarations import Declaration
from pcpfs.host.duplicates import merge
from pcpfs.host.evidence import TrustedRoots
from pcpfs.host.fanout import Desk, fan_out
from pcpfs.host.transport import Gate, Surroundings
from pcpfs.host.troubles import Kind, Report, one_line
from pcpfs.model.cgp import ContextQuery


class ConsentMissing(NotPermitted):
    """Nobody has agreed to what the only providers would do; `scopes` names it (C6)."""

    code = "consent_missing"


@dataclass(frozen=True, slots=True)
class Asked:
    """One provider that was asked: who it says it is, and what it had to offer."""

    provider: str
    name: str | None
    version: str | None
    share: int
    offered: int


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """Everything about one question. `audit` has a row for every frame that was offered."""

    form: Form
    prompt: str
    citations: tuple[Citation, ...]
    audit: tuple[AuditRow, ...]
    usage: Usage
    attribution: tuple[Attribution, ...]
    providers: tuple[Asked, ...]
    reports: tuple[Report, ...]

    def named(self, *kinds: Kind) -> tuple[str, ...]:
        """The providers that are reported for something of these kinds."""
        return tuple(dict.fromkeys(r.provider for r in self.reports if r.kind in kinds))

    def budget_liars(self) -> tuple[str, ...]:
        """Who said costs that are not so, or spent more than its share (B1, B3)."""
        return self.named(Kind.BUDGET_LIAR)

    def flooders(self) -> tuple[str, ...]:
        """Who sent more frames or bytes than anybody asked for (B4)."""
        return self.named(Kind.FLOODER)

    def liars(self) -> tuple[str, ...]:
        """Whose frames are not what they say: digests, files, times, kinds (D2, F1 to F5, Q1)."""
        return self.named(Kind.LIAR)

    def failures(self) -> tuple[str, ...]:
        """Who gave no answer: hung, crashed, spoke something else, refused."""
        return self.named(*_NO_ANSWER)

    def unconsented(self) -> tuple[str, ...]:
        """Who was not asked, since nobody has agreed to it, or not to that."""
        return self.named(Kind.CONSENT_MISSING, Kind.CHANGED, Kind.CONTRADICTORY)

    def attributed(self, reply: str) -> tuple[Attribution, ...]:
        """The attribution once a model has replied to the prompt (A1 to A3)."""
        labels = {citation.label: citation.identity for citation in self.citations}
        return cited_in(reply, labels, self.attribution)


_NO_ANSWER = (
    Kind.HUNG,
    Kind.CRASHED,
    Kind.GARBLED,
    Kind.FOREIGN_VERSION,
    Kind.REFUSED,
    Kind.UNREACHABLE,
    Kind.FAILED,
)


@dataclass(frozen=True, slots=True)
class Host:
    """Who may be asked, by what consent, and which files are looked at to check them."""

    declarations: Sequence[Declaration]
    gate: Gate
    around: Surroundings
    roots: TrustedRoots = field(default_factory=TrustedRoots)

    def ask(self, query: ContextQuery, form: Form = Form.VALUE_AWARE) -> HostAnswer:
        """Ask all of them. One that misbehaves is reported and costs nobody else."""
        names = [each.name for each in self.declarations]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise UsageError(f"two providers are called {', '.join(twice)}")
        answers = fan_out(self.declarations, query, Desk(self.gate, self.around, self.roots))
        return answer_of(answers, Budget(query.max_tokens, query.max_frames), form)


def answer_of(answers: Sequence[Answer], budget: Budget, form: Form) -> HostAnswer:
    """One prompt from the answers of all; a pure function, whatever order they are in."""
    answers = sorted(answers, key=lambda answer: answer.provider)
    merged = merge(each for answer in answers for each in answer.offered)
    composition = compose(merged.frames, budget, form)
    judged = [each for answer in answers for each in answer.excluded]
    rows = audit(composition.frames, [*judged, *merged.excluded, *composition.excluded])
    return HostAnswer(
        form,
        composition.prompt,
        composition.citations,
        rows,
        usage(answers, composition, budget),
        attributions(rows),
        tuple(map(_asked, answers)),
        tuple(report for answer in answers for report in answer.reports),
    )


def _asked(answer: Answer) -> Asked:
    info = answer.info
    name, version = (one_line(info.name), one_line(info.version)) if info else (None, None)
    offered = len(answer.offered) + len(answer.excluded)
    return Asked(answer.provider, name, version, answer.share, offered)


def require_an_answer(answer: HostAnswer) -> None:
    """Raise if not one provider answered: ConsentMissing where that is all that was in the way."""
    if any(each.name is not None for each in answer.providers):
        return
    told = "; ".join(map(str, answer.reports)) or "no provider is declared; see --provider"
    raise _refusal(answer)(f"no provider answered: {told}", **_fields(answer))


def _refusal(answer: HostAnswer) -> type[PcpfsError]:
    kinds = {report.kind for report in answer.reports}
    asked_for = {Kind.CONSENT_MISSING, Kind.CHANGED}
    return ConsentMissing if kinds and kinds <= asked_for else Unavailable


def _fields(answer: HostAnswer) -> dict[str, object]:
    scopes = sorted({scope for report in answer.reports for scope in report.scopes or ()})
    return {"reports": answer.reports, "scopes": scopes or None}
