"""Terms, words, evaluation, unrolling and packing of formulas."""
