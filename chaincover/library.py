"""Functions of the C library whose values the user bounds: what is known of them, and the two systems that follow.

A *fact* says what a function yields for some arguments, as the C library of this machine has it. With the facts so far
the system is approximated from two sides.

- From above: for arguments without a fact the value is any one within the bounds. It is a further input. What no run
  there does, no run of the program does, if the bounds are right. Or, where the facts are taken to be all that is
  needed (``closed``), a step that needs another value loses the run: from then on every goal counts as covered. What no
  run there does, no run of the program does, whatever the bounds are.
- From below: a step that needs a value without a fact is not defined. Every run there is one of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.errors import InputRefused, Location
from bmc.floats.format import FORMATS, read
from bmc.floats.ranges import show_ranges
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import choose, constant, either, equals, implies, negate
from bmc.formulas.unroll import at, framed, steps_of, with_terms
from bmc.models.undetermined import LibraryCall, allowed_by_others
from bmc.native.mathematics import Library
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    BOOLEAN,
    Condition,
    Run,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    membership,
)
from properties.goal import Goal

LOST = "library#lost"
"""The variable that says whether a run has needed a value that is no fact."""

Facts = Mapping[tuple[str, tuple[int, ...]], int]
"""What functions yield: the pattern of the value by the function and the patterns of its arguments."""


@dataclass(frozen=True)
class Bounded:
    """The ``calls`` whose values are bounded, in the order in which a step makes them, and the ``facts`` so far, which
    are those of the library ``version``. ``closed``: how the system is approximated from above."""

    calls: tuple[LibraryCall, ...]
    facts: Facts = field(default_factory=dict)
    version: str = ""
    closed: bool = False

    @property
    def bounds(self) -> str:
        """The bounds of each function."""
        texts = {call.function: show_ranges(call.ranges, FORMATS[call.value_type.bits]) for call in self.calls}
        return ", ".join(f"{name} in {text}" for name, text in texts.items())

    @property
    def assumed(self) -> str:
        """That results rest on the bounds."""
        return f"bounds of functions of the C library, as the project gives them: {self.bounds}"

    def as_data(self) -> dict[str, Any]:
        """For the result: bounds, version and facts."""
        kinds = {call.function: call.value_type for call in self.calls}
        return {
            "version": self.version,
            "closed": self.closed,
            "bounds": {call.function: show_ranges(call.ranges, FORMATS[call.value_type.bits]) for call in self.calls},
            "values": [
                {
                    "function": function,
                    "arguments": [kinds[function].show(pattern) for pattern in arguments],
                    "value": kinds[function].show(value),
                }
                for (function, arguments), value in self.facts.items()
            ],
        }

    def with_data(self, data: Any, where: Location) -> Bounded:
        """The same calls with the facts in the ``data`` of a result. InputRefused where it cannot be read."""
        kinds = {call.function: call.value_type for call in self.calls}
        arity = {call.function: len(call.arguments) for call in self.calls}
        facts: dict[tuple[str, tuple[int, ...]], int] = {}
        try:
            version, closed = data["version"], data["closed"]
            for row in data["values"]:
                function, texts = row["function"], row["arguments"]
                arguments = tuple(read(text, FORMATS[kinds[function].bits]) for text in texts)
                facts[function, arguments] = read(row["value"], FORMATS[kinds[function].bits])
                if len(arguments) != arity[function] or not isinstance(texts, list):
                    raise TypeError(f"{function} with {len(arguments)} arguments")
            if not (isinstance(version, str) and isinstance(closed, bool)):
                raise TypeError("a version, and whether they are closed, are missing")
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            text = f"the chain is damaged: values of functions of the C library: {error}"
            raise InputRefused(text, where, "generate it again") from None
        return replace(self, facts=facts, version=version, closed=closed)

    def outside(self) -> Iterator[str]:
        """The facts that are outside of the bounds."""
        ranges = {call.function: (call.ranges, call.value_type) for call in self.calls}
        for (function, arguments), value in self.facts.items():
            allowed, kind = ranges[function]
            if not any(low <= value <= high for low, high in allowed):
                shown = ", ".join(kind.show(each) for each in arguments)
                bounds = show_ranges(allowed, FORMATS[kind.bits])
                yield f"{function}({shown}) = {kind.show(value)} is outside of {bounds}"

    def unlike(self, library: Library) -> Iterator[str]:
        """The facts that ``library`` has otherwise."""
        kinds = {call.function: call.value_type for call in self.calls}
        for (function, arguments), value in self.facts.items():
            kind = kinds[function]
            found = library.value(function, arguments, kind.bits)
            if found != value:
                shown = ", ".join(kind.show(each) for each in arguments)
                yield f"{function}({shown}) is {kind.show(found)} here, not {kind.show(value)}"

    def _known(self) -> Iterator[tuple[LibraryCall, tuple[int, ...], int]]:
        for call in self.calls:
            for (function, arguments), value in self.facts.items():
                if function == call.function:
                    yield call, arguments, value

    def above(self, system: TransitionSystem) -> TransitionSystem:
        """``system`` approximated from above."""
        if self.closed:
            return self._losing(system)
        known = [
            implies(_equal(call.arguments, arguments), equals(call.symbol, constant(value, call.symbol.bv_width())))
            for call, arguments, value in self._known()
        ]
        return replace(system, input_constraint=conjunction([system.input_constraint, *known]))

    def _losing(self, system: TransitionSystem) -> TransitionSystem:
        """``system`` with a variable that says whether a value was needed that is no fact; then any step is allowed."""
        part = self.below(replace(system, defined=TRUE()))
        missing = either(BOOLEAN.symbol(LOST), negate(part.defined))
        defined = with_terms([system.defined], self._terms[0])[0]
        ranges = [membership(var.symbol, var.type, var.values) for var in part.inputs]
        return replace(
            part,
            state=(*part.state, StateVariable(LOST, BOOLEAN, FALSE(), missing, "internal")),
            defined=either(missing, defined),
            input_constraint=conjunction([*ranges, either(missing, part.input_constraint)]),
            asserts=(),
            undefined_behaviour=(),
            assumptions=(),
            constraints=(),
            invariants=(),
        )

    def goals_above(self, goals: Sequence[Goal]) -> tuple[Goal, ...]:
        """``goals`` as the system approximated from above has them."""
        if not self.closed:
            return tuple(goals)
        return tuple(
            replace(
                goal,
                antecedent=either(self._put(goal.antecedent), at(BOOLEAN.symbol(LOST), goal.over(0))),
                consequent=None,
                violated=None,
                deadline=None,
            )
            for goal in goals
        )

    def final_above(self, final: FNode | None) -> FNode | None:
        """The final condition as the system approximated from above has it."""
        return final if final is None or not self.closed else either(final, BOOLEAN.symbol(LOST))

    def below(self, system: TransitionSystem) -> TransitionSystem:
        """``system`` approximated from below: it has the inputs of the user alone."""
        terms, needed = self._terms
        names = {call.name for call in self.calls}

        def put(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
            return tuple(replace(each, formula=with_terms([each.formula], terms)[0]) for each in conditions)

        constraint, defined, *following = with_terms(
            [system.input_constraint, system.defined, *(var.next for var in system.state)], terms
        )
        return replace(
            system,
            state=tuple(replace(var, next=term) for var, term in zip(system.state, following, strict=True)),
            inputs=tuple(var for var in system.inputs if var.name not in names),
            input_constraint=constraint,
            defined=conjunction([defined, *needed]),
            asserts=put(system.asserts),
            undefined_behaviour=put(system.undefined_behaviour),
            assumptions=put(system.assumptions),
            constraints=put(system.constraints),
        )

    def goals_below(self, goals: Sequence[Goal]) -> tuple[Goal, ...]:
        """``goals`` as the system approximated from below has them."""
        return tuple(
            replace(
                goal,
                antecedent=self._put(goal.antecedent),
                consequent=None if goal.consequent is None else self._put(goal.consequent),
            )
            for goal in goals
        )

    def _put(self, formula: FNode) -> FNode:
        steps = steps_of(formula)
        terms = {framed(symbol, step): at(term, step) for symbol, term in self._terms[0].items() for step in steps}
        return with_terms([formula], terms)[0]

    @cached_property
    def _terms(self) -> tuple[dict[FNode, FNode], list[FNode]]:
        """The value of each call as a term, and when it is known where it is needed."""
        terms: dict[FNode, FNode] = {}
        needed: list[FNode] = []
        for call in self.calls:
            reached, *arguments = with_terms([call.reached, *call.arguments], terms)
            term, known = constant(call.ranges[0][0], call.symbol.bv_width()), FALSE()
            for (function, patterns), value in self.facts.items():
                if function == call.function:
                    here = _equal(arguments, patterns)
                    term = choose(here, constant(value, call.symbol.bv_width()), term)
                    known = either(known, here)
            terms[call.symbol] = term
            needed.append(implies(reached, known))
        return terms, needed


@dataclass(frozen=True)
class NotAnalysed:
    """What nothing is said of because it depends on functions with bounds: goals, the final condition, whether a step
    is defined. Each comes with these functions as text; '' where it does not depend on any. Where a step does, nothing
    at all is said of runs."""

    goals: tuple[tuple[Goal, str], ...] = ()
    final_text: str = ""
    final: str = ""
    step: str = ""

    def __bool__(self) -> bool:
        return bool(self.goals or self.final or self.step)

    @property
    def names(self) -> dict[str, list[str]]:
        """The names of the goals, by the functions."""
        found: dict[str, list[str]] = {}
        for goal, functions in self.goals:
            found.setdefault(functions, []).append(goal.name)
        return found

    @property
    def functions(self) -> list[str]:
        """All functions, as texts, each once."""
        texts = [*self.names, self.final, self.step]
        return [*dict.fromkeys(text for text in texts if text)]

    def as_data(self) -> dict[str, Any]:
        """For the result of ``check``."""
        return {
            "goals": [{"name": goal.name, "functions": functions} for goal, functions in self.goals],
            "final": {"condition": self.final_text, "functions": self.final} if self.final else None,
            "steps": self.step or None,
        }


def within_bounds(functions: str) -> str:
    """The ``functions`` as what something depends on."""
    return f"{functions} within {'their' if ', ' in functions else 'its'} bounds"


def _equal(terms: Sequence[FNode], patterns: Sequence[int]) -> FNode:
    return conjunction(equals(t, constant(p, t.bv_width())) for t, p in zip(terms, patterns, strict=True))


class TrueRuns:
    """Runs of ``system`` (see ``Bounded.above``) in which functions yield what the C library of this machine gives.

    ``facts`` has all that was called.
    """

    def __init__(self, system: TransitionSystem, calls: Sequence[LibraryCall], library: Library) -> None:
        self.facts: dict[tuple[str, tuple[int, ...]], int] = {}
        self._calls, self._library = calls, library
        self._simulator = Simulator(system)
        self._asked = [compile_formulas([call.reached, *call.arguments]) for call in calls]
        self._allowed = compile_formulas([system.defined, *allowed_by_others(system, calls)])

    def run(self, claimed: Run) -> Run:
        """The run under the inputs of ``claimed``, as far as its steps are allowed and defined.

        InputRefused where a function yields a value outside of its bounds.
        """
        states, inputs = [self._simulator.initial(self._simulator.chosen(claimed.states[0]))], []
        for step, values in enumerate(claimed.inputs):
            made = {**values, **self.values(states[-1], values, step)}
            if not self._simulator.allowed(states[-1], made):
                break
            inputs.append(made)
            states.append(self._simulator.step(states[-1], made))
        return Run(tuple(states), tuple(inputs))

    def values(self, state: Valuation, inputs: Valuation, step: int) -> Valuation:
        """What the calls of one step yield, by their symbols.

        InputRefused for a value outside of its bounds, unless the step is undefined or not allowed anyway.
        """
        found: dict[str, int] = {}
        outside: list[tuple[LibraryCall, list[int]]] = []
        for call, ask in zip(self._calls, self._asked, strict=True):
            reached, *arguments = ask({**state, **inputs, **found})
            found[call.name] = call.ranges[0][0]
            if reached:
                found[call.name] = self._library.value(call.function, arguments, call.symbol.bv_width())
                if _within(found[call.name], call):
                    self.facts[call.function, tuple(arguments)] = found[call.name]
                else:
                    outside.append((call, arguments))
        if outside and all(self._allowed({**state, **inputs, **found})):
            call, arguments = outside[0]
            raise _refusal(call, arguments, found[call.name], step)
        return found


def _within(value: int, call: LibraryCall) -> bool:
    return any(low <= value <= high for low, high in call.ranges)


def _refusal(call: LibraryCall, arguments: Sequence[int], value: int, step: int) -> InputRefused:
    kind = call.value_type
    shown = ", ".join(kind.show(each) for each in arguments)
    return InputRefused(
        f"{call.function}({shown}) at {call.where} is {kind.show(value)} in step {step}, outside of its "
        f"bounds {show_ranges(call.ranges, FORMATS[kind.bits])}: no result can rest on these",
        call.bounded,
        "widen the bounds there",
    )
