"""What is tested, read from files: one room for each kind of model."""
