"""Mealy and Moore machines of other projects, and what the shortest tours through them are."""
