"""Preprocessed text, types and declarations of C programs."""
