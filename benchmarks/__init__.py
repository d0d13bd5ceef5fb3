"""How fast pcpfs is, beside a floor and its peers, on real sources: `make bench`."""
