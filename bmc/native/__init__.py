"""The compiled original, and its comparison with the model."""
