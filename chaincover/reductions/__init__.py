"""Smaller problems with the same answers, and the way back to the whole problem."""
