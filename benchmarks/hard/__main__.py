"""``python -m benchmarks.hard``."""

from benchmarks.hard.run import main

main()
