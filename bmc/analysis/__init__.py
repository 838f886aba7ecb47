"""What is found out about a system without a solver: constants, slices, liveness, value ranges."""
