"""What the tab key offers: commands and options, which click knows, and names out of the catalog.

Only what the catalog knows already is asked, read-only and for a moment; a store that is busy,
damaged or not there offers nothing. What lies in the folder is offered to whoever can read it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

if TYPE_CHECKING:
    from pcpfs.cli.settings import Settings

VARIABLE = "_PCPFS_COMPLETE"
_MOST = 200

_OPEN = "is_open AND path IS NOT NULL AND NOT is_source"
_SOURCES = "FROM page JOIN root USING (root_id) WHERE is_open"
_HELD = "FROM frame WHERE valid_to IS NULL AND kind <> 'file'"
_TIPS = "FROM branches, json_each(body, '$.tips') WHERE key LIKE"
_NAMES = {
    "scope": ("SELECT scope AS name FROM scope",),
    "root": ("SELECT name FROM root",),
    "page": (
        f"SELECT path AS name FROM page WHERE {_OPEN}",
        f"SELECT name || '/' || path AS name {_SOURCES}",
    ),
    "place": (
        "SELECT '/scopes/' || replace(scope, ':', '/') || '/' || path AS name FROM page "
        f"WHERE {_OPEN}",
        f"SELECT '/sources/' || name || '/' || path AS name {_SOURCES}",
        "SELECT column1 AS name FROM (VALUES ('/scopes'), ('/sources'), ('/pages'), ('/frames'), "
        "('/relations'), ('/search/'), ('/as-of/'))",
    ),
    "symbol": (f"SELECT qualified_name AS name {_HELD}", f"SELECT name {_HELD}"),
    "branch": (
        f"SELECT substr(key, 12) AS name {_TIPS} 'refs/heads/%'",
        f"SELECT substr(key, 14) AS name {_TIPS} 'refs/remotes/%'",
    ),
    "principal": (
        "SELECT principal AS name FROM access",
        "SELECT actor AS name FROM change",
        "SELECT 'model:local' AS name",
    ),
}
"""By kind of name, questions for one column, `name`."""


class Bash(BashComplete):
    """Bash splits words at colons, so that it hands over the line, and we split it."""

    source_template = """\
_pcpfs_completion() {
    local IFS=$'\\n' reply cut='' word=${COMP_WORDS[COMP_CWORD]} line=${COMP_LINE:0:COMP_POINT}
    local last=${line##*[[:space:]]}
    case $COMP_WORDBREAKS in *:*) cut=${last%%"${last##*:}"} ;; esac
    COMPREPLY=()
    for reply in $(env COMP_WORDS="$line" %(complete_var)s=bash_complete "$1"); do
        case $reply in
            file,*) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$word")) ;;
            dir,*) compopt -o dirnames 2>/dev/null ;;
            *) reply=${reply#*,}; COMPREPLY+=("$(printf %%q "${reply#"$cut"}")") ;;
        esac
    done
}
complete -o nosort -F _pcpfs_completion pcpfs
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        return (words, "") if line[-1:].isspace() or not words else (words[:-1], words[-1])


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": ZshComplete, "fish": FishComplete}


def source(shell: str) -> str:
    """What a shell reads once, to be able to ask us."""
    return SHELLS[shell](click.Command("pcpfs"), {}, "pcpfs", VARIABLE).source()


def completed(instruction: str, command: click.Command) -> str:
    """The answer to a shell (`bash_complete`); empty for another instruction."""
    shell = SHELLS.get(instruction.removesuffix("_complete"))
    return shell(command, {}, "pcpfs", VARIABLE).complete() if shell else ""


def names(kind: str, beginning: str, settings: Settings) -> list[CompletionItem]:
    """The names of that kind that begin so, at most 200, by name."""
    folder = settings.named_store or _nearest_store()
    if folder is None:
        return []
    catalog = folder.absolute() / ".pcpfs" / "catalog.sqlite"
    parts = (
        f"SELECT name FROM ({part}) WHERE name >= ?1 AND name < ?1 || char(1114111)"
        for part in _NAMES[kind]
    )
    query = f"{' UNION '.join(parts)} ORDER BY name LIMIT ?2"
    try:
        with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro", uri=True, timeout=0)) as asked:
            rows = asked.execute(query, (beginning, _MOST)).fetchall()
    except sqlite3.Error:
        return []
    return [CompletionItem(name) for (name,) in rows]


def _nearest_store() -> Path | None:
    from pcpfs.store.nested import nearest_store  # noqa: PLC0415 (only where a store is asked)

    return nearest_store(Path.cwd())
