"""``python -m benchmarks.endings``."""

from benchmarks.endings.run import main

main()
