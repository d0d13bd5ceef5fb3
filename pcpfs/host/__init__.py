"""The host: asks many providers of contexts at once, and trusts none of them."""
