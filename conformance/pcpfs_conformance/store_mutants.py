"""Stores that are wrong in one way each: for every rule one that only its check finds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import unquote

from pcpfs.errors import NotFound, NotPermitted
from pcpfs.model.answers import (
    LogEntry,
    Manifest,
    Pins,
    RelationView,
    SearchAnswer,
    Written,
)
from pcpfs.model.ids import PageId, RevisionId, derived
from pcpfs.model.pages import EPISTEMIC, Principal
from pcpfs.model.requests import Draft, EventDraft
from pcpfs_conformance.memory_pages import Page
from pcpfs_conformance.memory_store import Bundle, MemorySession
from pcpfs_conformance.stores import NOW, OWNER

SUGGESTED = (
    *("contains", "derived_from", "depends_on", "defines", "uses", "supports"),
    *("contradicts", "supersedes", "inspired_by", "related_to"),
)


class Mutant(MemorySession):
    """Right but for one rule."""

    breaks: ClassVar[str]


class TakesNothing(Mutant):
    breaks = "PCP-P1"

    def write(self, scope: str, draft: Draft, **given: Any) -> Written:
        if not (draft.source_refs or draft.content_ref) and draft.payload is None:
            draft = replace(draft, payload=b"")
        return super().write(scope, draft, **given)


class InventsBytes(Mutant):
    breaks = "PCP-P2"

    def payload(self, given: str, pins: Pins = NOW) -> bytes:
        if self.manifest(given, pins).content_ref is not None:
            return b""
        return super().payload(given, pins)


class NamesPagesByContent(Mutant):
    breaks = "PCP-P3"

    def write(self, scope: str, draft: Draft, **given: Any) -> Written:
        if draft.title and draft.payload and not given.get("key"):
            given["key"] = derived(draft.title, draft.payload.decode("latin-1"))[:8]
        return super().write(scope, draft, **given)


class ForgetsInputs(Mutant):
    breaks = "PCP-P4"

    def write(self, scope: str, draft: Draft, **given: Any) -> Written:
        return super().write(scope, replace(draft, derived_from=()), **given)


class ServesTheSummary(Mutant):
    breaks = "PCP-P5"

    def payload(self, given: str, pins: Pins = NOW) -> bytes:
        summary = self.facets(given, pins).summary
        return summary.encode() if summary else super().payload(given, pins)


class ChangesInPlace(Mutant):
    breaks = "PCP-R1"

    def revise(self, page: str, draft: Draft, **given: Any) -> Written:
        before = self._named(page, "read")[1]
        done = super().revise(page, draft, **given)
        own = self.kept.pages[done.page_id].payloads
        if before in own:
            own[before] = own[done.revision_id]
        return done


class ReadsTheFirst(Mutant):
    breaks = "PCP-R2"

    def payload(self, given: str, pins: Pins = NOW) -> bytes:
        page = self.kept.pages.get(PageId(given)) if given.startswith("pg_") else None
        if page is not None and pins == NOW and len(page.revisions) > 1:
            given = next(iter(page.revisions))
        return super().payload(given, pins)


class TheLastWriterWins(Mutant):
    breaks = "PCP-R3"

    def revise(self, page: str, draft: Draft, **given: Any) -> Written:
        if given.get("expect"):
            given = {"expect": self._named(page, "read")[0].all_heads}
        return super().revise(page, draft, **given)


class SignsForOthers(Mutant):
    breaks = "PCP-L1"

    def link(self, source: str, relation_type: str, target: str) -> RelationView:
        view = super().link(source, relation_type, target)
        page = self.kept.pages[view.from_page_id]
        page.relations[-1] = replace(view.relation, created_by=Principal("system:store"))
        return replace(view, relation=page.relations[-1])


class CollapsesTypes(Mutant):
    breaks = "PCP-L2"

    def link(self, source: str, relation_type: str, target: str) -> RelationView:
        known = relation_type if relation_type in SUGGESTED else "related_to"
        return super().link(source, known, target)


class FollowsRelations(Mutant):
    breaks = "PCP-L3"

    def _named(self, given: str, permission: str) -> tuple[Page, RevisionId]:
        try:
            return super()._named(given, permission)
        except NotFound:
            linked = {r.to_page for page in self._readable() for r in page.relations}
            for page in (self.kept.pages[one] for one in linked):
                if given in (page.page_id, *page.revisions):
                    return page, page.heads[0]
            raise


class TruthBeginsWithStoring(Mutant):
    breaks = "PCP-T1"

    def manifest(self, given: str, pins: Pins = NOW) -> Manifest:
        shown = super().manifest(given, pins)
        return replace(shown, valid_from=shown.created_at)


class PacksAway(Mutant):
    breaks = "PCP-T2"

    def payload(self, given: str, pins: Pins = NOW) -> bytes:
        if self.manifest(given, pins).lifecycle_status == "archived":
            raise NotFound("archived")
        return super().payload(given, pins)


class SuppressesForAll(Mutant):
    breaks = "PCP-T3"

    def suppress(self, task: str, pages: Sequence[str], why: str) -> object:
        for page in pages:
            self.archive(page, why)
        return None


class MergesWhatIsSimilar(Mutant):
    breaks = "PCP-T4"

    def write(self, scope: str, draft: Draft, **given: Any) -> Written:
        words = _words(draft.payload)
        for page in self._readable():
            known = _words(page.payloads.get(page.heads[0]))
            if words != known and len(words & known) >= 0.8 * len(words | known):
                return Written(page.page_id, page.heads[0], page.scope, None, created=False)
        return super().write(scope, draft, **given)


class Widens(Mutant):
    breaks = "PCP-S1"

    def search(self, query: str, **given: Any) -> SearchAnswer:
        answer = super().search(query, **given)
        if answer.results or not given.get("scopes"):
            return answer
        return super().search(query, **{**given, "scopes": ()})


class SaysWhatIsForbidden(Mutant):
    breaks = "PCP-S2"

    def _named(self, given: str, permission: str) -> tuple[Page, RevisionId]:
        try:
            return super()._named(given, permission)
        except NotFound:
            if any(given in (p.page_id, *p.revisions) for p in self.kept.pages.values()):
                raise NotPermitted(f"{given} is not for you") from None
            raise


class CallsEveryScopeItsOwn(Mutant):
    breaks = "PCP-S3"

    def search(self, query: str, **given: Any) -> SearchAnswer:
        answer = super().search(query, **given)
        first = answer.results[0].scope if answer.results else ""
        return replace(answer, results=tuple(replace(h, scope=first) for h in answer.results))


class GivesEverything(Mutant):
    breaks = "PCP-S4"

    def search(self, query: str, **given: Any) -> SearchAnswer:
        return super().search(query, **{**given, "limit": 200})


class ObeysContent(Mutant):
    breaks = "PCP-S5"

    def write(self, scope: str, draft: Draft, **given: Any) -> Written:
        told = re.search(rb"(?m)^instruction_policy: (\w+)$", draft.payload or b"")
        if told:
            draft = replace(draft, epistemic={"instruction_policy": told[1].decode()})
        return super().write(scope, draft, **given)


class HasOneTrust(Mutant):
    breaks = "PCP-S6"

    def manifest(self, given: str, pins: Pins = NOW) -> Manifest:
        shown = super().manifest(given, pins)
        value = next(iter(shown.epistemic.values()), None)
        same: Mapping[str, str] = {} if value is None else dict.fromkeys(EPISTEMIC, value)
        return replace(shown, epistemic=same)


class HidesThePast(Mutant):
    breaks = "PCP-U1"

    def log(self, given: str, pins: Pins = NOW) -> Sequence[LogEntry]:
        entries = super().log(given, pins)
        return entries[:1]


class RewritesRefs(Mutant):
    breaks = "PCP-A1"

    def write(self, scope: str, draft: Draft, **given: Any) -> Written:
        refs = tuple(map(unquote, draft.source_refs))
        return super().write(scope, replace(draft, source_refs=refs), **given)


class BundlesWithoutSources(Mutant):
    breaks = "PCP-B1"

    def bundle(self, *given: Any, **others: Any) -> Bundle:
        made = super().bundle(*given, **others)
        return Bundle(tuple(replace(f, source_refs=()) for f in made.fragments))


class AnswersAnyMode(Mutant):
    breaks = "DescribeCapabilities"

    def search(self, query: str, **given: Any) -> SearchAnswer:
        known = given.get("mode", "auto") in self.capabilities()["search_modes"]
        return super().search(query, **(given if known else {**given, "mode": "text"}))


class ForgetsKeys(Mutant):
    breaks = "WritePage"

    def write(self, scope: str, draft: Draft, **given: Any) -> Written:
        key = given.get("key")
        if key is not None and not key.startswith("e:"):
            given["key"] = f"{key} {id(self)}"
        return super().write(scope, draft, **given)


class TakesEventsTwice(Mutant):
    breaks = "IngestEvent"

    def ingest(self, scope: str, drafts: Sequence[EventDraft]) -> Sequence[Written]:
        return super().ingest(scope, [replace(draft, key=None) for draft in drafts])


class ErasesForAnybody(Mutant):
    breaks = "DeletePage"

    def delete(self, page: str, why: str) -> None:
        MemorySession(self.kept, OWNER).delete(page, why)


MUTANTS: tuple[type[Mutant], ...] = tuple(Mutant.__subclasses__())


def _words(raw: bytes | None) -> set[bytes]:
    return set((raw or b"").split())
