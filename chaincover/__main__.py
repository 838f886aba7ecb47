"""``python -m chaincover``."""

from chaincover.cli.entry import main

main()
