"""From a covering path to the inputs of a chain (Algorithms 4, 5, 8, 9, 11 and 12 of the paper)."""
