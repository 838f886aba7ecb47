"""Sets of values that the state variables of a system never leave, found without a solver.

The sets are those of raw patterns (``bmc.analysis.values``). Variables that depend on each other, over any number of
steps, are a component. Components are looked at one by one, those first on which others depend: from its start values
a component's sets grow as steps lead out of them, spans soon up to the next constant that concerns the variable, until
nothing grows; then they are intersected with what a step leads to from them. Hence the sets of a variable follow from
what it depends on alone, where no conditions restrict the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.components import strongly_connected
from bmc.analysis.spans import closed, patterns_of, spans_of
from bmc.analysis.values import Evaluation, narrowed, sets_of
from bmc.analysis.widening import Ends, widened
from bmc.floats.operations import Program
from bmc.formulas.evaluate import post_order
from bmc.formulas.folding import raw_value
from bmc.formulas.value_sets import NEVER, PIECES, Ranges, common, united, whole, without
from bmc.records import dataclass
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, conjunction, conjuncts

EXACT_GROWTHS = 3
"""After so many growths a span that grows does so up to the next value that concerns its variable; one of whole numbers
every other time, since it may end soon behind such a value."""
FLOAT_GROWTHS = 5
"""The same for floating variables."""
WIDENINGS = 9
"""At the last of so many growths after these a span grows up to the outermost such value, then up to all values."""
DESCENTS = 2
"""Times that sets which grow no more are intersected with what a step leads to from them."""
FEW = 8
"""A floating variable with up to so many spans of values is followed from each of them alone."""
MOST_EVALUATED = 200_000
"""Sets of instructions that are found; then all variables of the components that are left have all values. A step of
11,000 lines takes half as many."""
MOST_KNOWN = 8
"""Of so many systems the sets are kept: several stages of a run ask for those of the same one."""

Sets = Mapping[str, Ranges]
"""Raw patterns by name."""


@dataclass(frozen=True, slots=True)
class _Settled:
    """The sets of a system's variables, and with these and all values of the inputs those of the ``formulas`` of a
    step. Of these none where conditions restrict the steps: they have more values where no step need follow."""

    sets: Sets
    variables: Set[StateVariable]
    inputs: Sequence[InputVariable]
    formulas: Mapping[FNode, Ranges]


_KNOWN: dict[tuple[Hashable, ...], _Settled] = {}


def _of_whole(system: TransitionSystem) -> _Settled | None:
    """The sets of a part of a system whose sets are known, where no conditions restrict the steps of either."""
    if not _free(system):
        return None
    for known in _KNOWN.values():
        if known.formulas and {*system.state} <= known.variables and {*system.inputs} <= {*known.inputs}:
            sets = {var.name: known.sets[var.name] for var in system.state}
            return replace(known, sets=sets, variables={*system.state}, inputs=system.inputs)
    return None


def _free(system: TransitionSystem) -> bool:
    return bool(system.input_constraint.is_true() and system.defined.is_true())


def state_values(system: TransitionSystem, stop: Callable[[], bool] = lambda: False) -> Sets | None:
    """Patterns of the state variables that hold in every start state and again after every allowed step.

    Those of floating variables have both zeros where there is one, and every NaN. None if ``stop``, asked each time
    that sets have grown, says that it is time to end.
    """
    key = system.state, system.inputs, system.input_constraint, system.defined
    if key not in _KNOWN:
        found = _of_whole(system)
        if found is None:
            fixpoint = _Fixpoint(system)
            if fixpoint.begins() and not all(fixpoint.settle(each, stop) for each in fixpoint.components()):
                return None
            found = fixpoint.settled()
        if len(_KNOWN) >= MOST_KNOWN:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[key] = found
    return _KNOWN[key].sets


def every_step(system: TransitionSystem) -> TransitionSystem:
    """``system`` with steps that are not allowed, or undefined, taken as well: its sets hold after these too."""
    return replace(system, defined=TRUE(), input_constraint=TRUE())


def values_of(formulas: Sequence[FNode], system: TransitionSystem, sets: Sets, refined: bool = True) -> list[Ranges]:
    """The sets of ``formulas`` (plain) in all states within ``sets``, for all allowed values of inputs; ``refined`` as
    in ``sets_of``."""
    known = (each.formulas for each in _KNOWN.values() if each.sets is sets and each.inputs == system.inputs)
    return sets_of(Program(formulas), {**sets, **input_values(system)}, next(known, None), refined)


def input_values(system: TransitionSystem) -> Sets:
    """The allowed patterns of the inputs, each by itself."""
    return {var.name: united(raw_ranges(var)) for var in system.inputs}


def start_values(system: TransitionSystem) -> Sets:
    """The patterns of the state variables in start states, each by itself."""
    return {var.name: _start(var) for var in system.state}


def raw_ranges(var: InputVariable) -> Ranges:
    """The allowed values as rising ranges over raw patterns."""
    size = 1 << max(var.type.bits, 1)
    found: list[tuple[int, int]] = []
    for low, high in var.values:
        first, last = low % size, high % size
        found += [(first, last)] if first <= last else [(first, size - 1), (0, last)]
    return tuple(sorted(found)) if found else whole(var.type.bits)


def _start(var: StateVariable) -> Ranges:
    if var.init is not None:
        return closed(var, [(raw_value(var.init), raw_value(var.init))])
    if not var.starts:
        return whole(var.type.bits)
    return closed(var, var.starts if var.type.floating else patterns_of(var, var.starts))


@dataclass(frozen=True, slots=True)
class _Component:
    """The ``places`` of instructions that depend on each other, rising, and the variables among them.

    ``condition`` is what restricts the steps by these variables, and by inputs: all symbols called ``named``.
    """

    places: Sequence[int]
    variables: Sequence[StateVariable]
    condition: FNode
    named: Sequence[str]


class _Fixpoint:
    """The sets as they are ``now``, and those of all instructions of a step from them."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self.now = {**start_values(system)}
        symbols = [*(var.symbol for var in system.state), *(var.symbol for var in system.inputs)]
        self._program = Program([*(var.next for var in system.state), *symbols])
        self._places = {symbol.symbol_name(): self._program.places[symbol] for symbol in symbols}
        self._variables = {self._program.places[var.symbol]: var for var in system.state}
        self._evaluation = Evaluation(self._program)
        self._inputs = input_values(system)
        self._box = {**self.now, **self._inputs}
        self._growths = dict.fromkeys(self.now, 0)
        self._left = MOST_EVALUATED

    def begins(self) -> bool:
        """Whether there may be an allowed step from a start state."""
        here = narrowed(self._system.input_constraint, self._box)
        here = None if here is None else narrowed(self._system.defined, here)
        return here is not None and sets_of(Program([self._system.defined]), here) != [NEVER]

    def components(self) -> list[_Component]:
        """First those on which others depend.

        A variable depends on its next state, and the symbols that conditions on a step name together on each other.
        """
        after = [[*instruction.arguments] for instruction in self._program.instructions]
        for place, var in self._variables.items():
            after[place].append(self._program.places[var.next])
        together = _together([*conjuncts(self._system.input_constraint), *conjuncts(self._system.defined)])
        for named, _ in together:
            for name, other in zip(named, [*named[1:], named[0]], strict=True):
                after[self._places[name]].append(self._places[other])
        numbers = strongly_connected(after, range(len(after)))
        places: list[list[int]] = [[] for _ in range(max(numbers, default=-1) + 1)]
        for place, number in enumerate(numbers):
            places[number].append(place)
        here: dict[int, list[tuple[Sequence[str], Sequence[FNode]]]] = {}
        for named, parts in together:
            here.setdefault(numbers[self._places[named[0]]], []).append((named, parts))
        return [self._component(each, here.get(number, [])) for number, each in enumerate(places)]

    def _component(
        self, places: Sequence[int], together: Sequence[tuple[Sequence[str], Sequence[FNode]]]
    ) -> _Component:
        variables = [self._variables[place] for place in places if place in self._variables]
        condition = conjunction(part for _, parts in together for part in parts)
        return _Component(places, variables, condition, [name for named, _ in together for name in named])

    def settled(self) -> _Settled:
        """What has been found when all components are settled."""
        found = zip(self._program.instructions, self._evaluation.found, strict=True) if _free(self._system) else ()
        formulas = {instruction.node: ranges for instruction, ranges in found if ranges}
        return _Settled(self.now, {*self._system.state}, self._system.inputs, formulas)

    def settle(self, component: _Component, stop: Callable[[], bool]) -> bool:
        """Find the sets of one component. False if ``stop`` ends that."""
        if self._left < 0:
            self._give_up(component)
            return True
        ends = cache(lambda: Ends(self._program, component.places, component.variables, self._evaluation.found))
        after = self._after(component)
        while [var for var in component.variables if self._grows(var, after[var.name], ends)]:
            if stop():
                return False
            if self._left < 0:
                self._give_up(component)
                return True
            after = self._after(component)
        for _ in range(DESCENTS):
            if not [var for var in component.variables if self._falls(var, after[var.name])]:
                break
            after = self._after(component)
        return True

    def _give_up(self, component: _Component) -> None:
        """Its variables have all values, and nothing is known of its instructions."""
        self.now.update((var.name, whole(var.type.bits)) for var in component.variables)
        for place in component.places:
            self._evaluation.found[place] = ()

    def _grows(self, var: StateVariable, after: Ranges, ends: Callable[[], Ends]) -> bool:
        """Add the values ``after`` a step, and more the more often the set has grown. Whether it grows."""
        before = self.now[var.name]
        grown = closed(var, [*before, *after])
        if grown == before:
            return False
        self._growths[var.name] += 1
        growths = self._growths[var.name] - (FLOAT_GROWTHS if var.type.floating else EXACT_GROWTHS)
        if growths > WIDENINGS:
            grown = whole(var.type.bits)
        elif growths > 0 and (growths % 2 or var.type.floating):
            grown = widened(var, grown, before, ends().of(var, growths == WIDENINGS))
        self.now[var.name] = grown
        return True

    def _falls(self, var: StateVariable, after: Ranges) -> bool:
        """Leave out the values that no start state has and no step leads to. Whether there are some.

        What steps lead to from the sets lies within them, so what they lead to from fewer values does.
        """
        before = self.now[var.name]
        lower = common(before, closed(var, [*_start(var), *after]))
        if lower == before or len(lower) > PIECES:
            return False
        self.now[var.name] = lower
        return True

    def _after(self, component: _Component) -> Sets:
        """The values after an allowed step from the sets as they are now."""
        self._box.update((var.name, self.now[var.name]) for var in component.variables)
        every = {name: self.now.get(name) or self._inputs[name] for name in component.named}
        here = narrowed(component.condition, every)
        self._box.update(here or every)
        self._evaluate(component)
        return {var.name: () if here is None else self._following(var, component) for var in component.variables}

    def _evaluate(self, component: _Component) -> None:
        self._left -= self._evaluation.again(component.places, self._box)

    def _following(self, var: StateVariable, component: _Component) -> Ranges:
        """The values of one variable after a step.

        Floating ones of few values are followed from each of these alone. It is often told then which way the step
        goes: ``mode < 2.0 ? mode + 1.0 : mode``.
        """
        found, place = self._evaluation.found, self._program.places[var.next]
        after, box = found[place], self._box[var.name]
        spans = spans_of(var, box) if var.type.floating and len(component.places) > 1 else ()
        if not 1 < len(spans) <= FEW:
            return after
        ways: list[tuple[int, int]] = []
        for each in spans:
            self._box[var.name] = common(box, closed(var, patterns_of(var, [each])))
            self._evaluate(component)
            ways += found[place]
        self._box[var.name] = box
        self._evaluate(component)
        return common(after, united(ways))


def _together(conditions: Sequence[FNode]) -> list[tuple[Sequence[str], Sequence[FNode]]]:
    """Names that occur in ``conditions`` with each other, directly or by way of others, and the conditions on them."""
    nodes = [node for node in post_order(conditions) if not node.is_constant()]
    places = {node: place for place, node in enumerate(nodes)}
    near: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        for other in (places[argument] for argument in node.args() if argument in places):
            near[place].append(other)
            near[other].append(place)
    numbers = strongly_connected(near, range(len(near)))
    found: dict[int, tuple[list[str], list[FNode]]] = {}
    for number, node in zip(numbers, nodes, strict=True):
        if node.is_symbol():
            found.setdefault(number, ([], []))[0].append(node.symbol_name())
    for condition in conditions:
        if condition in places and numbers[places[condition]] in found:
            found[numbers[places[condition]]][1].append(condition)
    return [*found.values()]


LATCH_NODES = 200_000
"""Nodes of formulas that are looked at, two times, before further variables are no longer looked at as latches."""


def latches(system: TransitionSystem, names: Collection[str]) -> Mapping[str, bool]:
    """Those of the state variables ``names`` that, once they have another value, never have their start value again.

    A step from all other values in the proved ranges of the state leads to such values again, whatever the inputs are
    and whether or not it is defined. True: the first step of every run leaves the start value. Some may be missed.
    """
    free = every_step(system)
    sets = state_values(free)
    assert sets is not None
    starts = {v.name: raw_value(v.init) for v in system.state if v.init is not None}
    found = {}
    left = LATCH_NODES
    for var in system.state:
        if var.name not in names or var.name not in starts:
            continue
        left -= len(post_order([var.next]))
        if left < 0:
            break
        start = ((starts[var.name],) * 2,)
        others = common(sets[var.name], without(starts[var.name], var.type.bits))
        if others and not any(common(_values_after(free, var, {**sets, var.name: (part,)}), start) for part in others):
            first = {**sets, **{name: ((raw, raw),) for name, raw in starts.items()}}
            found[var.name] = not common(_values_after(free, var, first), start)
    return found


def _values_after(system: TransitionSystem, var: StateVariable, sets: Sets) -> Ranges:
    """The values of ``var`` after a step from the states within ``sets``."""
    return values_of([var.next], system, sets)[0]
