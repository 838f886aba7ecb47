"""``python -m benchmarks.exhaustive``."""

from benchmarks.exhaustive.run import main

main()
