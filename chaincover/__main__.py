"""``python -m chaincover``."""

from chaincover.cli import main

main()
