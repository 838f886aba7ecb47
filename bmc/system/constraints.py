"""Constraints over several steps: what a step's inputs may be after those of the steps before it, and in the first one.

A constraint is a framed formula, true of every stretch of steps of a run that it fits into; or it keeps an input at
each value for a number of steps. ``constrained`` makes a transition system allow just the runs that keep all of them,
by what it remembers of steps before (``bmc.system.memory``). ``broken`` judges a run by what a constraint says alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pysmt.fnode import FNode
from pysmt.shortcuts import Ite

from bmc.errors import Location
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import both, either, implies, negate
from bmc.formulas.unroll import unframed, unplaced
from bmc.records import dataclass
from bmc.system.memory import Memory, with_memory
from bmc.system.transition import (
    Condition,
    Run,
    TransitionSystem,
    Valuation,
    ValueType,
    conjunction,
    conjuncts,
    equal,
    symbols_of,
)

REMEMBERED, HELD = "constraint:", "hold"
"""The internal variables are called so, with a number behind it; and those of held inputs."""

TICKS = ValueType("ticks", 16)
"""The type of a number of steps."""


@dataclass(frozen=True)
class Constraint:
    """``formula``, over symbols ``x@0 .. x@n``, is true of each n + 1 steps of a run that follow each other.

    ``first``: only of those with which it begins. It reads inputs at step n. ``text`` is how it was written;
    ``times`` says which numbers of steps the times in it are.
    """

    text: str
    formula: FNode
    where: Location | None = None
    first: bool = False
    times: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What it says, and of which steps."""
        return f"{self.text} (first step)" if self.first else self.text

    @cached_property
    def last(self) -> int:
        """The step n."""
        return max((unframed(symbol)[1] for symbol in symbols_of(self.formula)), default=0)

    def broken(self, run: Run) -> Iterator[int]:
        """The steps of ``run`` whose inputs break it, by the formula alone."""
        holds = self._holds
        for end in range(self.last, self.last + 1 if self.first else run.length):
            if end < run.length and not holds({**self._values(run, end)})[0]:
                yield end

    def shown(self, run: Run, end: int, show: Callable[[str, int], str]) -> str:
        """The values that it reads where step ``end`` is its last one."""
        places = sorted(unframed(symbol)[::-1] for symbol in symbols_of(self.formula))
        names = dict.fromkeys(name for _, name in places)
        values = self._values(run, end)
        told = (", then ".join(show(n, values[f"{n}@{k}"]) for k, n in places if n == name) for name in names)
        return "; ".join(f"{name} {text}" for name, text in zip(names, told, strict=True))

    @cached_property
    def _holds(self) -> Callable[[Valuation], tuple[int, ...]]:
        return compile_formulas([self.formula])

    def _values(self, run: Run, end: int) -> Mapping[str, int]:
        found = {}
        for symbol in symbols_of(self.formula):
            name, step = unframed(symbol)
            there = end - self.last + step
            found[symbol.symbol_name()] = run.states[there][name] if name in run.states[0] else run.inputs[there][name]
        return found


@dataclass(frozen=True, slots=True)
class Dwell:
    """The input ``name`` has each of its values, from the first step on, for ``steps`` steps at least.

    The last one may be cut off by the end of the run.
    """

    name: str
    steps: int
    where: Location | None = None
    first: bool = False

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self.name} keeps each value for at least {self.steps} steps"

    told = text

    def broken(self, run: Run) -> Iterator[int]:
        """The steps of ``run`` at which the input changes too early."""
        since = 0
        for step in range(1, run.length):
            if run.inputs[step][self.name] == run.inputs[step - 1][self.name]:
                continue
            if step - since < self.steps:
                yield step
            since = step

    def shown(self, run: Run, end: int, show: Callable[[str, int], str]) -> str:
        """The values of the input around step ``end``, at which it changes."""
        before, after = (show(self.name, run.inputs[step][self.name]) for step in (end - 1, end))
        column = [inputs[self.name] for inputs in run.inputs[end - 1 :: -1]]
        same = next((n for n, value in enumerate(column) if value != column[0]), end)
        return f"{self.name} {before} for {same} of {self.steps} steps, then {after}"


Rule = Constraint | Dwell


def constrained(system: TransitionSystem, rules: Sequence[Rule]) -> TransitionSystem:
    """``system`` with those runs only that keep all ``rules``, no two of which tell one input's dwell time."""
    memory = Memory(REMEMBERED)
    inputs = {var.name: var.symbol for var in system.inputs}
    parts = [_dwelling(r, inputs[r.name], memory) if isinstance(r, Dwell) else _encoded(r, memory) for r in rules]
    named = [Condition(rule.told, part, rule.where) for rule, part in zip(rules, parts, strict=True)]
    return replace(
        with_memory(system, memory.variables),
        input_constraint=conjunction([system.input_constraint, *parts]),
        constraints=(*system.constraints, *named),
    )


def _encoded(rule: Constraint, memory: Memory) -> FNode:
    """What ``rule`` says of a step, over plain symbols."""
    (here,) = unplaced([memory.from_now(rule.formula, rule.last)])
    fits = memory.after(rule.last)
    return implies(both(fits, negate(memory.after(rule.last + 1))) if rule.first else fits, here)


def _dwelling(rule: Dwell, value: FNode, memory: Memory) -> FNode:
    """What ``rule`` says of a step: a variable counts down the steps for which the input may not change."""
    same, nothing, one = equal(value, memory.before(value, 1)), TICKS.constant(0), TICKS.constant(1)
    left, most = memory.fresh(TICKS), TICKS.constant(rule.steps - 1)
    fresh = negate(both(same, memory.after(1)))
    memory.keep(left, Ite(fresh, most, Ite(left.Equals(nothing), nothing, left - one)), most=rule.steps - 1)
    return either(left.Equals(nothing), same)


def remembers(name: str) -> bool:
    """Whether the state variable called ``name`` is one that ``constrained``, or ``hold``, has added."""
    return name.startswith((f"{REMEMBERED}#", f"{HELD}#", f"{HELD}:"))


def unconstrained(system: TransitionSystem) -> TransitionSystem:
    """``system`` without what its constraints say of several steps, and without what is remembered for them."""
    own = {var.name for var in system.state if remembers(var.name)}
    if not own:
        return system
    free = conjunction(part for part in conjuncts(system.input_constraint) if not own & _names([part]))
    return replace(
        system,
        state=tuple(var for var in system.state if var.name not in own),
        input_constraint=free,
        constraints=tuple(c for c in system.constraints if not own & _names([c.formula])),
        invariants=tuple(c for c in system.invariants if not own & _names([c.formula])),
    )


def _names(formulas: Iterable[FNode]) -> set[str]:
    return {symbol.symbol_name() for formula in formulas for symbol in symbols_of(formula)}
