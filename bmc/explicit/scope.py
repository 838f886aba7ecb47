"""What an enumeration works on: the part of a system that matters, the inputs to try, and the start states.

A start value that init leaves open stays open as long as nothing reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Or

from bmc.evaluation.vectors import Column, arguments_of, node_count, walk
from bmc.explicit.input_classes import (
    InputTables,
    TooManyValues,
    all_values,
    combinations,
    combined_classes,
    input_tables,
    listed,
    merged_classes,
    value_count,
)
from bmc.explicit.rows import Rows, distinct
from bmc.explicit.splitting import FIXED, PartialProgram, TooManyCases
from bmc.explicit.state_graph import Arrows, StateGraph
from bmc.formulas.unroll import unframed, unplaced
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    TransitionSystem,
    conjunction,
    symbols_of,
)

MOST_STARTS = 1 << 22
"""Start states, by the values of variables that init leaves open."""


class ReadOpenValue(Exception):
    """Start values that were left open are read: those of ``variables``."""

    def __init__(self, variables: frozenset[str]) -> None:
        super().__init__()
        self.variables = variables


class Scope:
    """The part of a system that matters, and what is to be told apart.

    ``roots``: whether a step is allowed, the next state's variables, and the parts of the formulas that read the inputs
    of one step; all are over plain symbols.
    """

    def __init__(self, system: TransitionSystem, formulas: Sequence[FNode]) -> None:
        symbols = [unframed(s)[0] for formula in formulas for s in symbols_of(formula)]
        self.system = _relevant_part(replace(system, invariants=()), symbols)
        self.whole = system
        self.formulas = formulas
        self.inputs = {var.name for var in self.system.inputs}
        self.variables = self.inputs | {var.name for var in self.system.state}
        parts = _single_steps(formulas, self.variables)
        told = dict.fromkeys(term for terms in parts.values() for term in terms)
        step = self.system
        self.allowed = And(step.input_constraint, step.defined)
        self.nexts = [var.next for var in step.state]
        self.told = [term for term in told if self.reads_inputs(term)]
        self.roots = [self.allowed, *self.nexts, *self.told]
        self.size = node_count(self.roots)

    def reads_inputs(self, term: FNode) -> bool:
        """Whether ``term`` (over plain symbols) reads an input."""
        return any(symbol.symbol_name() in self.inputs for symbol in symbols_of(term))


def _relevant_part(system: TransitionSystem, observed: Sequence[str]) -> TransitionSystem:
    """``system`` with the state variables on which those ``observed`` and the steps' constraints depend.

    Only the inputs on which a step depends, and those ``observed``, are left.
    """
    own = {var.name for var in system.state} | {var.name for var in system.inputs}
    cone = system.cone(system.variable(name).symbol for name in dict.fromkeys(observed) if name in own)
    small = replace(system, state=cone, asserts=(), undefined_behaviour=(), invariants=())
    formulas = [small.input_constraint, small.defined, *(var.next for var in small.state)]
    kept = {*observed, *(node.symbol_name() for node in walk(formulas) if node.is_symbol())}
    return replace(small, inputs=tuple(var for var in system.inputs if var.name in kept))


def _step_read(order: Sequence[FNode], names: set[str], several: int) -> dict[FNode, int | None]:
    """For each node (framed) the one step of which it reads variables called ``names``, or ``several`` where it reads
    anything else too; None where it reads nothing."""
    step: dict[FNode, int | None] = {}
    for node in order:
        if node.is_symbol():
            name, at = unframed(node)
            step[node] = at if name in names else several
        else:
            below = {step[a] for a in arguments_of(node)} - {None}
            step[node] = None if not below else below.pop() if len(below) == 1 else several
    return step


def _single_steps(formulas: Sequence[FNode], names: set[str]) -> dict[int, list[FNode]]:
    """By step, the largest parts of ``formulas`` (framed) that read variables called ``names`` there only; plain."""
    several = -1
    step = _step_read(walk(formulas), names, several)
    found: dict[int, dict[FNode, None]] = {}
    todo = list(dict.fromkeys(formulas))
    seen = set(todo)
    while todo:
        node = todo.pop()
        here = step[node]
        if here is None:
            continue
        if here != several:
            found.setdefault(here, {})[node] = None
            continue
        arguments = arguments_of(node)
        joins = (node.is_and() or node.is_or()) and arguments == tuple(node.args())
        parts: dict[int | None, list[FNode]] = {}
        for argument in arguments:
            if joins and step[argument] != several:
                parts.setdefault(step[argument], []).append(argument)
            elif argument not in seen:
                seen.add(argument)
                todo.append(argument)
        for at_step, group in parts.items():
            if at_step is not None:
                found.setdefault(at_step, {})[And(group) if node.is_and() else Or(group)] = None
    return {at_step: unplaced(list(terms)) for at_step, terms in sorted(found.items())}


class Inputs:
    """The inputs to try: ``every`` combination (None: too many to be tried in every state), and group by group.

    ``tables`` is None where one input has too many values: ``obstacle`` says which.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.every: Rows | None = None
        self.tables: InputTables | None = None
        self.obstacle: TooManyValues | None = None

    def prepare(self) -> Iterator[int]:
        """Divide the inputs into classes. Yields the work done; TooManyValues where that has no end."""
        yield from self.tabulate()
        yield from self.combine()

    def tabulate(self) -> Iterator[int]:
        """Make the ``tables``; as ``prepare``."""
        for step in input_tables(self._scope.system.inputs, self._scope.roots):
            if isinstance(step, int):
                yield step
            else:
                self.tables = step

    def combine(self) -> Iterator[int]:
        """Make ``every`` combination of what the tables have; as ``prepare``."""
        system, tables = self._scope.system, self.tables
        if tables is not None:
            self.every = combined_classes(tables, self._scope.roots, [system.input_constraint, system.defined])
            if self.every is None:
                yield from self._merge(tables)
        yield FIXED

    def _merge(self, tables: InputTables) -> Iterator[int]:
        """Merge combinations of inputs of which the same is left of a step, where they are too many to be compared."""
        with suppress(TooManyCases):
            for step in merged_classes(tables, self._scope.roots):
                if isinstance(step, int):
                    yield step
                elif len(step):
                    self.every = step


@dataclass(frozen=True)
class FoundSteps:
    """For each step its state (by place), its input (by number) and the next state; where that is not known."""

    row: Column
    choice: Column
    nexts: list[Column]
    open_next: Mapping[str, Column]
    allowed_known: Column


OPEN = "open#"
"""Before the name of a variable: whether its value is one that init left open, or was calculated from such."""


class OpenValues:
    """Start values that init leaves open and that are not enumerated: all but those of the variables in ``told``.

    ``possible``: the variables that may hold such a value, or one calculated from such.
    """

    def __init__(self, scope: Scope, told: frozenset[str]) -> None:
        self._scope, self._told = scope, told
        self._nexts = {var.name: var.next for var in scope.system.state}
        left = [var.name for var in scope.system.state if var.init is None and var.name not in told]
        self._reads: dict[str, set[str]] = {}
        if left:
            self._reads = {n: {s.symbol_name() for s in symbols_of(formula)} for n, formula in self._nexts.items()}
        self._left = left
        holding = set(left)
        while more := {n for n, read in self._reads.items() if n not in holding and read & holding}:
            holding |= more
        self.possible = tuple(name for name in self._nexts if name in holding)
        self._programs: dict[FNode, PartialProgram] = {}

    def starts(self) -> Rows:
        """The start states. TooManyValues if there are too many."""
        system = self._scope.system
        told = [var for var in system.state if var.name in self._told]
        count = prod(value_count(var) for var in told)
        if count > MOST_STARTS:
            names = listed([var.name for var in told])
            raise TooManyValues(
                f"init leaves {names} open, which makes {count} start states, and their values are read",
                "set them in init",
            )
        fixed = Simulator(system).initial()
        values = {
            var.name: (all_values(var) if var.name in self._told else [fixed[var.name]], var.type.bits)
            for var in system.state
        }
        bits = {OPEN + name: ([int(name in self._left)], 0) for name in self.possible}
        return combinations({**values, **bits})

    def check_steps(
        self, columns: Mapping[str, Column], open_at: Mapping[str, Column], found: FoundSteps, inputs: Rows
    ) -> int:
        """The work of looking whether steps are allowed; ReadOpenValue where that depends on an open value."""
        unsure = np.flatnonzero(~found.allowed_known)
        if not unsure.size:
            return 0
        row, choice = found.row[unsure], found.choice[unsure]
        values = {name: column[row] for name, column in columns.items()}
        values.update((name, column[choice]) for name, column in inputs.columns.items())
        self._value(self._scope.allowed, values, {name: ~mask[row] for name, mask in open_at.items()})
        return FIXED + len(unsure)

    def check_formulas(self, graph: StateGraph) -> Iterator[int]:
        """Yields the work done; ReadOpenValue if a formula that is told apart depends on an open value on some run."""
        if graph.states.open:
            for formula in self._scope.formulas:
                yield from self._check_formula(formula, graph)

    def _check_formula(self, formula: FNode, graph: StateGraph) -> Iterator[int]:
        """Follow all runs on which ``formula`` may hold: what it says of a step matters only if all before is true."""
        layers = _Layers(formula, self._scope.variables)
        present = np.arange(len(graph.states))
        for step in range(layers.steps):
            condition, terms = layers.condition(step), layers.others.get(step, [])
            sources = Arrows(graph.steps.offsets, graph.steps.nexts).of(present)[0]
            if any(self._scope.reads_inputs(term) for term in (condition, *terms)):
                states, choices = graph.steps.sources[sources], graph.steps.choices[sources]
            else:
                states, choices = present, None
            yield (len(terms) + 1) * (FIXED + len(states))
            holds = np.broadcast_to(self._at(condition, graph, states, choices), states.shape)
            kept = states[holds], None if choices is None else choices[holds]
            for term in terms:
                self._at(term, graph, *kept)
            if choices is not None:
                sources = sources[holds]
            else:
                sources = Arrows(graph.steps.offsets, graph.steps.nexts).of(kept[0])[0]
            present = distinct(graph.steps.nexts[sources]).astype(np.int64)

    def _at(self, term: FNode, graph: StateGraph, states: Column, choices: Column | None) -> Column:
        """The values of ``term`` in ``states``, under the inputs ``choices``; ReadOpenValue if one is not known."""
        values = {name: column[states] for name, column in graph.states.columns.items()}
        if choices is not None:
            values.update((name, column[choices]) for name, column in graph.inputs.columns.items())
        return self._value(term, values, {name: ~mask[states] for name, mask in graph.states.open.items()})

    def _value(self, term: FNode, columns: Mapping[str, Column], known: Mapping[str, Column]) -> Column:
        if term not in self._programs:
            self._programs[term] = PartialProgram([term])
        program = self._programs[term]
        done = program.evaluate(columns, known)
        left, _ = program.left(done, [0])
        read = {name for name, place in program.names.items() if place in left}
        if read:
            raise ReadOpenValue(self.origins(read))
        return done.values[program.roots[0]]

    def origins(self, names: Iterable[str]) -> frozenset[str]:
        """The variables whose start values may have come to be those of ``names``."""
        found = set(names)
        while more := {n for name in found for n in self._reads[name] if n in self._reads} - found:
            found |= more
        return frozenset(found & set(self._left))


class _Layers:
    """What ``formula`` (framed) says, by step: conditions that it needs, and the terms that the rest of it reads."""

    def __init__(self, formula: FNode, names: set[str]) -> None:
        self._conditions: dict[int, list[FNode]] = {}
        self.others: dict[int, list[FNode]] = {}
        todo = [formula]
        while todo:
            part = todo.pop()
            if part.is_and() and arguments_of(part) == tuple(part.args()):
                todo += part.args()
                continue
            places = {unframed(symbol) for symbol in symbols_of(part)}
            whole = len({step for _, step in places}) == 1 and all(name in names for name, _ in places)
            kept = self._conditions if whole and part.get_type().is_bool_type() else self.others
            for step, terms in _single_steps([part], names).items():
                kept.setdefault(step, []).extend(terms)
        self.steps = max([*self._conditions, *self.others], default=-1) + 1

    def condition(self, step: int) -> FNode:
        """What has to hold at ``step``."""
        return conjunction(self._conditions.get(step, []))
