"""All kinds of input, by their names."""

from __future__ import annotations

from benchmarks.fuzz.commands import COMMAND_LINES
from benchmarks.fuzz.files import PROJECTS, TABLES
from benchmarks.fuzz.programs import PROGRAMS
from benchmarks.fuzz.properties import PROPERTIES

KINDS = {kind.name: kind for kind in (*PROGRAMS, PROJECTS, PROPERTIES, TABLES, COMMAND_LINES)}
