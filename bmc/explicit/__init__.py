"""Explicit search: formulas are evaluated on whole arrays of values, and all reachable states are enumerated."""
