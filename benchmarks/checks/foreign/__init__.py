"""What ChainCover claims, decided by a model checker of others: ``python -m benchmarks foreign``."""
