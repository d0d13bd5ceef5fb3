"""See, give and take back the consents of this machine: what may run, and what may leave it."""

SECTION = "Serve"
