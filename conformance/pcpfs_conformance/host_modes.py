"""Ways in which a host goes wrong, one each: `check` names the only check that fails for it.

A mode is a subclass here; its name on the command line is that of the class: `joint-overflow`.
"""

from __future__ import annotations

from pcpfs_conformance.example_host import ExampleHost, cost, order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    Json = dict[str, Any]


class Mode(ExampleHost):
    """A host that breaks one rule."""

    check: ClassVar[str]


class AdmitNothing(Mode):
    check = "host-answer"

    def fitting(self, frames: list[Json]) -> list[Json]:
        return self.drop(frames, "not today")


class AnyVersion(Mode):
    check = "host-version-reject"

    def speaks(self, version: str) -> bool:
        return True


class KeepWhatFits(Mode):
    """It takes as much of an overspender as the budget holds."""

    check = "host-budget-drop"

    def too_much(self, frames: list[Json], share: Json) -> list[Json]:
        kept: list[Json] = []
        for frame in frames:
            spent = sum(each["token_cost"] for each in kept) + frame["token_cost"]
            if spent <= share["max_tokens"]:
                kept.append(frame)
        self.drop([frame for frame in frames if frame not in kept], "over budget")
        return kept


class CutTheFlood(Mode):
    check = "host-frame-limit"

    def too_many(self, frames: list[Json], share: Json) -> list[Json]:
        self.drop(frames[share["max_frames"] :], "too many")
        return frames[: share["max_frames"]]


class AutoEnable(Mode):
    """Egress is fine where no scope is named."""

    check = "host-consent-gate"

    def may_ask(self, name: str, ack: Json) -> bool:
        flow = ack["provider"]["data_flow"]
        return super().may_ask(name, ack) or (flow["egress"] and not flow.get("egress_scopes"))


class TakeContradictions(Mode):
    check = "host-consent-gate"

    def may_ask(self, name: str, ack: Json) -> bool:
        return not ack["provider"]["data_flow"]["egress"] or super().may_ask(name, ack)


class OneConsentForAll(Mode):
    check = "host-scope-receipt"

    def all_agreed(self, name: str, scopes: list[str]) -> bool:
        return any((name, scope) in self.consents for scope in scopes)


class BelieveDigests(Mode):
    check = "host-provenance-bytes"

    def is_so(self, frame: Json) -> bool:
        return True


class RawContent(Mode):
    check = "host-content-quoting"

    def fenced(self, content: str) -> str:
        return content


class RawAttributes(Mode):
    check = "host-content-quoting"

    def quoted(self, text: str) -> str:
        return text.replace("<", "&lt;")


class AdmitTwins(Mode):
    check = "host-composition-audit"

    def merged(self, frames: list[Json]) -> list[Json]:
        return frames


class WorseTwin(Mode):
    check = "host-composition-audit"

    def merged(self, frames: list[Json]) -> list[Json]:
        turned = [{**frame, "score": -frame["score"]} for frame in frames]
        return super().merged(turned)


class NoReasons(Mode):
    check = "host-composition-audit"

    def drop(self, frames: list[Json], reason: str) -> list[Json]:
        return super().drop(frames, "")


class FalseBill(Mode):
    check = "host-composition-audit"

    def total(self, bill: list[Json]) -> int:
        return super().total(bill) + 1


class FallTogether(Mode):
    """One that gives no answer takes all others with it."""

    check = "host-crash-isolation"

    def asked(self) -> list[list[Json]]:
        self.is_down = False
        answers = super().asked()
        return [] if self.is_down else answers

    def failed(self) -> list[Json]:
        self.is_down = True
        return []


class JointOverflow(Mode):
    """Each gets the whole budget, and all of it is admitted."""

    check = "budget-bound"

    def share(self) -> Json:
        return {**self.query}

    def fitting(self, frames: list[Json]) -> list[Json]:
        return frames


class SilentDrop(Mode):
    check = "total-partition"

    def twins(self, frames: list[Json]) -> None:
        """Nobody needs to know."""


class SayTwice(Mode):
    """What is admitted is said to be dropped as well."""

    check = "total-partition"

    def twins(self, frames: list[Json]) -> None:
        super().twins(frames)
        super().twins(frames)


class ForgetDigests(Mode):
    check = "total-partition"

    def drop(self, frames: list[Json], reason: str) -> list[Json]:
        return super().drop([{**frame, "content_digest": ""} for frame in frames], reason)


class AdmitQuarantined(Mode):
    """Only the frames that lie are dropped, not all of the liar's."""

    check = "quarantine"

    def lied(self, frames: list[Json]) -> list[Json]:
        lies = [frame for frame in frames if frame["token_cost"] != cost(frame["content"])]
        self.drop(lies, "a lie")
        return [frame for frame in frames if frame not in lies]


class ArrivalOrder(Mode):
    check = "determinism"

    def ordered(self, answers: list[list[Json]]) -> list[list[Json]]:
        return [sorted(frames, key=order) for frames in answers]


def _modes() -> dict[str, type[Mode]]:
    found = [c for c in globals().values() if isinstance(c, type) and issubclass(c, Mode)]
    return {_dashed(mode.__name__): mode for mode in found if mode is not Mode}


def _dashed(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")


MODES = _modes()
