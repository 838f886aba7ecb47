"""Controllers with a clock, drawn at random: so narrow that all their states can be searched, wraps and all.

Times are compared in the clock's own width, or promoted to a wider one as C does with ``uint8_t``, as a difference or
as they are; the clock may be signed, and then no step overflows it.
"""

from __future__ import annotations

from random import Random

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVSGE, BVSGT, BVUGE, BVUGT, FALSE, TRUE, And, BVZExt, Equals, Ite, Not, Or

from bmc.formulas.unroll import at, framed
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType, conjunction
from chaincover.problem import Problem
from properties.goal import Goal

BITS, WIDER = 8, 16
MODE = ValueType("mode", 2)
STEPS = (1, 2, 3, 4, 5, 7, 8, 10, 16, 25, 32, 50, 64, 100)
"""What a step adds to the clock: some divide 256, some do not."""


def drawn(seed: int) -> Problem:
    """The controller of ``seed`` and its goals."""
    return _Drawn(Random(seed)).problem


class _Drawn:
    """One controller: a clock ``now``, times ``t0`` and ``t1``, a mode, a flag, and the inputs ``go`` and ``hold``."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._signed = random.random() < 0.3
        self._clock = ValueType("clock", BITS, signed=self._signed)
        self._promoted = not self._signed and random.random() < 0.4
        self._go, self._hold = (BOOLEAN.symbol(f"clocks_{name}") for name in ("go", "hold"))
        self._mode, self._flag = MODE.symbol("clocks_mode"), BOOLEAN.symbol("clocks_flag")
        kind = "signed" if self._signed else "unsigned"
        self._times = [self._clock.symbol(f"clocks_{kind}_t{n}") for n in range(random.choice([1, 1, 2]))]
        self._now = self._clock.symbol(f"clocks_{kind}_now")
        self._tick = random.choice(STEPS)
        self._defined: list[FNode] = []
        stops = random.random() < 0.15
        later = self._plus(self._now, self._tick)
        self._later = Ite(self._hold, self._now, later) if stops else later
        self.problem = self._made()

    def _plus(self, value: FNode, number: int) -> FNode:
        """A clock's value and a number, in the width of the clock; signed it may not overflow."""
        if self._signed:
            most = BV((1 << (BITS - 1)) - 1 - number, BITS) if number < 1 << (BITS - 1) else None
            self._defined.append(FALSE() if most is None else BVSGE(most, value))
        return value.BVAdd(BV(number, BITS))

    def _wide(self, value: FNode) -> FNode:
        return BVZExt(value, WIDER - BITS) if self._promoted else value

    def _due(self, time: FNode) -> tuple[FNode, int]:
        """Whether it is long enough since ``time``, and how long that is."""
        period = self._random.choice([self._tick, 2 * self._tick, 3 * self._tick, 20, 64, self._random.randint(1, 90)])
        period = min(period, 100)
        bits = WIDER if self._promoted else BITS
        now, then = self._wide(self._later), self._wide(time)
        more = BVSGE if self._signed or self._promoted else BVUGE
        ways = [
            BVUGE(self._later.BVSub(time), BV(period, BITS)),
            more(now, then.BVAdd(BV(period, bits)) if self._promoted else self._plus(time, period)),
            (BVSGT if self._signed else BVUGT)(self._later, time),
            Equals(now, then.BVAdd(BV(period, bits)) if self._promoted else self._plus(time, period)),
        ]
        return self._random.choice([*ways, *ways[:2]]), period

    def _made(self) -> Problem:
        random, modes = self._random, [BV(number, 2) for number in range(4)]
        due = [self._due(time) for time in self._times]
        state = [StateVariable(self._now.symbol_name(), self._clock, BV(0, BITS), self._later)]
        for time, (fires, period) in zip(self._times, due, strict=True):
            guard = random.choice([fires, And(fires, self._go), Or(fires, Equals(self._mode, modes[1])), self._go])
            anew = random.choice([self._later, self._plus(time, period), self._plus(self._later, period), self._later])
            begin = random.choice([0, 0, 0, self._tick])
            state.append(StateVariable(time.symbol_name(), self._clock, BV(begin, BITS), Ite(guard, anew, time)))
        following, edges = self._mode, []
        for _ in range(random.randint(2, 4)):
            source, target = random.randrange(4), random.randrange(4)
            fires = random.choice(due)[0]
            guard = random.choice([self._go, fires, And(fires, self._go), And(Not(fires), self._go)])
            following = Ite(And(Equals(self._mode, modes[source]), guard), modes[target], following)
            edges.append((source, target))
        if random.random() < 0.15:
            following = Ite(Equals(self._now, BV(random.randrange(1 << BITS), BITS)), modes[3], following)
        state.append(StateVariable("clocks_mode", MODE, modes[0], following))
        state.append(StateVariable("clocks_flag", BOOLEAN, FALSE(), random.choice(due)[0]))
        inputs = tuple(InputVariable(f"clocks_{name}", BOOLEAN) for name in ("go", "hold"))
        defined = conjunction(self._defined)
        allowed = random.choice([TRUE(), Not(And(self._go, self._hold))])
        system = TransitionSystem("clocks", tuple(state), inputs, allowed, defined)
        goals = [self._edge(n, *edge) for n, edge in enumerate(dict.fromkeys(edges))]
        goals.append(Goal("fires", And(at(due[-1][0], 0), framed(self._go, 0)), None, 1))
        if random.random() < 0.3:
            goals.append(Goal("flag", And(framed(self._flag, 0), at(Equals(self._mode, modes[2]), 0)), None, 0))
        return Problem(system, tuple(goals), self._end())

    def _edge(self, number: int, source: int, target: int) -> Goal:
        before, after = (at(Equals(self._mode, BV(mode, 2)), k) for k, mode in enumerate((source, target)))
        return Goal(f"edge{number}", And(before, after), None, 1)

    def _end(self) -> FNode | None:
        """None, a mode, or, as *init* asks for, all that the start state has."""
        first = Equals(self._mode, BV(0, 2))
        init = conjunction([first, *(Equals(symbol, BV(0, BITS)) for symbol in (self._now, *self._times))])
        return self._random.choice([None, None, first, init])
