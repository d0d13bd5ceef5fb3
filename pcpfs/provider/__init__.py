"""The provider: what a store holds, for hosts of the Context Graph Protocol."""
