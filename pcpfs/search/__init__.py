"""Text search: analysis, queries, ranking, excerpts. Engines that keep postings are parts."""
