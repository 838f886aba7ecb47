"""The values of formulas, for many rows at once: from single values of the symbols, and from intervals of them."""
