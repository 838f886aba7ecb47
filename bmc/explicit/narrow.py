"""Steps one by one: faster than whole batches where few states wait at a time, as while a timer counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import And

from bmc.explicit.rows import Rows
from bmc.explicit.vectors import node_count
from bmc.formulas.evaluate import unseen
from bmc.system.hold import held_values
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, Valuation


def step_formulas(system: TransitionSystem) -> list[FNode]:
    """Whether a step is allowed; the next state's variables."""
    return [And(system.input_constraint, system.defined), *(var.next for var in system.state)]


def few_steps(system: TransitionSystem) -> int:
    """About so many steps of ``system`` one by one take as long as one small batch."""
    formulas = step_formulas(system)
    return 75 * (node_count(formulas) + 100) // (len(unseen(formulas, set())) + 50)


@dataclass
class Found:
    """New ``states``; for each state expanded the number of its steps (``counts``), for each step input and next."""

    states: list[Valuation]
    counts: list[int]
    choices: list[int]
    nexts: list[int]


def walk_on(
    system: TransitionSystem, inputs: Rows, known: Rows, first: int, most_waiting: int, most_states: int
) -> Found:
    """Make all steps from the states of ``known`` from number ``first`` on, and from those that they lead to.

    Ends once more than ``most_waiting`` states wait to be expanded, or there are more than ``most_states``.
    """
    simulator = Simulator(system)
    choices = _Choices(system, inputs)
    numbers: dict[tuple[int, ...], int] = {}
    waiting: list[Valuation] = []
    for number, state in enumerate(known):
        numbers[tuple(state.values())] = number
        if number >= first:
            waiting.append(state)
    found = Found([], [], [], [])
    done = 0
    while done < len(waiting) and len(waiting) - done <= max(most_waiting, 1) and len(numbers) <= most_states:
        state = waiting[done]
        done, before = done + 1, len(found.choices)
        for choice, values in choices.of(state):
            if simulator.allowed(state, values):
                after = simulator.step(state, values)
                number = numbers.setdefault(tuple(after.values()), len(numbers))
                if number == len(numbers) - 1 and number == len(known) + len(found.states):
                    found.states.append(after)
                    waiting.append(after)
                found.choices.append(choice)
                found.nexts.append(number)
        found.counts.append(len(found.choices) - before)
    return found


class _Choices:
    """The inputs to try in a state, numbered: all, or the one that is held."""

    def __init__(self, system: TransitionSystem, inputs: Rows) -> None:
        self._system = system
        self._every = tuple(enumerate(inputs))
        self._names = [var.name for var in system.inputs]
        self._places = (
            {tuple(v[name] for name in self._names): (n, v) for n, v in self._every} if system.hold > 1 else {}
        )

    def of(self, state: Valuation) -> Sequence[tuple[int, Valuation]]:
        held = held_values(self._system, state)
        return self._every if held is None else (self._places[tuple(held.values())],)
