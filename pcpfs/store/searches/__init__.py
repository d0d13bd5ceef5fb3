"""Finding: requests, the text indexes, symbols, relations, citations, the map of a source."""
