"""The tools that suites run, one file each behind ``protocol.Tool``, loaded by name when a suite names them."""

from __future__ import annotations

from pkgutil import resolve_name

from benchmarks.bench.tools.protocol import Tool

TOOLS = {
    "chaincover": "benchmarks.bench.tools.chaincover:ChainCover",
    "compare": "benchmarks.bench.tools.compare:Compare",
    "random-runs": "benchmarks.bench.tools.random_runs:RandomRuns",
    "per-goal": "benchmarks.bench.tools.per_goal:PerGoal",
    "greedy": "benchmarks.bench.tools.greedy:Greedy",
    "cbmc": "benchmarks.bench.tools.cbmc:Cbmc",
}
"""Where each class is. A suite may name one of its own by ``module:Class``."""


def find(name: str) -> Tool:
    """The tool called ``name``. KeyError if there is none; ImportError, AttributeError where its class is not there.

    What else a class of the user raises is raised here; TypeError where it makes no tool.
    """
    place = name if ":" in name else TOOLS[name]
    made: Tool = resolve_name(place)()
    lacking = [each for each in ("settings", "missing", "command", "read") if not hasattr(made, each)]
    if lacking:
        raise TypeError(f"what it makes has no {', '.join(lacking)}")
    return made
