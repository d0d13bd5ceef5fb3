"""The adapters that come with pcpfs: tree-sitter languages, Markdown and plain text.

`docs` of the parts: `kinds` (what a symbol can be), `language` (what a data file in `languages/`
may say), `source_text` (encodings and offsets). Importing this package loads no grammar.
"""

from __future__ import annotations

from pcpfs.ports import AdapterRegistry


def registry() -> AdapterRegistry:
    """All adapters of this package; entry point of the group `pcpfs.adapters`."""
    from pcpfs_adapters.installed import builtin  # noqa: PLC0415 - importing a package must be cheap

    return builtin()
