"""Invariants: candidates from runs, proofs by induction."""
