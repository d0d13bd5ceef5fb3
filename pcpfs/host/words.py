"""The words of a command as people see them: without those that are credentials (C8).

Somebody reads them to decide whether the command may run. So nothing that could itself be run is
hidden: what is hidden is one word that a shell gives no meaning to.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from pcpfs.model.secrets import withheld

_WITHHELD = "[withheld: credential]"
_CALLED = (
    r"(?:token|secret|passw(?:or)?d|passphrase|credential|bearer"
    r"|(?:api|access|private|secret|auth)[-_]?key)"
)
_VALUE = r"[^-\s;|&$`<>(){}'\"\\][^\s;|&$`<>(){}'\"\\]*"

_OPTION = re.compile(rf"--?[\w-]*{_CALLED}", re.IGNORECASE)
_ALONE = re.compile(_VALUE)
_ASSIGNED = re.compile(rf"(-{{0,2}}[\w.-]*{_CALLED}=){_VALUE}", re.IGNORECASE)
_HEADER = re.compile(rf"([\w-]*authorization: ?(?:\w+ )?){_VALUE}", re.IGNORECASE)
_PASSWORD = re.compile(r"(//[^/@\s:]*:)[^/@\s]+(?=@)")
_PARAMETER = re.compile(
    r"([?&][\w.-]*(?:key|token|secret|password|signature|sig)=)[^&#\s'\"]+", re.I
)


def shown_command(words: Iterable[str]) -> str:
    """The words as a shell would be given them, each credential replaced by a mark."""
    return withheld(" ".join(_shown(words)))


def _shown(words: Iterable[str]) -> Iterator[str]:
    before = ""
    for word in words:
        is_value = _OPTION.fullmatch(before) and _ALONE.fullmatch(word)
        yield _WITHHELD if is_value else _without_credential(word)
        before = word


def _without_credential(word: str) -> str:
    """A word that may have a credential in it: `NAME=…`, a header, a URL."""
    for pattern in (_ASSIGNED, _HEADER):
        match = pattern.fullmatch(word)
        if match is not None:
            return match[1] + _WITHHELD
    quoted = shlex.quote(word)
    if "://" in word or word.startswith("//"):
        quoted = _PASSWORD.sub(rf"\1{_WITHHELD}", _PARAMETER.sub(rf"\1{_WITHHELD}", quoted))
    return quoted
