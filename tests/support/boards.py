"""Boards for stages, and for what stages write on them."""

from __future__ import annotations

from machines import Case
from problems import problem_of

from bmc.engines import choose
from bmc.engines.protocol import Engine
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem
from chaincover.known import Board, Known
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.replaying.judge import Judge


class Kept:
    """Keeps what the stages of a board say, and what is known after every improvement."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.known: list[Known] = []

    def __call__(self, text: str) -> None:
        self.texts.append(text)

    def improved(self, known: Known) -> None:
        self.known.append(known)


def board_of(
    case: Case, options: Options | None = None, limits: Limits | None = None, engine: Engine | None = None
) -> tuple[Board, Kept]:
    """A board on which nothing is known yet, and its listener."""
    options, kept = options or Options(engine="z3"), Kept()
    problem = problem_of(*case, options.overlap)
    engine, limits = engine or choose("z3"), limits or Limits()
    limits.watch(engine)
    return Board(Known(problem), options, engine, limits, kept, Judge(problem)), kept


def run_by(system: TransitionSystem, *choices: int) -> Run:
    """The run of a system with one input, from init."""
    simulator = Simulator(system)
    (var,) = system.inputs
    return simulator.run(simulator.initial(), [{var.name: value} for value in choices])
