"""Names that become paths: namespaces, paths in `tree/`, source paths and refs.

What would leave its folder, or could not be read back on another system, is refused with a reason;
what is merely unusual is encoded without collapsing two names into one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Self
from urllib.parse import quote, unquote

from pcpfs.errors import InvalidName

SCOPE_FOLDERS = ("tree", "pages", "payloads", "frames", "events", "scope", "erased")
"""The folders of a scope; a namespace part of that name gets a trailing `=`."""

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"]
)
_ENCODED_DOT_OR_SLASH = re.compile(r"%(2e|2f|5c|00)", re.IGNORECASE)
_EDITOR_FILES = re.compile(r".*~|\..*\.sw.|4913|#.*#|\.#.*|.*\.tmp|\.tmp-.*", re.DOTALL)
_PART = re.compile(r"(?:[a-z0-9]|=[0-9a-f]{2})(?:[a-z0-9._-]|=[0-9a-f]{2})*=?")
_LONGEST_PART = 120
_LONGEST_SCOPE = 360
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")


class Namespace(str):
    """A scope's name: parts of `[a-z0-9][a-z0-9._-]*` joined by `:`, other bytes written `=hh`."""

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        """Accept only the canonical spelling; `given` encodes what a person typed."""
        if not _is_canonical(value):
            raise InvalidName(f"{value!r} is no scope; one looks like project:formal-math")
        if len(value) > _LONGEST_SCOPE or max(map(len, value.split(":"))) > _LONGEST_PART:
            raise InvalidName(
                f"the scope {value[:40]}… is too long: {_LONGEST_PART} characters a part and "
                f"{_LONGEST_SCOPE} in all, those that are written =hh counted as three"
            )
        return super().__new__(cls, value)

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)

    @classmethod
    def given(cls, text: str) -> Namespace:
        """The namespace of a name as a person gives it.

        Canonical spellings stay as they are, other bytes are encoded; anything that looks
        like a way out of the folder is refused.
        """
        if _is_canonical(text):
            return cls(text)
        refuse_traversal(text, "scope")
        return cls(":".join(_encode_part(part) for part in text.split(":")))

    @property
    def folder(self) -> str:
        """Where the scope lies under the store, with `/`."""
        return "scopes/" + self.replace(":", "/")

    @property
    def kind(self) -> str:
        """The first part: `project`, `thread`."""
        return self.split(":", 1)[0]


def is_scope_folder(name: str) -> bool:
    """Whether a folder below `scopes/` may be a part of a scope's name; any other is a stray."""
    return ":" not in name and _is_canonical(name)


@lru_cache(4096)
def _is_canonical(text: str) -> bool:
    parts = text.split(":")
    return all(_PART.fullmatch(part) and _encode_part(_decode_part(part)) == part for part in parts)


def _encode_part(part: str) -> str:
    raw = part.encode("utf-8", "surrogateescape")
    last = len(raw) - 1
    text = "".join(
        chr(byte)
        if byte in _SAFE and not (byte in b"._-" and at == 0) and not (byte == 0x2E and at == last)
        else f"={byte:02x}"
        for at, byte in enumerate(raw)
    )
    reserved = text in SCOPE_FOLDERS or text.split(".")[0] in _DEVICES
    return text + "=" if reserved else text


def _decode_part(part: str) -> str:
    raw = re.sub("=([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), part.removesuffix("="))
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")


def refuse_traversal(text: str, what: str, *, slashes: bool = False) -> None:
    """Raise InvalidName where `text` could name something outside of its folder.

    `slashes` allows `/` between parts. Refused are empty parts, `.` and `..`, absolute and drive
    paths, backslashes, NUL and other control characters, and percent-encoded dots and slashes.
    """
    reason = _traversal(text, slashes)
    if reason:
        raise InvalidName(f"{what} {text!r} is refused: {reason}", given=text)


def _traversal(text: str, slashes: bool) -> str | None:
    if not text:
        return "it is empty"
    if any(unicodedata.category(char) == "Cc" for char in text):
        return "it holds a control character"
    if "\\" in text or (not slashes and "/" in text):
        return "it holds a slash or backslash"
    if _ENCODED_DOT_OR_SLASH.search(text):
        return "it holds a percent-encoded dot or slash"
    parts = re.split("[/:]", text) if not slashes else text.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "a part of it is empty, '.' or '..'"
    if re.match("[A-Za-z]:", text) and slashes:
        return "it names a drive"
    return None


class TreePath(str):
    """A path below `tree/`, relative, with `/`; readable on Linux, macOS and Windows."""

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        refuse_traversal(value, "path", slashes=True)
        for part in value.split("/"):
            reason = _unportable(part)
            if reason:
                raise InvalidName(f"path {value!r} is refused: {reason}", given=value)
        if len(value.encode()) > 1000:
            raise InvalidName(f"path {value[:60]!r}… is longer than 1,000 bytes")
        return super().__new__(cls, value)

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)

    @property
    def claim(self) -> str:
        """What two paths must not share: NFC and case folded."""
        return unicodedata.normalize("NFC", unicodedata.normalize("NFC", self).casefold())


def with_mark(path: str, mark: str) -> str:
    """`notes/x.md` with mark `1a2b` is `notes/x~1a2b.md`."""
    folder, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    marked = f"{stem}~{mark}.{suffix}" if dot and stem else f"{name}~{mark}"
    return f"{folder}{slash}{marked}"


def _unportable(part: str) -> str | None:
    try:
        size = len(part.encode("utf-8"))
    except UnicodeEncodeError:
        return "it is no valid Unicode"
    if size > 200:
        return "a part of it is longer than 200 bytes"
    if is_device(part):
        return f"{part!r} is a device name"
    if part[-1] in ". " or part[0] == " ":
        return f"{part!r} starts or ends with a space, or ends with a dot"
    if part.casefold().split(".")[0] == "" and part.casefold().startswith(".git"):
        return f"{part!r} belongs to git"
    if re.fullmatch("git~[0-9]+", part.casefold()):
        return f"{part!r} belongs to git"
    if any(char in '<>:"|?*' for char in part):
        return f'{part!r} holds one of <>:"|?*'
    if is_editor_file(part):
        return f"{part!r} looks like an editor's own file"
    return None


def is_device(name: str) -> bool:
    """Whether Windows takes a file name, whatever its ending, for a device."""
    return name.split(".")[0].rstrip(" ").casefold() in _DEVICES


def is_editor_file(name: str) -> bool:
    """Backup, swap and temporary files of editors; they never become pages."""
    return _EDITOR_FILES.fullmatch(name) is not None


def slug(title: str) -> str:
    """A readable file name stem from a title: letters and digits of any script, `-` between; may be
    empty. Two titles may share a slug; the page id then tells the files apart."""
    folded = unicodedata.normalize("NFC", title).casefold()
    words = re.findall(r"[^\W_]+", folded)
    text = "-".join(words)
    while len(text.encode()) > 100:
        text = text[:-1]
    text = unicodedata.normalize("NFC", text.strip("-"))
    return "" if text in _DEVICES else text


def escaped(path: str) -> str:
    """A path as answers and the catalog hold it: bytes that are no UTF-8 as `\\xhh`, backslashes
    doubled; injective, reversed by `unescaped`."""
    doubled = path.replace("\\", "\\\\")
    return doubled.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def unescaped(text: str) -> str:
    """The path (odd bytes as surrogate escapes) that `escaped` made this of."""
    if "\\" not in text:
        return text
    raw = re.sub(
        rb"\\\\|\\x([0-9a-f]{2})",
        lambda m: bytes([int(m[1], 16)]) if m[1] else b"\\",
        text.encode("utf-8", "surrogateescape"),
    )
    return raw.decode("utf-8", "surrogateescape")


def refuse_unprintable(text: str, what: str, most: int = 1000) -> None:
    """Raise InvalidName for a text that people could not read: empty, too long, or with control
    characters or bytes that are no UTF-8."""
    if not text.strip() or len(text) > most:
        raise InvalidName(f"a {what} has 1 to {most} characters that can be seen")
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in text):
        raise InvalidName(f"the {what} {text!r} holds a control character or an odd byte")


def source_ref(root: str, path: str, lines: tuple[int, int] | None = None) -> str:
    """`src:<root>/<path>#L10-40`; odd bytes of the path are percent-encoded (PCP-A1)."""
    encoded = quote(path.encode("utf-8", "surrogateescape"), safe="/._-~+@=,()[]!$&'")
    return f"src:{root}/{encoded}" + (f"#L{lines[0]}-{lines[1]}" if lines else "")


def source_path(ref: str) -> tuple[str, str]:
    """Root and path (with surrogate escapes) of a ref that `source_ref` made."""
    root, _, encoded = ref.removeprefix("src:").partition("#")[0].partition("/")
    return root, unquote(encoded, encoding="utf-8", errors="surrogateescape")


_EXTENSIONS = {
    "text/markdown": "md",
    "text/plain": "txt",
    "text/html": "html",
    "text/css": "css",
    "text/csv": "csv",
    "text/x-python": "py",
    "application/json": "json",
    "application/x-ndjson": "jsonl",
    "application/toml": "toml",
    "application/yaml": "yaml",
    "application/xml": "xml",
    "application/pdf": "pdf",
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
}
_MEDIA_TYPES = {extension: media for media, extension in _EXTENSIONS.items()} | {
    "markdown": "text/markdown",
    "text": "text/plain",
    "htm": "text/html",
    "yml": "application/yaml",
    "jpeg": "image/jpeg",
}


def extension_of(media_type: str) -> str:
    """The file name ending for a media type, without dot; `bin` where none is known."""
    base = media_type.split(";")[0].strip().lower()
    return _EXTENSIONS.get(base, "txt" if base.startswith("text/") else "bin")


def media_type_of(name: str) -> str | None:
    """The media type that a file name's ending tells, the same on every machine."""
    return _MEDIA_TYPES.get(name.rpartition(".")[2].lower()) if "." in name else None
