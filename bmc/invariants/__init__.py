"""Invariants that nobody stated: random runs suggest candidates, and induction proves some of them."""
