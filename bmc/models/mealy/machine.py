"""A machine as a model: its transition system over ``state``, ``input`` and ``output``, and what is called how."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, BVExtract

from bmc.errors import InputRefused, Location
from bmc.formulas.terms import both, choose, constant, equals
from bmc.formulas.value_sets import Ranges, joined
from bmc.models.mealy.dot import Machine
from bmc.models.mealy.language import MachineLanguage, MachineVariable
from bmc.models.mealy.original import RunningMachine
from bmc.models.model import Quantity
from bmc.models.undetermined import NOTHING
from bmc.system.names import suggestion
from bmc.system.original import Opener
from bmc.system.transition import (
    Condition,
    InputVariable,
    StateVariable,
    TransitionSystem,
    ValueType,
    between,
    conjunction,
)

NO_OUTPUT = "no output yet"
"""The output of a Mealy machine before its first step."""

BITS = 32
"""The width of all variables: machines of one process have them in common, and a symbol has one type only."""


class MachineModel:
    """A machine that has been read. The output is that of the last step; at the start that of a Moore machine's start
    state."""

    decisions = ()
    assumed = ()
    unproved_ends = ()
    unconfirmed = ()
    undetermined = NOTHING
    original_is = "the machine itself"
    described: Mapping[str, Any] = {"defines": {}, "target": "", "init": [], "step": ""}

    def __init__(self, machine: Machine, separator: str = "/") -> None:
        tried = {each.output: None for each in machine.transitions}
        first = NO_OUTPUT if machine.first is None else machine.first
        while machine.first is None and first in tried:
            first += "'"
        labels = {"input": machine.inputs, "state": machine.states, "output": tuple({first: None} | tried)}
        self._named = {name: _variable(name, labels[name]) for name in labels}
        self.variables = tuple(self._named.values())
        self.system = _system(machine, self._named)
        lacking = len(machine.states) * len(machine.inputs) - len(machine.transitions)
        told = f"in {lacking} pairs of a state and an input no arrow has the input, which is not allowed there"
        self.notes = (told,) if lacking else ()
        self._machine, self._separator = machine, separator

    @property
    def original(self) -> Opener:
        """The machine itself, as a second reader reads it."""
        return contextmanager(self._open)

    def _open(self, kept: bool) -> Iterator[RunningMachine]:
        yield RunningMachine(self._machine.file, self._separator, {each.name: each.type for each in self.variables})

    def parts(self, kind: str) -> Sequence[Condition]:
        """A condition for each of its states, or of its transitions, ``SOURCE -INPUT/OUTPUT-> TARGET``."""
        at = self._named["state"].each()
        if kind == "states":
            return [Condition(name, formula) for name, formula in at.items()]
        if kind != "transitions":
            return ()
        on, mealy, found = self._named["input"].each(), self._machine.first is None, []
        for each in self._machine.transitions:
            label = f"{each.input}{self._separator}{each.output}" if mealy else each.input
            taken, place = both(at[each.source], on[each.input]), Location(self._machine.file, each.line)
            found.append(Condition(f"{each.source} -{label}-> {each.target}", taken, place))
        return found

    def value_names(self, names: Iterable[str], texts: Iterable[str]) -> Mapping[str, Mapping[int, str]]:
        """Nothing: values have labels."""
        return {}

    def language(self, where: Location, operators: Collection[str]) -> MachineLanguage:
        return MachineLanguage(self._named, where, operators)

    def declared(self, quantity: Quantity) -> dict[int, str] | None:
        return {number: label for label, number in quantity.type.labels} or None

    def ranges(self, quantity: Quantity, values: str | tuple[str, ...], where: Location) -> Ranges:
        if isinstance(values, tuple):
            return joined((number, number) for number in (self.constant(quantity, text, where) for text in values))
        ends = [values] if values in self._values(quantity) else values.split("..")
        numbers = [self.constant(quantity, text, where) for text in ends]
        if len(numbers) > 2 or numbers[0] > numbers[-1]:
            raise InputRefused(f"the range of '{quantity.name}' is empty", where)
        return ((numbers[0], numbers[-1]),)

    def constant(self, quantity: Quantity, text: str, where: Location) -> int:
        values = self._values(quantity)
        for word in (text, text.strip(), text.strip()[1:-1]):  # as it is, and out of double quotes
            if word in values:
                return values[word]
        raise InputRefused(f"'{text}' is no value of '{quantity.name}'", where, suggestion(text, values))

    def _values(self, quantity: Quantity) -> Mapping[str, int]:
        known = self._named.get(quantity.type.name)
        return known.values if known else {"false": 0, "true": 1}


def _variable(name: str, labels: Sequence[str]) -> MachineVariable:
    values = {label: number for number, label in enumerate(labels)}
    return MachineVariable(name, ValueType(name, BITS, labels=tuple(values.items())), name, values)


def _system(machine: Machine, named: Mapping[str, MachineVariable]) -> TransitionSystem:
    given, kept, told = (named[name].type for name in ("input", "state", "output"))
    states, outputs = named["state"].values, named["output"].values
    state, nothing = kept.symbol("state"), told.constant(0)  # where a step is not allowed
    moves = {(each.source, each.input): each for each in machine.transitions}
    allowed, targets, results = [], [], []  # by input, what it does in each state
    for value in machine.inputs:
        row = [moves.get((source, value)) for source in machine.states]
        changes = [move if move and move.target != move.source else None for move in row]
        allowed.append(_lookup(state, [TRUE() if move else FALSE() for move in row]))
        targets.append(_lookup(state, [kept.constant(states[move.target]) if move else state for move in changes]))
        results.append(_lookup(state, [told.constant(outputs[move.output]) if move else nothing for move in row]))
    entered, tried = InputVariable("input", given, ((0, len(machine.inputs) - 1),)), given.symbol("input")
    variables = (
        StateVariable("state", kept, kept.constant(states[machine.start]), _lookup(tried, targets)),
        StateVariable("output", told, nothing, _lookup(tried, results), "output"),
    )
    constraint = conjunction([between(tried, given, *entered.values[0]), _lookup(tried, allowed)])
    return TransitionSystem(Path(machine.file).stem, variables, (entered,), constraint)


def _lookup(index: FNode, values: list[FNode]) -> FNode:
    """The one of ``values`` whose place is ``index``, by a tree of choices, one level for each bit of ``index``."""
    place = 0
    while len(values) > 1:
        bit = equals(BVExtract(index, place, place), constant(1, 1))
        pairs = zip_longest(values[::2], values[1::2])
        values = [low if high is None else choose(bit, high, low) for low, high in pairs]
        place += 1
    return values[0]
