"""Suites of benchmarks: many projects times many configurations, each run a process, and one table of all of them."""
