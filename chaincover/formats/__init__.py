"""The files that are written and read: chains, graphs."""
