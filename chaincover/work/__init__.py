"""Work that is done by other processes, on this machine or on others."""
