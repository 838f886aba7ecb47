"""Constraints over several steps: what a step's inputs may be after those of the steps before it, and in the first one.

A constraint is a framed formula, true of every stretch of steps of a run that it fits into; or it keeps an input at
each value for a number of steps. ``constrained`` makes a transition system allow just the runs that keep all of them,
by internal state: of what was before only the conditions that a constraint reads are remembered, or the variables in
them where these take fewer bits. ``broken`` judges a run by what a constraint says alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pysmt.fnode import FNode
from pysmt.shortcuts import Ite, Not

from bmc.errors import Location
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.formulas.terms import either, implies
from bmc.formulas.unroll import framed, unframed, unplaced, with_terms
from bmc.records import dataclass
from bmc.system.hold import TICKS
from bmc.system.transition import (
    BOOLEAN,
    Condition,
    InputVariable,
    Run,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
    equal,
    symbols_of,
)

BEFORE, KEPT, STEP = "before:", "kept:", "step#number"
"""Names of internal variables: before a name, its value one step before; before an input's name, for how many more
steps it may not change; the number of steps taken, as far as it matters."""


@dataclass(frozen=True)
class Constraint:
    """``formula``, over symbols ``x@0 .. x@n``, is true of each n + 1 steps of a run that follow each other.

    ``first``: only of those with which it begins. It reads inputs at step n. ``text`` is how it was written.
    """

    text: str
    formula: FNode
    where: Location | None = None
    first: bool = False

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
    memory = _Memory(system, rules)
    parts = [memory.encoded(rule) for rule in rules]
    named = [Condition(rule.told, part, rule.where) for rule, part in zip(rules, parts, strict=True)]
    return replace(
        system,
        state=(*system.state, *memory.variables),
        input_constraint=conjunction([system.input_constraint, *parts]),
        constraints=(*system.constraints, *named),
    )


def remembers(name: str) -> bool:
    """Whether the state variable called ``name`` is one that ``constrained`` has added."""
    return name == STEP or name.startswith((BEFORE, KEPT))


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


class _Memory:
    """The internal variables that some rules need, each once."""

    def __init__(self, system: TransitionSystem, rules: Sequence[Rule]) -> None:
        self._state = {var.name: var for var in system.state}
        self._inputs = {var.name: var for var in system.inputs}
        self._made: dict[str, StateVariable] = {}
        self._names: dict[FNode, str] = {}
        most = max((_steps_counted(rule) for rule in rules), default=0)
        if most:
            more = Ite(self._now.BVULT(TICKS.constant(most)), self._now + TICKS.constant(1), self._now)
            self._made[STEP] = StateVariable(STEP, TICKS, TICKS.constant(0), more, "internal", 0, most)

    @property
    def variables(self) -> tuple[StateVariable, ...]:
        return tuple(self._made.values())

    @property
    def _now(self) -> FNode:
        return TICKS.symbol(STEP)

    def encoded(self, rule: Rule) -> FNode:
        """What ``rule`` says of a step, over plain symbols."""
        return self._dwelling(rule) if isinstance(rule, Dwell) else self._constraint(rule)

    def _constraint(self, rule: Constraint) -> FNode:
        terms = {}
        for term, step in _past_terms(rule.formula, rule.last):
            terms[term] = framed(self._before(unplaced([term])[0], rule.last - step), rule.last)
        (here,) = unplaced(with_terms([rule.formula], terms))
        if not rule.last and not rule.first:
            return here
        enough = TICKS.constant(rule.last)
        return implies(self._now.Equals(enough) if rule.first else enough.BVULE(self._now), here)

    def _dwelling(self, rule: Dwell) -> FNode:
        name, nothing = f"{KEPT}{rule.name}", TICKS.constant(0)
        var, left = self._inputs[rule.name], TICKS.symbol(name)
        same = equal(var.symbol, self._before(var.symbol, 1))
        fresh = either(Not(same), self._now.Equals(nothing))
        fewer = Ite(left.Equals(nothing), nothing, left - TICKS.constant(1))
        after = Ite(fresh, TICKS.constant(rule.steps - 1), fewer)
        self._made[name] = StateVariable(name, TICKS, nothing, after, "internal", 0, rule.steps - 1)
        return either(left.Equals(nothing), same)

    def _before(self, term: FNode, steps: int) -> FNode:
        """The value of ``term`` (plain) so many steps before."""
        if not steps:
            return term
        nearer = self._before(term, steps - 1)
        var = self._inputs.get(term.symbol_name()) or self._state.get(term.symbol_name()) if term.is_symbol() else None
        kind = BOOLEAN if var is None else var.type
        base = var.name if var is not None else self._names.setdefault(term, f"#{len(self._names) + 1}")
        name = BEFORE * steps + base
        low, high = _ends(var)
        self._made.setdefault(name, StateVariable(name, kind, kind.constant(0), nearer, "internal", low, high))
        return kind.symbol(name)


def _steps_counted(rule: Rule) -> int:
    """How many steps have to be told apart from more of them."""
    return int(rule.steps > 1) if isinstance(rule, Dwell) else rule.last + rule.first


def _ends(var: StateVariable | InputVariable | None) -> tuple[int | None, int | None]:
    """The least and the greatest value of a variable, where they are known."""
    if isinstance(var, StateVariable):
        return var.low, var.high
    if var is None or not var.values or var.type.floating:
        return None, None
    return var.values[0][0], var.values[-1][1]


def _past_terms(formula: FNode, last: int) -> Iterator[tuple[FNode, int]]:
    """What is to be remembered of the steps before ``last`` that ``formula`` reads: terms, each with its step.

    Conditions, or the variables in them where these take no more bits, or are read otherwise as well.
    """
    single = _single_steps(formula)
    largest: dict[int, list[FNode]] = {}
    todo, seen = [formula], {formula}
    while todo:
        node = todo.pop()
        step = single[node]
        if step is None or step == last:
            continue
        if step >= 0:
            largest.setdefault(step, []).append(node)
            continue
        todo += (argument for argument in node.args() if argument not in seen)
        seen.update(node.args())
    for step, terms in sorted(largest.items()):
        for group in _sharing(terms):
            symbols = sorted({s for term in group for s in symbols_of(term)}, key=lambda s: s.symbol_name())
            conditions = all(term.get_type().is_bool_type() for term in group)
            few = conditions and len(group) < sum(_bits(symbol) for symbol in symbols)
            yield from ((term, step) for term in (group if few else symbols))


_SEVERAL = -1


def _single_steps(formula: FNode) -> dict[FNode, int | None]:
    """For each node the step that it speaks of; ``_SEVERAL``, or None for a constant."""
    found: dict[FNode, int | None] = {}
    for node in post_order([formula]):
        if node.is_symbol():
            found[node] = unframed(node)[1]
        else:
            below = {found[argument] for argument in node.args()} - {None}
            found[node] = None if not below else below.pop() if len(below) == 1 else _SEVERAL
    return found


def _sharing(terms: Sequence[FNode]) -> list[list[FNode]]:
    """``terms`` in groups: those that have a symbol in common are in one."""
    groups: list[tuple[set[FNode], list[FNode]]] = []
    for term in terms:
        symbols, own = set(symbols_of(term)), [term]
        for group in [group for group in groups if group[0] & symbols]:
            groups.remove(group)
            symbols, own = symbols | group[0], [*group[1], *own]
        groups.append((symbols, own))
    return [own for _, own in groups]


def _bits(symbol: FNode) -> int:
    return 1 if symbol.get_type().is_bool_type() else int(symbol.bv_width())
