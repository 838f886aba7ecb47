"""``python -m benchmarks.rivals``."""

from benchmarks.rivals.run import main

main()
