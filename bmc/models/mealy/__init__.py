"""Mealy and Moore machines as DOT: a machine is read, becomes a transition system, and runs itself as the original."""
