"""From a first chain to a minimal one: path weights, refuted lengths, windows."""
