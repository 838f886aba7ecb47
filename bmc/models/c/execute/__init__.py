"""Symbolic execution of C: statements, expressions and calls over a memory of formulas."""
