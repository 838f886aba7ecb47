"""Measurements and checks: ``python -m benchmarks`` lists the commands, ``chaincover bench`` runs suites."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the programs lie that are measured: each in a folder below, with its project file."""
