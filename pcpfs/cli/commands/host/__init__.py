"""Ask several providers of contexts at once, and agree to what they may do."""

SECTION = "Serve"
