"""All kinds of input, by their names."""

from __future__ import annotations

from benchmarks.fuzz.claims import CLAIMS
from benchmarks.fuzz.commands import COMMAND_LINES
from benchmarks.fuzz.deadlines import DEADLINE
from benchmarks.fuzz.files import PROJECTS, SOURCES, TABLES
from benchmarks.fuzz.programs import PROGRAMS
from benchmarks.fuzz.properties import PROPERTIES
from benchmarks.fuzz.results import RESULTS

KINDS = {
    kind.name: kind
    for kind in (*PROGRAMS, SOURCES, PROJECTS, PROPERTIES, DEADLINE, TABLES, RESULTS, CLAIMS, COMMAND_LINES)
}
