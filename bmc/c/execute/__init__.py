"""Symbolic execution of C."""
