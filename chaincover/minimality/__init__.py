"""From a first chain to a minimal one: shorter chains from above and higher bounds from below, until they meet."""
