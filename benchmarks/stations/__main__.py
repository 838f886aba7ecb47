"""``python -m benchmarks.stations``."""

from benchmarks.stations.run import main

main()
