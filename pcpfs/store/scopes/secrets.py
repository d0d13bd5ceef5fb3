"""Keeping secrets out: what is to be written is looked through first, and refused with reason and
position. A person may keep one nevertheless; then the scope remembers it, salted, as accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pcpfs.errors import SecretFound
from pcpfs.model.changes import Noted
from pcpfs.model.names import Namespace
from pcpfs.model.pages import ActorType
from pcpfs.model.requests import MOST_RESULTS, Draft
from pcpfs.model.secrets import PASSWORD, SecretAccepted, is_placeholder, place_of, secrets_in
from pcpfs.model.texts import decoded
from pcpfs.ports import Entropy
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret, where it stands (`payload`, `title`, …; line and column from 1). Never shown is
    what it is."""

    kind: str
    where: str
    line: int
    column: int
    text: str

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "where": self.where, "line": self.line, "column": self.column}

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}"
        return f"a {self.kind} in the {self.where} ({place})"


class AllowList:
    """The secrets that were accepted in one scope."""

    def __init__(self, accepted: Iterable[SecretAccepted] = ()) -> None:
        self._accepted = tuple(accepted)

    @classmethod
    def of(cls, catalog: Catalog, namespace: Namespace) -> AllowList:
        rows = catalog.query(
            "SELECT kind, salt, digest FROM accepted WHERE scope = ? AND NOT is_over ORDER BY 2",
            (namespace,),
        )
        return cls(SecretAccepted(*row) for row in rows)

    def covers(self, finding: Finding) -> bool:
        return any(accepted.covers(finding.text) for accepted in self._accepted)

    def findings(
        self, texts: Iterable[tuple[str, str]], *, placeholders: bool = True
    ) -> tuple[Finding, ...]:
        """What stands in these texts (each with what it is called) and was not accepted. Passwords
        in URLs that only show where one would stand count unless `placeholders` is false."""
        return tuple(
            finding
            for where, text in texts
            for finding in _found(where, text, placeholders)
            if not self.covers(finding)
        )


def source_findings(raw: bytes, allowed: AllowList) -> tuple[Finding, ...]:
    """Secrets in a file of a source tree, where nobody is there to be asked: no placeholders."""
    return allowed.findings([("file", decoded(raw))], placeholders=False)


def texts_of(draft: Draft, path: str | None = None) -> Iterator[tuple[str, str]]:
    """All that a draft says in words, each with what it is called."""
    if draft.payload is not None:
        yield "payload", decoded(draft.payload)
    given = (
        ("title", draft.title),
        ("summary", draft.summary),
        ("media type", draft.media_type),
        ("path", path),
    )
    yield from ((where, text) for where, text in given if text is not None)
    lists = {
        "tags": draft.tags,
        "keywords": draft.keywords,
        "anchors": draft.anchors,
        "source refs": draft.source_refs,
        "relations": [part for relation in draft.relations for part in relation],
        "epistemic fields": (draft.epistemic or {}).values(),
        "reference": [draft.content_ref.uri] if draft.content_ref else [],
    }
    for where, texts in lists.items():
        yield from ((where, text) for text in texts or ())


def refuse_secrets(
    findings: Iterable[Finding], remedy: str = "take it out, or keep it with --allow-secret"
) -> None:
    """SecretFound if there is any; it tells of so many of them as an answer holds."""
    found = list(findings)
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise SecretFound(
            f"refused: there is {found[0]}{more}; {remedy}",
            findings=[finding.to_json() for finding in found[:MOST_RESULTS]],
        )


def refuse_secrets_in(where: str, text: str) -> None:
    """SecretFound for a text that nobody needs to hold one."""
    refuse_secrets(AllowList().findings([(where, text)]), "say it without")


def checked(
    store: Store,
    transaction: Transaction,
    namespace: Namespace,
    draft: Draft,
    path: str | None = None,
) -> list[Noted]:
    """Refuse a draft that holds a secret, unless it says to keep it: then the scope accepts it, and
    the note that comes back tells of it in the change."""
    found = AllowList.of(store.catalog, namespace).findings(texts_of(draft, path))
    if not draft.allow_secret:
        refuse_secrets(found)
    return allow(store, transaction, namespace, found)


def allow(
    store: Store, transaction: Transaction, namespace: Namespace, found: Sequence[Finding]
) -> list[Noted]:
    """Let these through from now on; what the change that needs it says of them. No model may."""
    if transaction.actor.actor_type is ActorType.MODEL:
        refuse_secrets(found, "take it out; only a person may keep it")
    if found:
        transaction.scope_change(namespace, *acceptance(found, store.entropy))
    return note_of(found)


def acceptance(findings: Iterable[Finding], entropy: Entropy) -> Iterator[SecretAccepted]:
    """The events of the scope that let these through from now on."""
    for text, kind in {finding.text: finding.kind for finding in findings}.items():
        yield SecretAccepted.of(kind, text, entropy.random(16).hex())


def note_of(findings: Iterable[Finding]) -> list[Noted]:
    """What the change says of it: kinds and positions."""
    told = [finding.to_json() for finding in findings]
    return [Noted({"allowed_secrets": told})] if told else []


def _found(where: str, text: str, placeholders: bool) -> Iterator[Finding]:
    for secret in secrets_in(text):
        content = text[secret.start : secret.end]
        if placeholders or secret.kind != PASSWORD or not is_placeholder(content):
            yield Finding(secret.kind, where, *place_of(text, secret), content)
