"""Synthetic controllers of growing size, and what ``generate`` and ``verify`` take for them."""
