"""ChainCover beside CBMC: the same minimal chains, proved by both, and what each takes for them."""
