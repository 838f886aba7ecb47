"""The columns of an exported chain, its goals and requirements, and names that every reader takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from bmc.errors import UsageError
from bmc.records import dataclass
from bmc.system.transition import InputVariable, StateVariable, Valuation
from chaincover.exporters.protocol import ExportedChain
from chaincover.formats.rows import defined, reported
from chaincover.project.bench import Signal
from chaincover.project.values import show_value
from properties.goal import Goal, violation, violation_name
from properties.monitor import Monitor

Value = int | Fraction | None
"""A raw pattern, a number in the unit of a bench, or None where there is no defined value."""


@dataclass(frozen=True)
class Column:
    """A variable of a chain: a ``driven`` input with its value in each step, or what is expected after each step.

    ``start`` is the value before the first step, None for inputs. ``title`` is the name that it has on the bench.
    """

    title: str
    variable: InputVariable | StateVariable
    driven: bool
    values: Sequence[Value]
    start: Value = None

    @property
    def from_start(self) -> Sequence[Value]:
        """The values of each step; of what is expected with that before the first step."""
        return self.values if self.driven else [self.start, *self.values]


def columns(chain: ExportedChain) -> list[Column]:
    """The inputs of the chain, then its state and outputs, by the names of variables and in raw values."""
    system = chain.subject.system
    driven = [Column(var.name, var, True, [row[var.name] for row in chain.run.inputs]) for var in system.inputs]
    return [*driven, *(_expected(chain, var) for role in ("state", "output") for var in reported(system, role))]


def _expected(chain: ExportedChain, variable: StateVariable) -> Column:
    start, *values = (_value(variable, row) for row in chain.run.states)
    return Column(variable.name, variable, False, values, start)


def _value(variable: StateVariable, state: Valuation) -> int | None:
    return state[variable.name] if defined([variable], state) else None


def bench_columns(chain: ExportedChain) -> list[Column]:
    """The same as signals of the bench: by their names there, and in their units where these are others.

    Variables that the project ignores are there too where it says how they are recorded.
    """
    ignored = [var for var in reported(chain.subject.system, "ignored") if var.name in chain.signals]
    found = [*columns(chain), *(_expected(chain, var) for var in ignored)]
    return [_on_bench(each, chain.signals.get(each.variable.name)) for each in found]


def _on_bench(column: Column, signal: Signal | None) -> Column:
    if signal is None:
        return column
    if not signal.scaled:
        return replace(column, title=signal.name)
    vtype, made = column.variable.type, list[Value]()
    for value in (column.start, *column.values):
        number = None if value is None else signal.number(int(value), vtype)
        if value is not None and number is None:
            text = f"'{column.title}' is {show_value(vtype, int(value))}, and its signal has a factor or an offset"
            raise UsageError(text, hint="leave them out of [target.signals], or take the format json")
        made.append(number)
    return replace(column, title=signal.name, values=made[1:], start=made[0])


@dataclass(frozen=True)
class CoveredGoal:
    """A goal of a chain, covered from ``step`` on and over with the state after ``end`` steps.

    ``held`` is what became of its consequent on the model, None for a goal without one.
    """

    goal: Goal
    step: int
    end: int
    held: bool | None


def covered_goals(chain: ExportedChain) -> list[CoveredGoal]:
    """The goals of the chain in the order of their steps."""
    goals = {goal.name: goal for goal in chain.subject.goals}
    found = [(goals[hit.goal], hit) for hit in chain.hits]
    return [CoveredGoal(goal, hit.step, goal.over(hit.step), hit.consequent_held) for goal, hit in found]


@dataclass(frozen=True)
class FailingRequirement:
    """A requirement that fails on the model's run of a chain: that of ``goal``, first at ``step``, which the state
    after ``end`` steps has decided."""

    goal: Goal
    step: int
    end: int


def failing_requirements(chain: ExportedChain) -> list[FailingRequirement]:
    """The requirements that fail on the run of the chain, in the order of the goals."""
    system = chain.subject.system
    inputs = {var.name for var in system.inputs}
    asked = [goal for goal in chain.subject.goals if goal.consequent is not None]
    violations = {goal.name: violation(goal, inputs) for goal in asked}
    steps = Monitor(tuple(violations.values())).covered(chain.run)
    firsts = [(goal, next(iter(steps[violation_name(goal.name)]), None)) for goal in asked]
    return [
        FailingRequirement(goal, step, violations[goal.name].over(step)) for goal, step in firsts if step is not None
    ]


def by_requirement(covered: Iterable[CoveredGoal]) -> dict[str, list[CoveredGoal]]:
    """The goals of each requirement that has a name."""
    found: dict[str, list[CoveredGoal]] = {}
    for each in covered:
        if each.goal.requirement:
            found.setdefault(each.goal.requirement, []).append(each)
    return found


def plain_names(names: Iterable[str], taken: Iterable[str] = ()) -> Mapping[str, str]:
    """For each name one of letters, digits and ``_`` that begins with a letter; no two are alike, nor as one taken.

    Capital and small letters count as alike. A name that is plain already keeps its form before others get theirs.
    """
    used = {name.lower() for name in taken}
    found: dict[str, str] = {}
    ordered = dict.fromkeys(names)
    for name in sorted(ordered, key=lambda name: _plain(name) != name):
        plain, number = _plain(name), 1
        while (made := plain if number == 1 else f"{plain}_{number}").lower() in used:
            number += 1
        used.add(made.lower())
        found[name] = made
    return {name: found[name] for name in ordered}


LONGEST = 60
"""Characters of a plain name, without the number that keeps names apart."""


def _plain(name: str) -> str:
    made = re.sub(r"[^A-Za-z0-9_]+", "_", name)
    made = made if made == name else made.strip("_")
    return (made if re.match(r"[A-Za-z]", made) else f"x_{made}".rstrip("_"))[:LONGEST]


def in_runs(values: Iterable[object]) -> list[object]:
    """Values of steps, one after the other: one that several steps have as a list of it and their number."""
    runs = [[*same] for _, same in groupby(values, key=repr)]
    return [run[0] if len(run) == 1 else [run[0], len(run)] for run in runs]
