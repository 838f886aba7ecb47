"""``python -m benchmarks.engines``."""

from benchmarks.engines.run import main

main()
