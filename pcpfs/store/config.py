"""`pcpfs.toml` and the other files that are generated once, the same bytes for the same version."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from pcpfs.errors import Corrupt, UsageError
from pcpfs.model.ids import StoreId
from pcpfs.model.pages import Principal

FORMAT = 0
STRICT, LINKED, GLOBAL = POLICIES = ("strict", "linked", "global")
"""What a search covers: the scopes that it names, these and what they link to, or all (PCP-S1)."""

GIT_ATTRIBUTES = b"* -text -filter -ident -working-tree-encoding -merge\n"
LOCAL_ATTRIBUTES = GIT_ATTRIBUTES + b"**/tree/** merge=pcpfs\n"
"""What `.git/info/attributes` says in a clone that has seen a command."""
GIT_IGNORE = b".pcpfs/\n"
GENERATED = (".gitattributes", ".gitignore", "README.md", "AGENTS.md")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a store; a person may edit them."""

    store_id: StoreId
    owner: Principal
    default_policy: str = GLOBAL
    index: str = "whoosh"
    ledger_algorithm: str | None = None
    providers: Mapping[str, object] = field(default_factory=dict)
    """What the host reads (`host.declarations`); it may have come from anywhere."""

    def encode(self) -> bytes:
        return (
            "# A pcpfs store. You may edit the settings below; format and store_id stay.\n"
            f"format = {FORMAT}\n"
            f'store_id = "{self.store_id}"\n'
            f'owner = "{self.owner}"\n'
            "\n"
            "# What a search covers that names no scope and no policy: strict, linked or global.\n"
            f'default_policy = "{self.default_policy}"\n'
            "# The search engine: whoosh, fts5 (SQLite: same answers, less disk), or memory (RAM,\n"
            "# for small stores). When it changes the index is built anew by itself.\n"
            f'index = "{self.index}"\n'
        ).encode()

    @classmethod
    def decode(cls, raw: bytes, path: str) -> Config:
        """Read `pcpfs.toml`; Corrupt, naming the path, where it is damaged or of a newer format."""
        try:
            value = tomllib.loads(raw.decode("utf-8"))
            if value["format"] != FORMAT:
                raise Corrupt(
                    f"{path} is of format {value['format']}, this pcpfs reads format {FORMAT}; "
                    "use a newer pcpfs",
                    path=path,
                )
            config = cls(
                StoreId(value["store_id"]),
                Principal(value["owner"]),
                value.get("default_policy", "global"),
                value.get("index", "whoosh"),
                value.get("ledger_algorithm"),
                value.get("providers", {}),
            )
        except (ValueError, KeyError, TypeError, RecursionError, UsageError) as error:
            raise Corrupt(
                f"{path} cannot be read: {error}; repair it by hand", path=path
            ) from error
        _check(config, path)
        return config


def _check(config: Config, path: str) -> None:
    if not isinstance(config.providers, Mapping):
        raise Corrupt(f"{path}: providers is a table, [providers]", path=path)
    if config.default_policy not in POLICIES:
        raise Corrupt(f"{path}: default_policy is one of {', '.join(POLICIES)}", path=path)


def generated_files() -> dict[str, bytes]:
    """Files that explain and protect a store, by path."""
    templates = files("pcpfs.store") / "templates"
    return {
        ".gitattributes": GIT_ATTRIBUTES,
        ".gitignore": GIT_IGNORE,
        **{name: (templates / name).read_bytes() for name in ("README.md", "AGENTS.md")},
    }
