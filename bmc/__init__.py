"""Programs and their runs: C code becomes a transition system, and engines answer which runs it has."""
