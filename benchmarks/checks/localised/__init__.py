"""Smaller systems, in which some variables have any value, beside whole ones: ``python -m benchmarks localised``."""
