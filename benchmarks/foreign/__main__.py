"""``python -m benchmarks.foreign``."""

from benchmarks.foreign.run import main

main()
