"""Whether the compiled original takes the steps of a table, and whether functions of the C library yield what the file
says: values within their bounds, as the library of this machine has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from pysmt.fnode import FNode

from bmc.errors import CheckDisagreed, InputRefused, LimitReached, NoOriginal, counted
from bmc.evaluation.vectors import Column, Program, column
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.native.mathematics import Library
from bmc.records import dataclass
from bmc.system.original import Opener, Original
from bmc.system.transition import StateVariable, Valuation
from chaincover.project.values import Variable, show_value, shown
from chaincover.subject import Subject
from chaincover.verification.inputs import distinct
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, NOTE, OPEN, WRONG, Line, limited
from chaincover.verification.states import Table, rows_of
from properties.one_step import MONITOR

MODEL = "the model"

Terms = Mapping[str, FNode]
"""What some variables are in the normal form of a state, by name."""
Compute = Callable[[Sequence[FNode]], Callable[[Mapping[str, Any]], Sequence[Any]]]
"""How formulas are evaluated, on values or on columns."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """``on``: the compiler of the original that the steps were run on, or ``MODEL``; ``why`` not all were, if so.

    ``differences`` tell where the original goes another way than the table.
    """

    on: str
    why: str = ""
    differences: tuple[str, ...] = ()

    def told(self, steps: int) -> str:
        """Where the ``steps`` of the table come from."""
        if self.on == MODEL:
            return f"the steps of {self.on} ({self.why})"
        return f"{self.why or f'all {steps} steps'} run on {self.on}"


def confirm(
    table: Table,
    opener: Opener,
    clock: Clock,
    forms: Mapping[FNode, FNode] | None = None,
    steps: int | None = None,
) -> Confirmation:
    """Run the steps of ``table`` on the compiled original: all of them, or as many as the limit allows, evenly spread.

    ``forms`` say how the original's states get into the normal form that the table's are in; ``steps`` how many there
    are where the table has some of them only.

    If none of all differs the table is the original's own: it holds the state after init and is closed under all
    allowed steps.
    """
    if clock.over:
        return Confirmation(MODEL, "no time was left")
    most = clock.limits.original
    chosen = np.arange(table.steps) if table.steps <= most else np.linspace(0, table.steps - 1, most).astype(np.int64)
    every = table.steps if steps is None else steps
    why = f"{len(chosen)} of {every} steps" if len(chosen) < every else ""
    if not most:
        return Confirmation(MODEL, "no effort was left")
    try:
        with opener(False) as original:
            terms = {symbol.symbol_name(): form for symbol, form in (forms or {}).items()}
            differences = tuple(_differences(table, chosen, original, clock, terms))
            return Confirmation(original.name, why, differences)
    except (NoOriginal, InputRefused, LimitReached) as error:
        return Confirmation(MODEL, error.message)
    except CheckDisagreed as error:
        return Confirmation("the compiled original", differences=(error.message,))


def _normal(values: Mapping[str, Any], forms: Terms, compute: Compute) -> dict[str, Any]:
    """The ``values`` of variables that the compiled original tells, brought into their normal form: one state, or the
    columns of many. Those of which it does not tell enough are left out."""
    fitting = {name: form for name, form in forms.items() if names_in([form]) <= values.keys()}
    found = {name: value for name, value in values.items() if name not in forms}
    return {**found, **dict(zip(fitting, compute([*fitting.values()])(values), strict=True))}


def _differences(table: Table, moves: Column, original: Original, clock: Clock, forms: Terms) -> Iterator[str]:
    left = clock.left
    seconds = 600.0 if left is None else left
    begin = table.state(table.starts[0])
    fixed = [var for var in table.variables if var.init is not None]
    first = _normal(original.run([], None, seconds)[0], forms, compile_formulas)
    for name, theirs, ours in _unequal(fixed, first, begin):
        yield f"after init '{name}' is {theirs} in the compiled original, {ours} in the model"
    states = [dict(zip(table.columns, row, strict=True)) for row in rows_of(table.columns.values(), table.size)]
    given = _plain(table.inputs.columns)
    choices = [dict(zip(given, row, strict=True)) for row in rows_of(given.values(), table.inputs.size)]
    work = [(states[table.source[m]], choices[table.choice[m]]) for m in moves.tolist()]
    once, which = _different(table, moves)
    results, hidden = original.steps([work[place] for place in once.tolist()], seconds) if work else [], table.open_at
    for place in _suspect(table, moves, results, which, forms):
        move, (state, inputs) = int(moves[place]), work[place]
        after = _normal(results[which[place]], forms, compile_formulas)
        told_there = [v for v in table.variables if v.name not in hidden or not hidden[v.name][table.target[move]]]
        for name, theirs, ours in _unequal(told_there, after, states[table.target[move]]):
            said = f"from {told(table.variables, state)} under {inputs}"
            yield f"{said} '{name}' becomes {theirs} in the compiled original, {ours} in the model"


def _plain(columns: Mapping[str, Column]) -> dict[str, Column]:
    """``columns`` but for those of monitors, of which the original knows nothing."""
    return {name: values for name, values in columns.items() if not name.startswith(f"{MONITOR}#")}


def _different(table: Table, moves: Column) -> tuple[Column, Column]:
    """The places of ``moves`` that are different steps of the original, and for each of ``moves`` which one it is."""
    states, given = _plain(table.columns), _plain(table.inputs.columns)
    if len(states) == len(table.columns) and len(given) == len(table.inputs.columns):
        return np.arange(len(moves)), np.arange(len(moves))
    before = [values[table.source[moves]] for values in states.values()]
    return distinct([*before, *(values[table.choice[moves]] for values in given.values())], len(moves))


def _suspect(table: Table, moves: Column, results: Sequence[Valuation], which: Column, forms: Terms) -> Sequence[int]:
    """The places of ``moves`` after which some variable has another value than in the table: ``which`` of ``results``
    is that of each move."""
    unlike = np.zeros(len(moves), bool)
    theirs: dict[str, Column] = {}
    for var in table.variables:
        if results and var.name in results[0]:
            values = [state[var.name] for state in results]
            theirs[var.name] = column(values, var.type.bits)[which]
            unlike |= theirs[var.name] != column(values, max(1, var.type.bits))[which]  # a Boolean neither 0 nor 1
    for name, found in _normal(theirs, forms, Program).items():
        unlike |= found != table.columns[name][table.target[moves]]
    places: list[int] = np.flatnonzero(unlike).tolist()
    return places


def told(variables: Iterable[Variable], values: Valuation) -> dict[str, int | float | str]:
    """Raw values, but floating ones as numbers."""
    return {**values, **shown([var for var in variables if var.type.floating], values)}


def _unequal(variables: Iterable[StateVariable], theirs: Valuation, ours: Valuation) -> Iterator[tuple[str, str, str]]:
    """The variables that differ, of those that the original can tell and that are set, with both values as text."""
    for var in variables:
        if var.name in theirs and ours.get(f"{var.name}#defined", 1) and theirs[var.name] != ours[var.name]:
            yield var.name, show_value(var.type, theirs[var.name]), show_value(var.type, ours[var.name])


VALUES = "library values"


def no_original(kept: bool = False) -> NoReturn:
    """The original of a system in which functions yield any value in their bounds."""
    raise NoOriginal("with functions of the C library approximated from above")


def library_values(subject: Subject) -> Iterator[Line]:
    """Whether the values that the file names lie in the bounds of the project, and whether this machine has them."""
    known = subject.library
    if known is None:
        return
    text = counted(len(known.facts), "value")
    faults = [*known.outside()]
    if faults:
        yield Line(VALUES, WRONG, f"{text}, some of them outside of the bounds", limited(faults))
        return
    try:
        library = Library(known.calls[0].word_sizes)
        faults = [*known.unlike(library)]
    except NoOriginal as error:
        yield Line(VALUES, OPEN, f"{text}, not compared: {error.message}")
        return
    if faults:
        verdict = WRONG if library.version == known.version else OPEN
        told = f"{text} of {known.version}; {library.version} here has others"
        yield Line(VALUES, verdict, told, limited(faults))
    elif library.version == known.version:
        yield Line(VALUES, HOLDS, f"{text} as {library.version} has them here, each within its bounds")
    else:
        yield Line(VALUES, NOTE, f"{text} of {known.version}, and {library.version} here has the same")
