"""Formulas: building terms and words, evaluating them, placing them at steps, and the sets of values that they take."""
