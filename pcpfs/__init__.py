"""pcpfs: long-term context for people and their agents, as plain files in a git tree."""

__version__ = "0.1.0"
