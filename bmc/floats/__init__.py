"""IEEE-754 numbers by formulas over their bit patterns: formats, circuits of all operations, sets of values."""
