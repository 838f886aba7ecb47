"""Targets on which chains run: a program on this machine behind a noisy line, and emulated boards."""
