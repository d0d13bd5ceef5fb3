"""Where receipts lie: `.git/pcpfs/consents`, one immutable file each, never shared by git.

A folder may be copied with its `.git`: each receipt is sealed with the secret of this machine's
user and names the clone, so one that came from elsewhere counts for nothing. Each also names the
one before it; where a file was taken away, what was granted before the gap no longer holds, since
a revocation may have gone with it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError
from pcpfs.host.consent import REVOKE, Consents, Receipt
from pcpfs.machine import user_secret
from pcpfs.model.codec import canonical, decode
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.store.store import Store

FOLDER = "consents"
_LOCK = "consents-lock"
_FILE = re.compile(r"[0-9]{8}-[0-9a-f]{16}\.json")
_PURPOSE = b"pcpfs consent receipt\n"


@dataclass(frozen=True, slots=True)
class Kept:
    """A receipt as it lies there. One that does not count says why in `void`."""

    file: str
    receipt: Receipt | None
    void: str | None = None


class Receipts:
    """The receipts of one store on this machine."""

    def __init__(self, store: Store) -> None:
        self._disk: Disk = store.disk
        self._folder = store.local_folder / FOLDER
        self._lock = store.local_folder / _LOCK
        self._wait = store.wait
        self._clone = str(store.local.clone)
        self._store_id = str(store.store_id)
        self._entropy = store.entropy

    def all(self) -> tuple[Kept, ...]:
        """Every receipt, in the order in which they were written."""
        files = self._files()
        if not files:
            return ()
        kept: list[Kept] = []
        previous = ""
        secret = user_secret(self._disk, self._entropy)
        for file in files:
            raw = self._disk.read(file)
            found = self._judged(file.name, raw, secret)
            if found.void is None and _link(raw) != previous:
                kept = [_void(each, "a receipt after it is missing") for each in kept]
            kept.append(found)
            previous = Digest.of(raw).hex
        return tuple(kept)

    def in_force(self) -> Consents:
        return Consents.of(k.receipt for k in self.all() if k.receipt and k.void is None)

    def append(self, receipts: Iterable[Receipt]) -> None:
        """Write these after all others; durable when this returns."""
        with self._disk.lock(self._lock, self._wait):
            secret = user_secret(self._disk, self._entropy)
            files = self._files()
            previous = Digest.of(self._disk.read(files[-1])).hex if files else ""
            number = int(files[-1].name.split("-")[0]) if files else 0
            for receipt in receipts:
                number += 1
                raw = self._sealed(receipt, previous, secret)
                previous = Digest.of(raw).hex
                self._disk.write_once(self._folder / f"{number:08d}-{previous[:16]}.json", raw)

    def _files(self) -> list[Path]:
        try:
            names = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            return []
        return [self._folder / name for name in names if _FILE.fullmatch(name)]

    def _sealed(self, receipt: Receipt, previous: str, secret: bytes) -> bytes:
        members = {
            **_members(receipt),
            "store": self._store_id,
            "clone": self._clone,
            "previous": previous,
        }
        return canonical({**members, "seal": _seal(members, secret)})

    def _judged(self, name: str, raw: bytes, secret: bytes) -> Kept:
        """Whether a file is a receipt of ours, for this store in this place."""
        try:
            members = decode(raw, name)
            seal = str(members.pop("seal", ""))
            receipt = _receipt(members)
            is_ours = hmac.compare_digest(seal, _seal(members, secret))
        except (PcpfsError, KeyError, TypeError, ValueError) as error:
            return Kept(name, None, f"it cannot be read: {error}")
        if not is_ours:
            return Kept(name, receipt, "it was not written by you on this machine")
        if (members["store"], members["clone"]) != (self._store_id, self._clone):
            return Kept(name, receipt, "it was written in another place")
        return Kept(name, receipt)


@dataclass(frozen=True, slots=True)
class Shown:
    """A receipt with what it is worth now: `in force`, `revoked`, `replaced`, `expired`, `taken
    back` for a revocation, or `void:` and why."""

    file: str
    state: str
    action: str
    provider: str
    scope: str
    sentence: str
    name: str
    version: str
    pin: Digest
    grantor: str
    granted_by: Principal
    granted_at: Instant
    expires_at: Instant | None


def shown(kept: Iterable[Kept], now: Instant) -> tuple[Shown, ...]:
    """The receipts that can be read, oldest first."""
    listed = [each for each in kept if each.receipt is not None]
    return tuple(_shown(each, listed[at + 1 :], now) for at, each in enumerate(listed))


def _shown(kept: Kept, later: Iterable[Kept], now: Instant) -> Shown:
    receipt = kept.receipt
    assert receipt is not None, "those that cannot be read are not shown"
    return Shown(kept.file, _state(kept, receipt, later, now), **_values(receipt))


def _state(kept: Kept, receipt: Receipt, later: Iterable[Kept], now: Instant) -> str:
    if kept.void is not None:
        return f"void: {kept.void}"
    if receipt.action == REVOKE:
        return "taken back"
    for each in later:
        if each.void is None and each.receipt and each.receipt.key == receipt.key:
            return "revoked" if each.receipt.action == REVOKE else "replaced"
    return "expired" if receipt.has_expired(now) else "in force"


def _void(kept: Kept, why: str) -> Kept:
    return Kept(kept.file, kept.receipt, kept.void or why)


def _link(raw: bytes) -> str:
    return str(decode(raw, "a receipt")["previous"])


def _seal(members: Mapping[str, object], secret: bytes) -> str:
    return hmac.new(secret, _PURPOSE + canonical(members), hashlib.sha256).hexdigest()


def _values(receipt: Receipt) -> dict[str, Any]:
    return {field.name: getattr(receipt, field.name) for field in fields(receipt)}


def _members(receipt: Receipt) -> dict[str, object]:
    values = _values(receipt)
    return {name: None if value is None else str(value) for name, value in values.items()}


def _receipt(members: Mapping[str, object]) -> Receipt:
    """A receipt from its members; KeyError, TypeError or a PcpfsError for anything else."""
    given = {name: members[name] for name in members if isinstance(members[name], str)}
    until = given.get("expires_at")
    return Receipt(
        action=str(given["action"]),
        provider=str(given["provider"]),
        scope=str(given["scope"]),
        sentence=str(given["sentence"]),
        name=str(given["name"]),
        version=str(given["version"]),
        pin=Digest(str(given["pin"])),
        grantor=str(given["grantor"]),
        granted_by=Principal(str(given["granted_by"])),
        granted_at=Instant.parse(str(given["granted_at"])),
        expires_at=None if until is None else Instant.parse(str(until)),
    )
