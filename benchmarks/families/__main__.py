"""``python -m benchmarks.families``."""

from benchmarks.families.run import main

main()
