"""Clocks and times taken from them, told by their differences and as they are: ``python -m benchmarks clocks``."""
