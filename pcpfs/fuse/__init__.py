"""The virtual view as a mounted file system, read-only, for one principal."""
