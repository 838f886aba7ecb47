"""Programs with small counters, jumped and walked: ``python -m benchmarks accelerated --count 2000``."""
