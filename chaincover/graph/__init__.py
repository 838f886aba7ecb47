"""The K-reachability graph (Algorithms 2, 3 and 10)."""
