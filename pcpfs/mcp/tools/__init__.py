"""The tools: one module each, which has a `TOOL`."""
