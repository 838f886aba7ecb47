"""Small faults put into modules, one at a time, to see which of them the tests find out."""
