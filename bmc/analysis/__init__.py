"""What is found out about a system without a solver: constants, slices, liveness, and values that it never leaves."""
