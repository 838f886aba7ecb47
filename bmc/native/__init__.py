"""The compiled original of a program: it is built, run in a process of its own, and compared with the model."""
