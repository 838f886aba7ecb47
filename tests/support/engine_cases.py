"""Systems with goals for comparing engines, and a check of the runs that a session shows."""

from __future__ import annotations

from machines import random_machine
from pysmt.fnode import FNode
from random_systems import random_case

from bmc.engines.protocol import Session
from bmc.formulas.evaluate import compile_formulas
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem
from properties.goal import Goal


def holds_on(session: Session, system: TransitionSystem, formulas: list[FNode]) -> bool:
    """Whether the session's run is one of ``system``, valid, and satisfies ``formulas``."""
    run, simulator = session.run(), Simulator(system)
    rows = [*enumerate(run.states), *enumerate(run.inputs)]
    values = {f"{name}@{step}": value for step, row in rows for name, value in row.items()}
    valid = all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
    return valid and run == simulator.run(run.states[0], run.inputs) and all(compile_formulas(formulas)(values))


def cases() -> list[tuple[TransitionSystem, list[Goal], FNode | None]]:
    random_ones = [random_case(seed) for seed in range(14)]
    machines = [random_machine(seed) for seed in range(6)]
    return [(c.system, list(c.goals), c.final) for c in random_ones] + [(s, list(g), f) for s, g, f in machines]
