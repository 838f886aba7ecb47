"""A chain is run again, on the model or on the compiled original, and judged."""
