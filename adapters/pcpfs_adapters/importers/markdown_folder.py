"""A folder of Markdown with front matter and wiki links: Obsidian, basic-memory.

Each file is a page with exactly its bytes. Kept beside them are `permalink` and `aliases` (names
that links use), tags, observations (`- [category] text #tag`) and relations (`- type [[Target]]`,
other `[[links]]` as `links_to`, `![[embeds]]` as `embeds`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from pcpfs.errors import InvalidName
from pcpfs.model.ids import Digest
from pcpfs.model.imports import Found, FoundPage, Unread
from pcpfs.model.names import TreePath
from pcpfs.model.requests import Draft
from pcpfs.ports import Importer

_FRONT = re.compile(r"\ufeff?---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_OBSERVATION = re.compile(r"^[ \t]*[-*][ \t]+\[([^\]\[\n]{2,60})\][ \t]+(\S[^\n]*)$", re.MULTILINE)
_RELATION = re.compile(
    r"^[ \t]*[-*][ \t]+([^\[\]\n`]{1,60}?)[ \t]+\[\[([^\]\n]+)\]\]", re.MULTILINE
)
_LINK = re.compile(r"(!?)\[\[([^\]\n]+)\]\]")
_TAG = re.compile(r"(?<!\S)#([\w/-]*[^\W\d][\w/-]*)")
_LARGEST = 16 << 20


class MarkdownImporter:
    """See the module."""

    name = "markdown"

    def recognises(self, path: Path) -> bool:
        return path.is_dir() and any(_files(path))

    def read(self, path: Path) -> Iterator[Found]:
        """One FoundPage a file, by path. Links, hidden folders and what is no UTF-8 are left."""
        for file in _files(path):
            inside = file.relative_to(path).as_posix()
            try:
                reason = _unfit(file)
                if reason is not None:
                    yield Unread(inside, reason)
                    continue
                raw = file.read_bytes()
                yield _page(inside, raw, raw.decode("utf-8"))
            except UnicodeDecodeError:
                yield Unread(inside, "no UTF-8")
            except OSError as error:
                yield Unread(inside, f"unreadable: {error.strerror}")
            except InvalidName as error:
                yield Unread(inside, error.message)


def importer() -> Importer:
    return MarkdownImporter()


def _unfit(file: Path) -> str | None:
    """Why a file is not even opened: opening a pipe would wait for whoever writes to it."""
    seen = file.lstat()
    if stat.S_ISLNK(seen.st_mode):
        return "a link"
    if not stat.S_ISREG(seen.st_mode):
        return "no regular file"
    return "too large" if seen.st_size > _LARGEST else None


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith((".md", ".markdown")) and not name.startswith("."):
                yield Path(root, name)


def _page(path: str, raw: bytes, text: str) -> FoundPage:
    front, body = _front(text.replace("\r\n", "\n"))
    plain = _CODE.sub("", _FENCE.sub("", body))
    stem = re.sub(r"\.(md|markdown)$", "", path, flags=re.IGNORECASE)
    permalink = next(iter(front.get("permalink", [])), None)
    observations = [f"[{kind}] {what.strip()}" for kind, what in _OBSERVATION.findall(plain)]
    tags = [tag.lstrip("#") for tag in front.get("tags", [])]
    tags += _TAG.findall("\n".join(observations))
    refs = [f"markdown:{path}@{Digest.of(raw).hex[:16]}"]
    refs += [f"permalink:{permalink}"] if permalink else []
    names = [stem, stem.rpartition("/")[2], *front.get("title", []), *front.get("aliases", [])]
    return FoundPage(
        key=f"markdown:{permalink or path}",
        draft=Draft(
            raw,
            "text/markdown",
            title=next(iter(front.get("title", [])), None) or stem.rpartition("/")[2],
            tags=tuple(dict.fromkeys(filter(None, tags))),
            anchors=tuple(_short(line) for line in observations),
            source_refs=tuple(refs),
        ),
        path=str(TreePath(path)),
        names=tuple(dict.fromkeys([*names, *([permalink] if permalink else [])])),
        links=tuple(dict.fromkeys(_links(plain))),
    )


def _links(text: str) -> Iterator[tuple[str, str]]:
    """Typed relations first; every other link once, by its target."""
    typed: set[str] = set()
    for kind, target in _RELATION.findall(text):
        name = re.sub(r"[^a-z0-9]+", "_", kind.strip().lower()).strip("_")
        if name and name[0].isalpha():
            typed.add(target)
            yield name[:64], _target(target)
    for embed, target in _LINK.findall(text):
        if target not in typed:
            yield ("embeds" if embed else "links_to"), _target(target)


def _target(given: str) -> str:
    """`folder/Note#Heading|shown` means `folder/Note`."""
    return re.split(r"[|#^]", given, maxsplit=1)[0].strip().removesuffix(".md")


def _front(text: str) -> tuple[dict[str, list[str]], str]:
    """The plain members of front matter, each as a list, and the text after it."""
    match = _FRONT.match(text)
    if match is None:
        return {}, text
    members: dict[str, list[str]] = {}
    name = ""
    for line in (match[1] or "").split("\n"):
        item = re.fullmatch(r"[ \t]*-[ \t]+(.+)", line)
        member = re.fullmatch(r"([A-Za-z_][\w-]*):[ \t]*(.*)", line)
        if item and name:
            members[name].append(_unquoted(item[1]))
        elif member:
            name = {"alias": "aliases", "tag": "tags"}.get(member[1].lower(), member[1].lower())
            listed = re.fullmatch(r"\[(.*)\]", member[2].strip())
            given = listed[1].split(",") if listed else [member[2]]
            members[name] = [value for one in given if (value := _unquoted(one))]
    return members, text[match.end() :]


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return _short(text)


def _short(text: str) -> str:
    return "".join(char for char in text if char.isprintable())[:500].strip()
