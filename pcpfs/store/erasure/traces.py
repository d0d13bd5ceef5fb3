"""What a page leaves in a store: its files, its names, and pieces of what it said.

Written down before anything is removed, so that an erasure that was cut short goes on from there,
and so that the proof knows what to search for.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pcpfs.git.doomed import Instead
from pcpfs.model.ids import Digest, PageId
from pcpfs.model.names import Namespace

_TRAILER = re.compile(rb"^Pcpfs-Page: (pg_[0-9a-z]{26})[ \t]*$", re.MULTILINE)
_OPERATION = re.compile(rb"^Pcpfs-Operation: [^\n]*$", re.MULTILINE)
_GONE = b"[erased]"
_SHORTEST = 4
_PLACES = (b'"title":"%b"', b'"path":"%b"', b"write: %b\n", b"revise: %b\n")

PIECE, TITLE = "a piece of the content", "a title or a name"
DIGEST, REVISION = "a digest", "the id of a revision"
_CUT_TITLE = 20


@dataclass(frozen=True)
class Traces:
    """All of some pages that must go.

    `payloads` are the digests that no other page of their scope holds, `others` those that one
    does: they stay. `files` are paths in the store, `readable` those in `tree/`. `titles` (and
    names of files), `revisions` and `blobs` are what a message may say; `named` are ids (in hex)
    that a page which stays names, and keeps naming. `pieces` are lines and words of the contents
    that nothing else in the store holds.
    """

    pages: Mapping[PageId, Namespace]
    payloads: Mapping[Namespace, tuple[Digest, ...]] = field(default_factory=dict)
    others: tuple[Digest, ...] = ()
    files: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    pieces: tuple[bytes, ...] = ()
    segments: Mapping[str, Instead] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "pages": dict(self.pages),
            "payloads": {scope: list(found) for scope, found in self.payloads.items()},
            "others": list(self.others),
            "files": list(self.files),
            "readable": list(self.readable),
            "blobs": list(self.blobs),
            "revisions": list(self.revisions),
            "titles": list(self.titles),
            "pieces": [base64.b64encode(piece).decode() for piece in self.pieces],
            "segments": {
                path: [instead.path, base64.b64encode(instead.content).decode()]
                for path, instead in self.segments.items()
            },
            "roots": list(self.roots),
            "named": list(self.named),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Traces:
        return cls(
            {PageId(page): Namespace(scope) for page, scope in value["pages"].items()},
            {
                Namespace(scope): tuple(map(Digest, found))
                for scope, found in value["payloads"].items()
            },
            tuple(map(Digest, value["others"])),
            tuple(value["files"]),
            tuple(value["readable"]),
            tuple(value["blobs"]),
            tuple(value["revisions"]),
            tuple(value["titles"]),
            tuple(base64.b64decode(piece) for piece in value["pieces"]),
            {
                path: Instead(new, base64.b64decode(content))
                for path, (new, content) in value["segments"].items()
            },
            tuple(value["roots"]),
            tuple(value["named"]),
        )

    @cached_property
    def digests(self) -> frozenset[Digest]:
        """The payloads that go from every scope."""
        return frozenset(d for found in self.payloads.values() for d in found) - {*self.others}

    @cached_property
    def needles(self) -> Mapping[bytes, str]:
        """What the proof searches for, each with what it is."""
        found: dict[bytes, str] = {}
        for piece in self.pieces:
            found.update(dict.fromkeys(_written(piece), PIECE))
        for title in self.titles:
            found.update(dict.fromkeys(_titled(title), TITLE))
        for digest in {d.hex for d in self.digests}.difference(self.named):
            found[digest.encode()] = DIGEST
            found[bytes.fromhex(digest)] = DIGEST
        for blob in self.blobs:
            found[blob.encode()] = "the id of a blob"
            found[bytes.fromhex(blob)] = "the id of a blob"
        for revision in {r[4:] for r in self.revisions}.difference(self.named):
            found[revision.encode()] = REVISION
        return found

    @cached_property
    def too_short(self) -> tuple[str, ...]:
        """Titles that occur everywhere: they are searched for only where titles are kept."""
        return tuple(t for t in self.titles if len(t.encode("utf-8", "replace")) < _SHORTEST)

    def names_it(self, content: bytes) -> bool:
        """Whether bytes hold anything of it."""
        return any(needle in content for needle in self.needles)

    def scrub(self, message: bytes) -> bytes:
        """A message without what names it; one of a commit about such a page says nothing else."""
        of = _TRAILER.search(message)
        if of is not None and of[1].decode() in self.pages:
            kept = _OPERATION.search(message)
            return _GONE + (b"\n\n" + kept[0] if kept else b"") + b"\n"
        for pattern in self._patterns:
            message = pattern.sub(_GONE, message)
        return message

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[bytes], ...]:
        texts = (n for n in self.needles if _is_text(n) and n not in _GONE)
        needles = sorted(texts, key=len, reverse=True)
        found = [re.compile(re.escape(needle)) for needle in needles]
        for title in self.titles:
            if len(title) > _CUT_TITLE:
                start = re.escape(title[:_CUT_TITLE].encode("utf-8", "surrogateescape"))
                found.append(re.compile(start + rb"[^\n]*?" + "…".encode()))
        return tuple(found)

    def without_needles(self, known: Iterable[bytes]) -> Traces:
        """Without pieces and names that other pages hold as well, and ids that they name."""
        others = set(known)
        ids = {*(d.hex for d in self.digests), *(r[4:] for r in self.revisions)}
        return replace(
            self,
            pieces=tuple(p for p in self.pieces if others.isdisjoint(_written(p))),
            named=tuple(sorted(name for name in ids if name.encode() in others)),
            titles=tuple(t for t in self.titles if others.isdisjoint(_titled(t))),
        )


def _titled(title: str) -> Iterator[bytes]:
    """A title or name as it is searched for: a short one as records and messages have it."""
    raw = title.encode("utf-8", "surrogateescape")
    if len(raw) >= _SHORTEST:
        yield from _written(raw)
        return
    for form in _written(raw):
        yield from (place % form for place in _PLACES)


def _written(raw: bytes) -> Iterator[bytes]:
    """Bytes as they are, and as a text is written into JSON in both ways."""
    yield raw
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    yield json.dumps(text)[1:-1].encode()


def _is_text(needle: bytes) -> bool:
    try:
        needle.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
