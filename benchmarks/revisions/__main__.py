"""``python -m benchmarks.revisions``."""

from benchmarks.revisions.run import main

main()
