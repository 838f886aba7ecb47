"""Explicit search: formulas over whole arrays of values, all reachable states, paths through them."""
