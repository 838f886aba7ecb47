"""Solvers on float models, lowered to bit-vectors and not: ``python -m benchmarks.floats.engines``.

Every run is a process of its own. A goal is asked for after 1, 2, ... steps, in one solver under assumptions, until it
is reached. The table gives seconds for building and for solving, and the answers, which must be the same for all.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import click
import z3
from pysmt.shortcuts import Solver

from benchmarks.floats.models import MODELS, Circuits, Model, Theory, unrolled

Ask = Callable[[str], bool | None]
"""Whether the formulas can hold together with a Boolean constant of that name; None: unknown."""


def _asking(solver: z3.Solver) -> Ask:
    def ask(name: str) -> bool | None:
        answer = solver.check(z3.Bool(name))
        return None if answer == z3.unknown else bool(answer == z3.sat)

    return ask


def _lowered(model: Model) -> list[z3.BoolRef]:
    with Solver(name="z3", logic="QF_BV") as solver:
        return [solver.converter.convert(formula) for formula in unrolled(model, Circuits())]


def lowered_z3(model: Model) -> Ask:
    solver = z3.SolverFor("QF_BV")
    solver.add(*_lowered(model))
    return _asking(solver)


def translated_z3(model: Model) -> Ask:
    goal = z3.Goal()
    goal.add(*unrolled(model, Theory()))
    solver = z3.SolverFor("QF_BV")
    solver.add(*z3.Then("skip", "fpa2bv")(goal)[0])
    return _asking(solver)


def theory_z3(model: Model) -> Ask:
    solver = z3.SolverFor("QF_FPBV")
    solver.add(*unrolled(model, Theory()))
    return _asking(solver)


def lowered_bitwuzla(model: Model) -> Ask:
    return _bitwuzla(_lowered(model))


def theory_bitwuzla(model: Model) -> Ask:
    return _bitwuzla(unrolled(model, Theory()))


def _bitwuzla(formulas: list[z3.BoolRef]) -> Ask:
    """Through SMT-LIB text; without preprocessing, which would be done again for each question."""
    library: Any = importlib.import_module("bitwuzla")
    writer = z3.Solver()
    writer.add(*formulas)
    text = writer.to_smt2().replace("(check-sat)", "")
    options = library.Options()
    options.set(library.Option.PREPROCESS, False)
    manager = library.TermManager()
    parser = library.Parser(manager, options)
    parser.parse(text, parse_file=False)
    solver = parser.bitwuzla()

    def ask(name: str) -> bool | None:
        answer = solver.check_sat(parser.parse_term(name))
        return {library.Result.SAT: True, library.Result.UNSAT: False}.get(answer)

    return ask


ENGINES: dict[str, Callable[[Model], Ask]] = {
    "lowered, z3 QF_BV": lowered_z3,
    "z3 fpa2bv, z3 QF_BV": translated_z3,
    "z3 QF_FPBV": theory_z3,
    "lowered, bitwuzla": lowered_bitwuzla,
    "bitwuzla": theory_bitwuzla,
}


def measured(model: Model, engine: str) -> dict[str, Any]:
    """Seconds and answers (for each goal the steps until it was reached, 0 if it was not, None if unknown)."""
    begin = time.perf_counter()
    ask = ENGINES[engine](model)
    built = time.perf_counter()
    state = {name: Circuits().variable(name, model.form) for name in model.initial}
    reached: list[int | None] = []
    for goal in range(len(model.goals(Circuits(), state))):
        answers = ((k, ask(f"goal_{goal}_{k}")) for k in range(1, model.depth + 1))
        reached.append(next((k if answer else None for k, answer in answers if answer is not False), 0))
    return {"build": built - begin, "solve": time.perf_counter() - built, "reached": reached}


def rows(limit: int, runs: int) -> Iterator[str]:
    for model in MODELS:
        for engine in ENGINES:
            found = [_run(model.name, engine, limit) for _ in range(runs)]
            if any(result is None for result in found):
                yield f"| {model.name} | {engine} | | > {limit} | |"
                continue
            done = sorted((result for result in found if result), key=lambda result: result["build"] + result["solve"])
            middle = done[len(done) // 2]
            reached = {str(result["reached"]) for result in done}
            seconds = f"{middle['build']:.2f} | {middle['solve']:.2f}"
            yield f"| {model.name} | {engine} | {seconds} | {' or '.join(reached)} |"


def _run(model: str, engine: str, limit: int) -> dict[str, Any] | None:
    """One measurement in a process of its own; None if the limit (seconds) stopped it."""
    command = [sys.executable, "-m", "benchmarks.floats.engines", "--one", model, engine]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise click.ClickException(done.stderr[-2000:])
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@click.command()
@click.option("--one", nargs=2, hidden=True)
@click.option("--limit", default=120, show_default=True, help="Seconds for each run.")
@click.option("--runs", default=3, show_default=True, help="Runs of which the median is given.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(one: tuple[str, str] | None, limit: int, runs: int, output: TextIO) -> None:
    """Measure all engines on all models; needs the package bitwuzla, which is no dependency."""
    if one:
        print(json.dumps(measured(next(model for model in MODELS if model.name == one[0]), one[1])))
        return
    print("| model | engine | build s | solve s | reached after |\n|---|---|---|---|---|", file=output)
    for row in rows(limit, runs):
        print(row, file=output, flush=True)


if __name__ == "__main__":
    main()
