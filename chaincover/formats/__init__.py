"""Files that are written and read: chains, graphs."""
