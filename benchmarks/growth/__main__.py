"""``python -m benchmarks.growth``."""

from benchmarks.growth.run import main

main()
