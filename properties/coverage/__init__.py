"""Goals generated from the code."""
