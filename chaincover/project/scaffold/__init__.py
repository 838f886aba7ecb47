"""``chaincover init``: a commented project file for C sources, filled with what was found in them, and why."""
