"""From the set of a page's or scope's changes to its state, and to rows of the catalog. Pure."""
