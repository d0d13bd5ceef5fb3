"""What is given to every command, before or after its name; and where its store lies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pcpfs.errors import NotFound

if TYPE_CHECKING:
    from pcpfs.model.pages import Principal


@dataclass(frozen=True, slots=True)
class Settings:
    """The options that all commands share."""

    store: str | None = None
    principal: Principal | None = None
    json: bool = False
    wait: float = 30.0
    color: str | None = None

    @property
    def named_store(self) -> Path | None:
        """The folder given with -C, else by $PCPFS_STORE."""
        given = self.store or os.environ.get("PCPFS_STORE")
        return absolute(given) if given else None


def here() -> Path:
    """The working directory. NotFound if somebody has removed it."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise NotFound("the folder that you are in has been removed; go to another one") from error


def absolute(given: str) -> Path:
    """A path as the user gave it, from the working directory on."""
    path = Path(given)
    return path if path.is_absolute() else here() / path


def no_store() -> NotFound:
    """There is no store to work on."""
    return NotFound(
        "there is no store here; make one with 'pcpfs init DIR', or name one with -C DIR "
        "or PCPFS_STORE"
    )


def debugging() -> bool:
    """Whether tracebacks and the warnings of libraries are wanted ($PCPFS_DEBUG)."""
    return bool(os.environ.get("PCPFS_DEBUG"))


def colour(wanted: str | None = None) -> bool | None:
    """None: on a terminal only; False where the user wants none (https://no-color.org), unless
    --color says otherwise."""
    if wanted in (None, "auto"):
        return False if os.environ.get("NO_COLOR") else None
    return wanted == "always"
