"""``chaincover verify``: a chain and the proof of its bound, checked by means of its own (docs/reference/verify.md)."""
