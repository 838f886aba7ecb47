"""Random systems with counters of 5 bits, small enough to be searched step by step."""

from __future__ import annotations

from random import Random

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, BVExtract, BVZExt, Ite, Not, Or

from bmc.formulas.unroll import framed
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.problem import Problem
from properties.goal import Goal

BITS, MODE = 5, ValueType("mode", 2)
COUNTER = ValueType("counter", BITS)
FLOW = ValueType("flow", 2)


class _Program:
    """One program in the making: a mode, one or two counters, two Boolean inputs and a number."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.modes = self.random.randint(2, 4)
        self.counters = [COUNTER.symbol(f"state_counter{n}") for n in range(self.random.choice([1, 1, 1, 2]))]
        self.mode = MODE.symbol("state_mode")
        self.buttons = [BOOLEAN.symbol(f"input_button{n}") for n in range(self.random.randint(1, 2))]
        self.flow = FLOW.symbol("input_flow")

    def relation(self, counter: FNode) -> FNode:
        """A comparison of a counter with a constant."""
        wide = BVZExt(counter, 3) if self.random.random() < 0.3 else counter
        value = BV(self.random.randint(0, 31), wide.bv_width())
        if self.random.random() < 0.3:
            wide = wide.BVAdd(BV(1, wide.bv_width()))
        kind = self.random.randrange(4)
        return (wide.Equals(value), wide.BVULT(value), wide.BVUGE(value), wide.BVSLT(value))[kind]

    def condition(self) -> FNode:
        """What chooses between two updates."""
        kind = self.random.random()
        if kind < 0.45:
            found = self.random.choice(self.buttons)
            return found if self.random.random() < 0.5 else Not(found)
        if kind < 0.9:
            return self.relation(self.random.choice(self.counters))
        return self.relation(self.random.choice(self.counters)).And(self.random.choice(self.buttons))

    def update(self, counter: FNode) -> FNode:
        """What a step makes of a counter."""
        kind = self.random.random()
        if kind < 0.35:
            return counter.BVAdd(BV(1, BITS))
        if kind < 0.45:
            return counter.BVSub(BV(1, BITS))
        if kind < 0.55:
            return counter.BVAdd(BV(self.random.randint(2, 4), BITS))
        if kind < 0.65:
            return counter.BVAdd(BVZExt(self.flow, 3))
        if kind < 0.8:
            return counter
        if kind < 0.9:
            return BV(0, BITS)
        if kind < 0.95:
            most = BV(self.random.randint(8, 31), BITS)
            return Ite(counter.BVULT(most), counter.BVAdd(BV(1, BITS)), most)
        return BVExtract(BVZExt(self.random.choice(self.counters), 3).BVAdd(BV(1, 8)), 0, BITS - 1)

    def tree(self, depth: int) -> dict[FNode, FNode]:
        """The next values as nested choices."""
        if depth and self.random.random() < 0.8:
            condition, yes, no = self.condition(), self.tree(depth - 1), self.tree(depth - 1)
            return {symbol: Ite(condition, yes[symbol], no[symbol]) for symbol in yes}
        new_mode = self.mode if self.random.random() < 0.5 else BV(self.random.randrange(self.modes), 2)
        return {self.mode: new_mode, **{counter: self.update(counter) for counter in self.counters}}

    def problem(self) -> Problem:
        """The program with goals and perhaps a final condition."""
        trees = [self.tree(3) for _ in range(self.modes)]
        following = trees[-1]
        for number in range(self.modes - 1):
            here = self.mode.Equals(BV(number, 2))
            following = {symbol: Ite(here, trees[number][symbol], following[symbol]) for symbol in following}
        state = [StateVariable("state_mode", MODE, BV(0, 2), following[self.mode])]
        state += [StateVariable(c.symbol_name(), COUNTER, BV(0, BITS), following[c]) for c in self.counters]
        inputs = [InputVariable(b.symbol_name(), BOOLEAN) for b in self.buttons]
        allowed = TRUE()
        if self.random.random() < 0.3:
            allowed = Or(Not(self.buttons[0]), self.relation(self.random.choice(self.counters)))
        system = TransitionSystem(
            "program", tuple(state), (*inputs, InputVariable("input_flow", FLOW)), input_constraint=allowed
        )
        goals = tuple(self.goal(number) for number in range(self.random.randint(1, 4)))
        final = None
        if self.random.random() < 0.5:
            final = self.mode.Equals(BV(0, 2)) if self.random.random() < 0.5 else self.relation(self.counters[0])
        return Problem(system, goals, final)

    def atom(self, step: int, last: bool) -> FNode:
        """What a goal asks of one step."""
        kind = self.random.random()
        if kind < 0.3 and not last:
            button = framed(self.random.choice(self.buttons), step)
            return button if self.random.random() < 0.5 else Not(button)
        if kind < 0.6:
            return framed(self.mode, step).Equals(BV(self.random.randrange(self.modes), 2))
        counter = self.random.choice(self.counters)
        return self.relation(counter).substitute({counter: framed(counter, step)})

    def goal(self, number: int) -> Goal:
        """One goal of up to two steps."""
        length = self.random.choice([0, 1, 1, 1, 2])
        parts = [self.atom(self.random.randint(0, length), not length) for _ in range(self.random.randint(1, 3))]
        parts = [part for part in parts if not any(_too_late(s, length) for s in part.get_free_variables())]
        if length and self.random.random() < 0.2:
            counter = self.counters[0]
            parts.append(framed(counter, 0).BVULT(framed(counter, 1)))
        return Goal(f"g{number}", And(parts) if parts else TRUE(), None, length)


def _too_late(symbol: FNode, length: int) -> bool:
    """Whether ``symbol`` is an input after the last step."""
    return bool(symbol.symbol_name().startswith("input") and symbol.symbol_name().endswith(f"@{length}"))


def random_program(seed: int) -> Problem:
    """The program of a seed."""
    return _Program(seed).problem()
