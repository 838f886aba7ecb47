"""``python -m benchmarks.laziness``."""

from benchmarks.laziness.run import main

main()
