"""The runner of all checks and measures: ``python -m benchmarks [COMMAND]``. Suites are run by ``chaincover bench``."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click


class Command(NamedTuple):
    """A command: the module of ``benchmarks`` whose ``main`` it is, what it is evidence of, and what it costs."""

    module: str
    evidence: str
    cost: str


CHECKS = {
    "accelerated": Command(
        "checks.accelerated.run",
        "bounds and chains over counters equal those of a search over all states, and `verify` proves them",
        "1 s a program",
    ),
    "boards": Command(
        "boards.run", "chains are covered as seen on an emulated ATmega328P and an emulated Cortex-M3", "2 minutes"
    ),
    "clocks": Command(
        "checks.clocks.run", "normal forms follow the states of controllers with free clocks", "3 s a controller"
    ),
    "cross": Command(
        "boards.cross", "drawn programs on emulated boards of 16 and of 32 bits do as their models", "1 s a program"
    ),
    "endings": Command(
        "checks.endings.run", "large, deep and odd programs end in time, with an answer or a refusal", "10 minutes"
    ),
    "ending-limits": Command(
        "checks.endings.limits", "a command that comes to a limit or is stopped at any place loses nothing", "an hour"
    ),
    "exhaustive": Command(
        "checks.exhaustive.run", "figures of bundled models equal those of a search in C over the original", "3 minutes"
    ),
    "exhaustive-paper": Command("checks.exhaustive.paper", "the same for the rows of the paper's table", "10 s"),
    "floats": Command(
        "checks.floats.exactness", "circuits of floating-point operations equal the processor's results", "5 minutes"
    ),
    "foreign": Command("checks.foreign.run", "ABC proves what results claim (needs berkeley-abc)", "15 minutes"),
    "forging": Command(
        "checks.fuzz.forging", "`verify` refuses each changed field that makes a result untrue", "3 minutes a kind"
    ),
    "fuzz": Command(
        "checks.fuzz.run",
        "drawn programs, properties and files give an answer that agrees, or a refusal",
        "1 s an input",
    ),
    "generated": Command(
        "checks.generated.run",
        "lengths, bounds and verdicts of drawn systems equal an exhaustive search",
        "0.5 s a system",
    ),
    "layouts": Command(
        "checks.layouts", "sizes and places of members of drawn structs and unions equal gcc's", "1 minute"
    ),
    "line": Command(
        "boards.line", "over a noisy serial line no verdict is wrong, and no step is made twice", "4 s a run"
    ),
    "localised": Command(
        "checks.localised.run",
        "systems in which some variables have any value do what whole ones do, and `verify` proves bounds by them",
        "10 s a program",
    ),
    "machines": Command(
        "checks.machines.run", "tours of Mealy machines equal those of the directed Chinese postman", "5 minutes"
    ),
    "recordings": Command(
        "checks.recordings", "verdicts on a part of a run are those on the whole one, or open", "0.05 s a recording"
    ),
    "tests": Command("checks.tests", "the tests that take too long for the suite", "half an hour"),
    "postman": Command("checks.machines.postman", "writes what the Chinese postman says of the machines", "1 minute"),
}
"""Commands that check ChainCover against an opinion that is independent of it."""

MEASURES = {
    "ablation": Command("measures.ablation", "what each stage of a run is worth: it is switched off", "an hour"),
    "doubled": Command("measures.doubled", "which numeric constants of the search matter", "4 hours"),
    "effort": Command("measures.effort", "units of work against seconds of the processor", "20 minutes"),
    "engines": Command("measures.engines.run", "engines on the graphs of bundled models", "10 minutes"),
    "families": Command(
        "measures.families.run", "`generate` and `verify` on controllers of growing size", "10 minutes"
    ),
    "growth": Command("measures.growth.run", "how the cost grows with goals, depth and size; plots", "30 minutes"),
    "hard": Command("measures.hard.run", "engines on questions of hard arithmetic", "15 minutes"),
    "hard-programs": Command(
        "measures.hard.beside", "programs that are hard for the search, beside a driver in C", "20 minutes"
    ),
    "house": Command("measures.house", "the size and the shape of the source", "15 s"),
    "mutants": Command(
        "measures.mutants.run", "which small faults in a room its tests do not find", "2 minutes a fault"
    ),
    "orderings": Command("measures.orderings", "orderings on the same graphs, up to 2,000 goals", "20 minutes"),
    "revisions": Command("measures.revisions.run", "two revisions on the same rows, in alternation", "hours"),
    "rivals": Command("measures.rivals.run", "beside CBMC (needs cbmc)", "10 minutes"),
    "scale": Command("measures.scale.run", "how reading grows with the code", "50 s"),
    "stations": Command("measures.stations.run", "one chain beside random runs, where luck decides", "10 s"),
    "yardstick": Command("measures.hard.yardstick", "the covering search beside a search written by hand", "30 s"),
}
"""Commands that measure what ChainCover costs, and how large it is."""

SECTIONS = {"Checks": CHECKS, "Measures": MEASURES}


class Runner(click.Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the sections."""
        return [name for commands in SECTIONS.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        known = {**CHECKS, **MEASURES}.get(cmd_name)
        if known is None:
            return None
        found: click.Command = import_module(f"benchmarks.{known.module}").main
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The sections, each command with its evidence and its cost, none of which is imported."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, f"{one.evidence} ({one.cost})") for name, one in commands.items()])


def table() -> str:
    """The commands as the table of ``docs/development/evidence.md``."""
    lines = ["| `python -m benchmarks ...` | what it is evidence of | cost |", "|---|---|---|"]
    for commands in SECTIONS.values():
        lines += [f"| `{name}` | {one.evidence} | {one.cost} |" for name, one in commands.items()]
    return "\n".join(lines)


@click.group(cls=Runner)
def main() -> None:
    """Check ChainCover against independent opinions, and measure it; each COMMAND has a --help of its own.

    Suites of rows, with tools of others beside ChainCover, are run by `chaincover bench`.
    """


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
