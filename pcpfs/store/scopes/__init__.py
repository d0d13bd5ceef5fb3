"""Who may do what in a scope, and what may not come into it."""
