"""``python -m chaincover``."""

from chaincover.entry import main

main()
