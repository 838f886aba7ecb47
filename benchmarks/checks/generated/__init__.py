"""Generated systems, an independent explicit-state search for what is right, and the comparison with it."""
