"""State machines with labelled places, given by their steps or at random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Ite, Not, Or

from bmc.formulas.unroll import at
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from properties.goal import Goal

Case = tuple[TransitionSystem, tuple[Goal, ...], FNode | None]

Step = tuple[str, str, str]
"""From one place, with a choice of the input, to another place. Any other choice stays."""


class Machine:
    """A state machine with one variable, ``place``, and one input, ``choice``."""

    def __init__(self, name: str, places: Sequence[str], choices: Sequence[str], steps: Sequence[Step]) -> None:
        self.places = ValueType("places", max(len(places) - 1, 1).bit_length(), labels=_numbered(places))
        self.choices = ValueType("choices", max(len(choices) - 1, 1).bit_length(), labels=_numbered(choices))
        self._name, self._start, self._steps = name, places[0], steps
        self._place = self.places.symbol(f"{name} place")
        self._choice = self.choices.symbol(f"{name} choice")

    def system(self, stuck: FNode | None = None) -> TransitionSystem:
        """The machine in the first of its places; where ``stuck`` holds no step is allowed."""
        following = self._place
        for before, choice, after in self._steps:
            following = Ite(
                And(self.at_any(before), self.chosen(choice)), self._constant(self.places, after), following
            )
        number = self._constant(self.places, self._start)
        variable = StateVariable(self._place.symbol_name(), self.places, number, following)
        given = InputVariable(self._choice.symbol_name(), self.choices)
        allowed = TRUE() if stuck is None else Not(stuck)
        return TransitionSystem(self._name, (variable,), (given,), input_constraint=allowed)

    def at_any(self, *places: str) -> FNode:
        """The machine is in one of ``places``."""
        return Or([self._place.Equals(self._constant(self.places, place)) for place in places])

    def chosen(self, choice: str) -> FNode:
        """The input is ``choice``."""
        return self._choice.Equals(self._constant(self.choices, choice))

    def _constant(self, kind: ValueType, label: str) -> FNode:
        return kind.constant(dict(kind.labels)[label])


def _numbered(labels: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple((label, number) for number, label in enumerate(labels))


def random_machine(seed: int) -> Case:
    """Up to 12 places with few steps between them, and three or four goals that hold in scattered places.

    A goal without a step of its own is a state goal; one of a step asks for an input too. Some machines can get stuck.
    """
    rng = random.Random(seed)
    places = [f"q{n}" for n in range(rng.randint(7, 12))]
    steps = [
        (here, choice, rng.choice(places)) for here in places for choice in ("left", "right") if rng.random() < 0.75
    ]
    machine = Machine(f"machine {seed}", places, ["left", "right"], steps)
    goals = []
    for name in ["a", "b", "c", "d"][: rng.randint(3, 4)]:
        where = machine.at_any(*rng.sample(places, rng.randint(1, 3)))
        length = rng.randint(0, 2)
        condition = And(where, machine.chosen(rng.choice(["left", "right"]))) if length else where
        goals.append(Goal(name, at(condition, 0), None, length))
    final = machine.at_any(*rng.sample(places, 2)) if rng.random() < 0.7 else None
    stuck = machine.at_any(*rng.sample(places, 2)) if rng.random() < 0.3 else None
    return machine.system(stuck), tuple(goals), final


def fork(stuck: bool) -> Case:
    """``near`` is one step to the left, ``far`` two to the right; the way back from ``near`` may be missing."""
    steps = [("m", "left", "l"), ("m", "right", "r"), ("r", "right", "f"), ("f", "left", "m")]
    steps += [] if stuck else [("l", "right", "m")]
    machine = Machine("fork", ["m", "l", "r", "f"], ["left", "right"], steps)
    goals = (
        Goal("far", at(machine.at_any("f"), 0), None, 0),
        Goal("near", at(machine.at_any("l"), 0), None, 0),
    )
    return machine.system(), goals, machine.at_any("m")


def ring(places: int, goals: int) -> Case:
    """Places in a ring, which a choice goes round and another one goes back to the first; goals at each, in turn."""
    names = [f"p{n}" for n in range(places)]
    steps = [(a, "go", b) for a, b in pairwise([*names, names[0]])] + [(name, "back", names[0]) for name in names]
    machine = Machine(f"ring {places}", names, ["go", "back", "stay"], steps)
    made_goals = tuple(
        Goal(f"g{n}", at(machine.at_any(names[(n * 7 + n // places) % places]), 0), None, n % 2) for n in range(goals)
    )
    return machine.system(), made_goals, None
