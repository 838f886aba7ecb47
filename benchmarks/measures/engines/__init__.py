"""Engines compared on the whole K-reachability graphs of the bundled models."""
