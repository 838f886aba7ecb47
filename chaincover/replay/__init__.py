"""A chain on the compiled original or on the model, judged."""
