"""The results that are judged: bundled models, with options of ``generate`` that bring other kinds of claims."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks import FOLDER


@dataclass(frozen=True, slots=True)
class Row:
    """A project in ``folder`` and the ``options`` with which its result is made."""

    name: str
    folder: Path
    options: tuple[str, ...] = ()


def _bundled(name: str, *options: str) -> Row:
    return Row(" ".join([name, *options]), FOLDER / "models" / name, options)


ROWS = (
    *map(_bundled, ("latch", "cruise", "pump", "heater", "wiper", "mixer", "crossing", "window", "door", "fan")),
    *map(_bundled, ("seat", "turnsignal", "alarm", "boiler", "crane", "elevator", "gate", "oven", "stairlight")),
    *map(_bundled, ("cruise_fig1", "turret", "burner", "lubricator")),
    _bundled("cruise", "--engine", "sat"),
    _bundled("latch", "--engine", "sat"),
    _bundled("latch", "--overlap", "forbid"),
    _bundled("cruise", "--overlap", "forbid"),
    _bundled("latch", "--hold", "2"),
    _bundled("charger", "--most"),
    Row("floats/mode", FOLDER / "floats" / "controllers" / "mode"),
)
