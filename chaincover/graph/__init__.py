"""The K-reachability graph (Algorithms 2 and 10 of the paper), by questions to a solver or from enumerated states."""
