"""All kinds of input, by their names."""

from __future__ import annotations

from benchmarks.checks.fuzz.bounds import BOUNDS
from benchmarks.checks.fuzz.claims import CLAIMS
from benchmarks.checks.fuzz.commands import COMMAND_LINES
from benchmarks.checks.fuzz.deadlines import DEADLINE
from benchmarks.checks.fuzz.faults import FAULTS
from benchmarks.checks.fuzz.files import PROJECTS, SOURCES, TABLES
from benchmarks.checks.fuzz.macros import MACROS
from benchmarks.checks.fuzz.programs import PROGRAMS
from benchmarks.checks.fuzz.properties import PROPERTIES
from benchmarks.checks.fuzz.results import RESULTS

KINDS = {
    kind.name: kind
    for kind in (
        *PROGRAMS,
        FAULTS,
        MACROS,
        SOURCES,
        PROJECTS,
        PROPERTIES,
        DEADLINE,
        TABLES,
        RESULTS,
        CLAIMS,
        *BOUNDS,
        COMMAND_LINES,
    )
}
