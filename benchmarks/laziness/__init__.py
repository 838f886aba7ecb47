"""How many solver calls simulation and laziness save: the search as it is against the whole graph."""
