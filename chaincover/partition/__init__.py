"""Several chains (Algorithms 6 and 7), conflicts, most goals."""
