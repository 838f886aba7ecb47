"""Modes: what several variables, or C expressions, are together. Their states, transitions and pairs of transitions.

Which there are is found out: those of the reachable states, where these can be enumerated with little work, else all
combinations of the values that each part is proved to keep to. Goals that no run covers are then among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise, product
from math import prod

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE

from bmc.analysis.spans import patterns_of
from bmc.analysis.state_values import state_values, values_of
from bmc.errors import InputRefused, Location
from bmc.evaluation.vectors import Column, Program
from bmc.explicit.enumeration import PORTION, Enumeration
from bmc.explicit.state_graph import StateGraph
from bmc.floats.format import FORMATS
from bmc.formulas.terms import both, choose, constant, either, equals, negate
from bmc.formulas.unroll import at, with_terms
from bmc.formulas.value_sets import Ranges, common, united, values
from bmc.models.model import Model
from bmc.models.undetermined import Need, refuse_needed
from bmc.records import dataclass
from bmc.system.memory import Memory, with_memory
from bmc.system.names import DEFINED
from bmc.system.transition import TransitionSystem, ValueType, conjunction, symbols_of
from properties.goal import Goal, goal_length
from properties.text import read_value
from properties.values import MOST_GOALS, MOST_STATES, is_value

WORK = 100_000_000
"""Operations on single values within which the reachable states are enumerated: about a quarter of a second."""

MOST_POSSIBLE = 100_000
"""Sequences of modes that are put together where the reachable states are not known."""

Mode = tuple[int, ...]
"""A raw value for each part."""


@dataclass(frozen=True)
class Part:
    """One of the expressions: its value (``term``) where that is ``defined``, plain formulas."""

    term: FNode
    defined: FNode
    type: ValueType

    def has(self, value: int) -> FNode:
        """That it is defined and has the raw ``value``."""
        return both(self.defined, is_value(self.term, self.type, value))

    def show(self, value: int) -> str:
        """What the raw ``value`` is called."""
        return self.type.show(self.type.value(value))

    def same(self, value: int) -> int:
        """The value that stands for all that equal the raw ``value``: both zeros are one."""
        return 0 if self.type.floating and value == FORMATS[self.type.bits].sign else value


Place = tuple[Sequence[Part], int]
"""Parts, and the step, from that of a goal on, at which they are looked at."""


@dataclass(frozen=True)
class Modes:
    """The modes of ``parts``, called ``name``, in ``system``: a tuple of values, or one value ``alone``.

    ``declared``: the raw values that the project says state variables have.
    """

    system: TransitionSystem
    where: Location
    name: str
    parts: tuple[Part, ...]
    alone: bool
    declared: Mapping[str, Ranges] = field(default_factory=dict)

    @staticmethod
    def of(model: Model, system: TransitionSystem, texts: Sequence[str], where: Location) -> Modes:
        """The modes of the expressions ``texts``. InputRefused, with its place, if one cannot be read."""
        parts = tuple(Part(*read_value(model, text, where)) for text in texts)
        name = ",".join("".join(text.split()) for text in texts)
        name = name if len(texts) == 1 else f"({name})"
        needs = [Need(f"the modes of {name}", (part.term, part.defined)) for part in parts]
        refuse_needed(model.undetermined, needs)
        return Modes(set_at_once(system), where, name, parts, len(texts) == 1, declared_ranges(model, system, where))

    def states(self) -> list[Goal]:
        """One goal for each mode."""
        return self._goals("states", [(self.parts, 0)], Memory(""))

    def transitions(self) -> list[Goal]:
        """One goal for each ordered pair of modes: one before a step, the other after it."""
        return self._goals("transitions", [(self.parts, 0), (self.parts, 1)], Memory(""))

    def pairs(self) -> list[Goal]:
        """One goal for each two transitions that follow each other, with no other one in between."""
        if self._reads_inputs():
            text = f"pairs({self.name}) reads an input, which no step changes"
            raise InputRefused(text, self.where, "name variables of the state, or outputs")
        memory = Memory(f"pairs({self.name})")
        return self._goals("pairs", [(self._before(memory), 0), (self.parts, 0), (self.parts, 1)], memory)

    def _reads_inputs(self) -> bool:
        inputs = {var.name for var in self.system.inputs}
        return any(symbol.symbol_name() in inputs for part in self.parts for symbol in symbols_of(part.term))

    def _before(self, memory: Memory) -> list[Part]:
        """What the parts were before they changed last; not defined as long as they have not changed."""
        after = {var.symbol: var.next for var in self.system.state}
        differs, defined = FALSE(), conjunction(part.defined for part in self.parts)
        for part in self.parts:
            differs = either(differs, negate(equals(with_terms([part.term], after)[0], part.term)))
        changes = conjunction([differs, defined, with_terms([defined], after)[0]])
        changed = memory.fresh()
        memory.keep(changed, either(changed, changes))
        kept = [memory.fresh(ValueType("memory", part.type.bits)) for part in self.parts]
        for symbol, part in zip(kept, self.parts, strict=True):
            memory.keep(symbol, choose(changes, part.term, symbol))
        return [Part(symbol, changed, part.type) for symbol, part in zip(kept, self.parts, strict=True)]

    def _goals(self, kind: str, places: Sequence[Place], memory: Memory) -> list[Goal]:
        found = self._met(places, memory)
        if found is None:
            found = self._possible(len(places))
        changing = [modes for modes in found if all(a != b for a, b in pairwise(modes))]
        most = MOST_STATES if len(places) == 1 else MOST_GOALS
        if len(changing) > most:
            text = f"{kind}({self.name}) has {len(changing)} goals, and at most {most} can be goals"
            raise InputRefused(text, self.where, "name fewer variables, or expressions of few values: (x > 3)")
        return [self._goal(f"{kind}({self.name})", places, modes, memory) for modes in changing]

    def _goal(self, criterion: str, places: Sequence[Place], modes: Sequence[Mode], memory: Memory) -> Goal:
        labels = [self._label(mode) for mode in modes]
        antecedent = conjunction(
            at(conjunction(part.has(value) for part, value in zip(parts, mode, strict=True)), step)
            for (parts, step), mode in zip(places, modes, strict=True)
        )
        last = labels[-2:]
        text = " && ".join([f"{self.name} == {last[0]}", *(f"X({self.name} == {label})" for label in last[1:])])
        text = f"{text}, after {labels[0]}" if len(labels) > 2 else text
        length = max(places[-1][1], goal_length([antecedent], {var.name for var in self.system.inputs}))
        name, kept = f"{criterion}={'->'.join(labels)}", tuple(memory.variables)
        return Goal(name, antecedent, None, length, text, generated=criterion, memory=kept)

    def _label(self, mode: Mode) -> str:
        shown = [part.show(value) for part, value in zip(self.parts, mode, strict=True)]
        return shown[0] if self.alone else f"({','.join(shown)})"

    def _met(self, places: Sequence[Place], memory: Memory) -> list[tuple[Mode, ...]] | None:
        """What there is in reachable states, and in steps between them; None where these are not enumerated."""
        graph = None if self._reads_inputs() else self._enumerated(memory)
        if graph is None:
            return None
        width, steps = len(self.parts), graph.steps
        tables = [_table(graph, parts) for parts, _ in places]
        if len(places) > 1:
            among = (steps.sources, steps.nexts)
            tables = [table[among[step]] for table, (_, step) in zip(tables, places, strict=True)]
        rows = np.concatenate(tables, axis=1)
        rows = np.unique(rows[np.all(rows[:, :: width + 1] == 1, axis=1)], axis=0)
        found: dict[tuple[Mode, ...], None] = {}
        for row in rows.tolist():
            modes = [row[first + 1 : first + width + 1] for first in range(0, len(row), width + 1)]
            found[tuple(self._same(mode) for mode in modes)] = None
        return [*found]

    def _same(self, mode: Sequence[int]) -> Mode:
        return tuple(part.same(value) for part, value in zip(self.parts, mode, strict=True))

    def _enumerated(self, memory: Memory) -> StateGraph | None:
        """All reachable states, on what the parts read."""
        terms = [term for part in self.parts for term in (part.term, part.defined)]
        read = dict.fromkeys(symbol for term in terms for symbol in symbols_of(term))
        symbols = [*read, *(var.symbol for var in memory.variables)]
        enumeration = Enumeration(with_memory(self.system, memory.variables), [at(_told(each), 0) for each in symbols])
        while not enumeration.done and enumeration.work < WORK:
            enumeration.advance(PORTION)
        return enumeration.graph

    def _possible(self, number: int) -> list[tuple[Mode, ...]]:
        """All sequences of so many modes, of the values that each part is proved to keep to."""
        sets = state_values(self.system)
        told = []
        if sets is not None:
            sets = {name: common(ranges, self.declared.get(name, ranges)) for name, ranges in sets.items()}
            told = values_of([part.term for part in self.parts], self.system, sets)
        each = [values(ranges, MOST_GOALS) or () for ranges in told]
        if not 0 < prod(map(len, each)) ** number <= MOST_POSSIBLE or not told:
            text = f"the values of '{self.name}' are too many, or not found out with little work"
            raise InputRefused(text, self.where, "name expressions of few values, such as (x > 3), or give [ranges]")
        modes = [*dict.fromkeys(self._same(mode) for mode in product(*each))]
        return [*product(modes, repeat=number)]


def set_at_once(system: TransitionSystem) -> TransitionSystem:
    """``system``, with a start value for all variables that have none until a step sets them.

    No allowed step reads one before, and no mode looks at it. It is the least value that a step may give it.
    """
    begins_open = {
        var.name for var in system.state if var.init is not None and var.init.is_false() and var.name.endswith(DEFINED)
    }
    unset = [var for var in system.state if var.init is None and var.name + DEFINED in begins_open]
    if not unset:
        return system
    made = _starting(system, {var.name: 0 for var in unset})
    sets = state_values(made)
    if sets is None:
        return made
    given = values_of([var.next for var in unset], made, sets)
    return _starting(
        system, {var.name: ranges[0][0] if ranges else 0 for var, ranges in zip(unset, given, strict=True)}
    )


def _starting(system: TransitionSystem, values: Mapping[str, int]) -> TransitionSystem:
    state = (
        replace(var, init=constant(values[var.name], var.type.bits), starts=()) if var.name in values else var
        for var in system.state
    )
    return replace(system, state=tuple(state))


def declared_ranges(model: Model, system: TransitionSystem, where: Location) -> dict[str, Ranges]:
    """The raw values that the project says state variables have."""
    state, found = {var.name: var for var in system.state}, dict[str, Ranges]()
    for variable in model.variables:
        texts = model.declared(variable) if variable.name in state else None
        if isinstance(texts, str | tuple):
            spans = model.ranges(variable, texts, where)
            found[variable.name] = united(patterns_of(state[variable.name], spans))
    return found


def _told(symbol: FNode) -> FNode:
    """A condition that reads ``symbol``, of which all values are to be told apart."""
    kind = symbol.get_type()
    return symbol if kind.is_bool_type() else symbol.Equals(BV(0, kind.width))


def _table(graph: StateGraph, parts: Sequence[Part]) -> Column:
    """For each state a row: whether the ``parts`` are defined, and what they are."""
    columns = Program([conjunction(part.defined for part in parts), *(part.term for part in parts)])(
        graph.states.columns
    )
    return np.stack([np.broadcast_to(column, (len(graph.states),)).astype(np.uint64) for column in columns], axis=1)
