"""From a covering path to inputs (Algorithms 4, 5, 8, 9, 11 and 12)."""
