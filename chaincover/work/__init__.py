"""Work on other processes and machines."""
