"""Judge another program by the conformance suite for its kind."""

SECTION = "Serve"
