"""Random systems with counters of 5 bits, small enough to be searched step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, BVExtract, BVZExt, Ite, Not, Or

from bmc.formulas.unroll import at, framed
from bmc.system.simulation import Simulator, compile_formulas
from bmc.system.ties import boundary, hold
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.problem import Problem
from properties.goal import Goal

BITS, MODE = 5, ValueType("mode", 2)
COUNTER = ValueType("counter", BITS)
FLOW = ValueType("flow", 2)
DIVIDER = ValueType("divider", 3)


STYLES = (
    "choices",
    "encoder",
    "nested timers",
    "divided timer",
    "bounded sum",
    "saturation",
    "wrap-around",
    "two in one step",
)
"""How counters are moved; each program has one or two of these. The first are updates drawn one by one."""


@dataclass(frozen=True)
class Program:
    """A problem, and what it has been made of: styles, and what is told of the steps and ends of chains."""

    problem: Problem
    kinds: tuple[str, ...]


class _Maker:
    """One program in the making: a mode, one or two counters, perhaps a divider, Boolean inputs and a number."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        # counters that no other step moves are slow
        self.only = ("divided timer",) if self.random.random() < 0.2 else ()
        self.styles = [*self.only] or self.random.sample(STYLES, self.random.choice([1, 1, 2]))
        two = {"nested timers", "two in one step"} & {*self.styles}
        self.held = self.random.choice([2, 3]) if self.random.random() < 0.1 and not two else 1
        self.modes = 2 if self.held > 1 else self.random.randint(2, 4)
        number = 2 if two else self.random.choice([1, 1, 2] if self.only else [1, 1, 1, 2]) if self.held == 1 else 1
        self.counters = [COUNTER.symbol(f"state_counter{n}") for n in range(number)]
        self.divider = DIVIDER.symbol("state_divider") if "divided timer" in self.styles else None
        self.rate, self.free = self.random.randint(2, 5), self.random.random() < 0.5
        self.mode = MODE.symbol("state_mode")
        buttons = self.random.randint(1, 2) if self.held == 1 else 1
        self.buttons = [BOOLEAN.symbol(f"input_button{n}") for n in range(buttons)]
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

    def encoded(self, counter: FNode) -> FNode:
        """Moved up or down by what an input says."""
        far = BV(self.random.choice([1, 1, 2]), BITS)
        down = Ite(self.flow.Equals(BV(2, 2)), counter.BVSub(BV(1, BITS)), counter)
        return Ite(self.flow.Equals(BV(1, 2)), counter.BVAdd(far), down)

    def summed(self, counter: FNode) -> FNode:
        """What flows in is added up to a limit, or what flows out taken away down to nothing."""
        most, step = BV(self.random.randint(8, 31), BITS), BV(self.random.randint(1, 4), BITS)
        if self.random.random() < 0.3:
            return Ite(counter.BVULT(step), BV(0, BITS), counter.BVSub(step))
        total = BVZExt(counter, 3).BVAdd(BVZExt(self.flow, 6))
        return Ite(total.BVULT(BVZExt(most, 3)), BVExtract(total, 0, BITS - 1), most)

    def moved(self) -> dict[FNode, FNode]:
        """The counters after a step, moved in one of the styles of this program; the others are kept, or set anew."""
        style, one = self.random.choice(self.styles), BV(1, BITS)
        if not self.only and (style == "choices" or self.random.random() < 0.25):
            return {counter: self.update(counter) for counter in self.counters}
        if self.only and self.random.random() < 0.4:
            return {counter: self.random.choice([counter, counter, BV(0, BITS)]) for counter in self.counters}
        counter = self.random.choice(self.counters)
        others = {c: c if self.random.random() < 0.7 else BV(0, BITS) for c in self.counters if c is not counter}
        if style == "nested timers":
            inner, outer = self.counters
            full = inner.BVUGE(BV(self.random.randint(2, 12), BITS))
            return {inner: Ite(full, BV(0, BITS), inner.BVAdd(one)), outer: Ite(full, outer.BVAdd(one), outer)}
        if style == "two in one step":
            return {c: c.BVAdd(one) if self.random.random() < 0.8 else c.BVSub(one) for c in self.counters}
        if style == "divided timer":
            assert self.divider is not None
            return {**others, counter: Ite(self.tick(), counter.BVAdd(one), counter)}
        if style == "encoder":
            return {**others, counter: self.encoded(counter)}
        if style == "bounded sum":
            return {**others, counter: self.summed(counter)}
        most = BV(self.random.randint(8, 31), BITS)
        if style == "saturation":
            return {**others, counter: Ite(counter.BVULT(most), counter.BVAdd(one), most)}
        return {**others, counter: counter.BVAdd(BV(self.random.choice([1, 1, 2, 3, 31]), BITS))}

    def tick(self) -> FNode:
        """Whether the divider is at its end."""
        assert self.divider is not None
        return self.divider.BVUGE(BV(self.rate - 1, 3))

    def tree(self, depth: int) -> dict[FNode, FNode]:
        """The next values as nested choices."""
        if depth and self.random.random() < 0.8:
            condition, yes, no = self.condition(), self.tree(depth - 1), self.tree(depth - 1)
            return {symbol: Ite(condition, yes[symbol], no[symbol]) for symbol in yes}
        new_mode = self.mode if self.random.random() < 0.5 else BV(self.random.randrange(self.modes), 2)
        found = {self.mode: new_mode, **self.moved()}
        if self.divider is not None:
            begun = not self.free and self.random.random() < 0.4
            found[self.divider] = BV(0, 3) if begun else Ite(self.tick(), BV(0, 3), self.divider.BVAdd(BV(1, 3)))
        return found

    def program(self) -> Program:
        """The program with goals and perhaps a final condition."""
        kinds = [*self.styles]
        trees = [self.tree(2) for _ in range(self.modes)]
        following = trees[-1]
        for number in range(self.modes - 1):
            here = self.mode.Equals(BV(number, 2))
            following = {symbol: Ite(here, trees[number][symbol], following[symbol]) for symbol in following}
        state = [StateVariable("state_mode", MODE, BV(0, 2), following[self.mode])]
        state += [StateVariable(c.symbol_name(), COUNTER, BV(0, BITS), following[c]) for c in self.counters]
        if self.divider is not None:
            state.append(StateVariable("state_divider", DIVIDER, BV(0, 3), following[self.divider]))
        inputs = [InputVariable(b.symbol_name(), BOOLEAN) for b in self.buttons]
        allowed = TRUE()
        if self.random.random() < 0.3:
            allowed = Or(Not(self.buttons[0]), self.relation(self.random.choice(self.counters)))
            kinds.append("constraint")
        system = TransitionSystem(
            "program", tuple(state), (*inputs, InputVariable("input_flow", FLOW)), input_constraint=allowed
        )
        run = self.run(system)
        goals = tuple(self.goal(number, run) for number in range(self.random.randint(1, 4)))
        final = None
        if self.random.random() < 0.5:
            final = self.seen(self.end, run, run.length)
            kinds.append("final")
        if self.held > 1:
            system = hold(system, self.held)
            kinds.append("hold")
        overlap = "forbid" if self.random.random() < 0.25 else "allow"
        kinds += [overlap] * (overlap == "forbid")
        return Program(Problem(system, goals, boundary(system, final), overlap), tuple(kinds))

    def atom(self, last: bool) -> FNode:
        """What a goal asks of one step; ``last``: of the state after all steps."""
        kind = self.random.random()
        if kind < 0.3 and not last:
            button = self.random.choice(self.buttons)
            return button if self.random.random() < 0.5 else Not(button)
        return self.end() if kind < 0.6 else self.relation(self.random.choice(self.counters))

    def end(self) -> FNode:
        """What a final condition asks."""
        if self.random.random() < 0.5:
            return self.relation(self.counters[0])
        return self.mode.Equals(BV(self.random.randrange(self.modes), 2))

    def run(self, system: TransitionSystem) -> Run:
        """Some run; its inputs are kept for a while."""
        simulator = Simulator(system)
        states, inputs = [simulator.initial()], []
        given = {var.name: 0 for var in system.inputs}
        for _ in range(self.random.choice([40, 200])):
            if self.random.random() < 0.2:
                given = {var.name: self.random.randrange(1 << max(var.type.bits, 1)) for var in system.inputs}
            if not simulator.allowed(states[-1], given):
                given = {**given, self.buttons[0].symbol_name(): 0}
            states.append(simulator.step(states[-1], given))
            inputs.append(given)
        return Run(tuple(states), tuple(inputs))

    def seen(self, drawn: Callable[[], FNode], run: Run, place: int) -> FNode:
        """A formula that holds at ``place`` of ``run``, if one is drawn soon."""
        here = {**run.states[place], **(run.inputs[place] if place < run.length else {})}
        for _ in range(6):
            found = drawn()
            read = {symbol.symbol_name() for symbol in found.get_free_variables()}
            if read <= here.keys() and compile_formulas([found])(here)[0]:
                break
        return found

    def goal(self, number: int, run: Run) -> Goal:
        """One goal of up to three steps. Most are covered by ``run``."""
        length = min(self.random.choice([0, 1, 1, 1, 2, 3]), run.length)
        place = self.random.randint(0, run.length - length)
        parts = []
        for _ in range(self.random.randint(1, 3 + (length > 1))):
            step = self.random.randint(0, length)
            drawn = partial(self.atom, step == length)
            parts.append(at(drawn() if self.random.random() < 0.05 else self.seen(drawn, run, place + step), step))
        if length and self.random.random() < 0.1:
            counter = self.counters[0]
            parts.append(framed(counter, 0).BVULT(framed(counter, 1)))
        return Goal(f"g{number}", And(parts) if parts else TRUE(), None, length)


def random_program(seed: int) -> Program:
    """The program of a seed."""
    return _Maker(seed).program()
