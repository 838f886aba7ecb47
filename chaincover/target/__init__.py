"""A run from anywhere is judged: the compiled original, the model, another build, a recording, a bench on line."""
