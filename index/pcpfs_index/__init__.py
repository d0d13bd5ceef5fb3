"""Search engines: each module with an `engine` behind the entry point group `pcpfs.indexes`."""
