"""Invariants that ``check`` finds by itself, proved and in the words of C, without those that others of them tell.

Where all reachable states are enumerated, what holds in all of them; else values from interval analysis, and what
random runs suggest and (k-)induction proves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from bmc.analysis.spans import Span, patterns_of
from bmc.errors import NAMED, LimitReached
from bmc.explicit.state_graph import StateGraph
from bmc.formulas.evaluate import names_in
from bmc.formulas.value_sets import Ranges, common, united
from bmc.invariants.candidates import IMPLIES, candidates, facts_of, tightest, value_facts, values_told
from bmc.invariants.induction import Prover, inductive
from bmc.models.model import Model
from bmc.records import dataclass
from bmc.system.transition import Condition, StateVariable, TransitionSystem
from chaincover.limits import BRIEF
from chaincover.problem import Questions

WORK = 20_000_000
"""Operations on single values in the random runs that suggest invariants."""
INDUCTION = 2
"""The largest k of a proof by k-induction."""

VALUES, EQUALITY, IMPLICATION, ORDER = "values", "equal", "implication", "order"
ENUMERATED, INTERVALS, INDUCTIVE = "enumeration", "intervals", "induction"


@dataclass(frozen=True, slots=True)
class FoundInvariant:
    """``text`` holds in every reachable state; it is of ``kind`` and names ``variables``.

    ``method`` proved it: the ``enumeration`` of so many reachable ``states``, ``intervals``, or ``induction`` over
    ``k`` steps.
    """

    text: str
    kind: str
    variables: tuple[str, ...]
    method: str
    states: int | None = None
    k: int | None = None

    @property
    def how(self) -> str:
        """How it was proved, for people."""
        told = {ENUMERATED: f"all {self.states} reachable states enumerated", INTERVALS: "interval analysis"}
        return told.get(self.method) or ("inductive" if self.k == 1 else f"k-inductive, k = {self.k}")


def find_invariants(
    system: TransitionSystem, questions: Questions, graph: StateGraph | None
) -> tuple[FoundInvariant, ...]:
    """What holds in every reachable state of ``system``, the plainest first; no constants.

    ``questions`` are about the part of the system on which the goals depend; ``graph`` has the reachable states of that
    part, where they could be enumerated. What the limits do not suffice for is left out.
    """
    found: dict[str, FoundInvariant] = {}
    variables = {var.name: var for var in system.visible_state}

    def note(facts: Sequence[Condition], method: str, states: int | None = None, k: int | None = None) -> None:
        for fact in facts:
            names = tuple(sorted(names_in([fact.formula])))
            if variables.keys() >= {*names}:
                kind = _kind(fact.name, variables)
                found.setdefault(fact.name, FoundInvariant(fact.name, kind, names, method, states, k))

    enumerated: set[str] = set()
    if graph is not None:
        columns = {name: column for name, column in graph.states.columns.items() if name not in graph.states.open}
        enumerated = set(columns)
        note(
            facts_of([var for name, var in variables.items() if name in columns], columns),
            ENUMERATED,
            states=len(graph.states),
        )
    limits = questions.limits
    known = () if limits.over else value_facts(system, lambda: limits.over)
    note([fact for fact in known if not names_in([fact.formula]) <= enumerated], INTERVALS)
    if graph is None:
        with suppress(LimitReached):
            for k, facts in _by_induction(questions).items():
                note(facts, INDUCTIVE, k=k)
    return _telling(list(found.values()), variables)


def _by_induction(questions: Questions) -> Mapping[int, Sequence[Condition]]:
    """What random runs suggest and induction proves, by the k that it takes. LimitReached when time is over."""
    part, limits = questions.problem.system, questions.limits
    limits.check()
    known = value_facts(part, lambda: limits.over)
    guesses = candidates(part, [goal.antecedent for goal in questions.problem.goals], WORK, limits.check)
    given, names = replace(part, invariants=(*part.invariants, *known)), {var.name for var in part.state}
    found: dict[int, Sequence[Condition]] = {}
    proved: set[str] = set()
    for k in range(1, INDUCTION + 1):
        if len(proved) == len(guesses):
            break
        kept = inductive(given, guesses, Prover(questions.engine, limits.for_query, BRIEF), k)
        found[k] = tightest([fact for fact in kept if fact.name not in proved], names)
        proved |= {fact.name for fact in kept}
    return found


def _kind(name: str, variables: Mapping[str, StateVariable]) -> str:
    if IMPLIES in name:
        return IMPLICATION
    if values_told(name, variables):
        return VALUES
    return EQUALITY if " == " in name else ORDER


def _telling(found: Sequence[FoundInvariant], variables: Mapping[str, StateVariable]) -> tuple[FoundInvariant, ...]:
    """``found`` by kind, without constants and without what others tell."""
    found = _narrowest(found, variables)
    values = {fact.variables[0]: _values(fact, variables) for fact in found if fact.kind == VALUES}
    constant = {name for name, spans in values.items() if len(spans) == 1 and spans[0][0] == spans[0][1]}
    twin = _twins([fact for fact in found if fact.kind == EQUALITY and not constant & {*fact.variables}])
    kept: dict[object, FoundInvariant] = {}
    for fact in found:
        key = _told(fact, variables, values)
        if key is not None and not constant & {*fact.variables} and _of_the_first(fact, twin):
            kept.setdefault(key, fact)
    order = (VALUES, EQUALITY, IMPLICATION, ORDER)
    return tuple(sorted(kept.values(), key=lambda fact: order.index(fact.kind)))


def _values(fact: FoundInvariant, variables: Mapping[str, StateVariable]) -> tuple[Span, ...]:
    told = values_told(fact.text, variables)
    return told[1] if told else ()


def _narrowest(found: Sequence[FoundInvariant], variables: Mapping[str, StateVariable]) -> list[FoundInvariant]:
    """``found`` without the values of a variable that has fewer by another of them."""
    sets: dict[str, list[tuple[FoundInvariant, Ranges]]] = {}
    for fact in found:
        if fact.kind == VALUES:
            var = variables[fact.variables[0]]
            sets.setdefault(var.name, []).append((fact, united(patterns_of(var, _values(fact, variables)))))
    wider = {
        fact.text
        for facts in sets.values()
        for fact, ranges in facts
        if any(other != ranges and common(other, ranges) == other for _, other in facts)
    }
    return [fact for fact in found if fact.text not in wider]


def _twins(equalities: Sequence[FoundInvariant]) -> dict[str, str]:
    """For each variable that is equal to others the first of them."""
    first: dict[str, str] = {}
    for fact in equalities:
        one, other = fact.text.split(" == ")
        first[other] = first.get(one, one)
        first.setdefault(one, one)
    return {name: first.get(one, one) for name, one in first.items()}


def _of_the_first(fact: FoundInvariant, twin: Mapping[str, str]) -> bool:
    """Whether ``fact`` is not told by the same of variables that are equal to those in it."""
    if fact.kind == EQUALITY:
        one, _ = fact.text.split(" == ")
        return twin.get(one, one) == one
    return fact.kind == VALUES or all(twin.get(name, name) == name for name in fact.variables)


def _told(fact: FoundInvariant, variables: Mapping[str, StateVariable], values: Mapping[str, Sequence[Span]]) -> object:
    """What ``fact`` tells: the same for an implication and its reverse; None if the values of its variables tell it."""
    if fact.kind == ORDER:
        low, high = (values.get(name, ()) for name in fact.text.split(" <= "))
        told = (low and high and low[-1][1] <= high[0][0]) or (_two(low) and _two(low) == _two(high))
        return None if told else fact.text
    if fact.kind != IMPLICATION:
        return fact.text
    before, after = (values_told(part, variables) for part in fact.text.split(IMPLIES))
    if before is None or after is None:
        return fact.text
    name, value = before[0].name, before[1][0][0]
    both = _two(values.get(name, ()))
    other = next((v for v in both if v != value), None)
    negated = (name, "is", other) if other is not None else (name, "is not", value)
    return frozenset([negated, (after[0].name, "is", after[1][0][0])])


def _two(spans: Sequence[Span]) -> tuple[int, ...]:
    """The two values in ``spans``, if there are just two."""
    found = tuple(value for low, high in spans for value in range(low, min(high, low + 2) + 1))
    return found if len(found) == 2 else ()


def found_data(found: Sequence[FoundInvariant], model: Model) -> list[dict[str, Any]]:
    """``found`` as plain data."""
    files = files_of(model)
    return [
        {
            "text": fact.text,
            "kind": fact.kind,
            "variables": [{"name": name, "file": files.get(name)} for name in fact.variables],
            "proved_by": fact.method,
            "states": fact.states,
            "k": fact.k,
        }
        for fact in found
    ]


def files_of(model: Model) -> Mapping[str, str]:
    """The file in which each variable is defined, by name."""
    return {variable.name: variable.file for variable in model.variables if variable.file}


def found_lines(found: Sequence[FoundInvariant], model: Model) -> list[str]:
    """The lines for ``found``: flags, other values, equalities, then implications, those that say most first."""
    files = files_of(model)
    return [_line(texts, facts, files) for texts, facts in _joined(found)]


def _joined(found: Sequence[FoundInvariant]) -> list[tuple[list[str], list[FoundInvariant]]]:
    """What goes on one line, with the facts that it tells."""
    how, text = attrgetter("how"), attrgetter("text")
    values = _of_kind(found, VALUES)
    flags = [fact for fact in values if _is_flag(fact)]
    others = [fact for fact in values if not _is_flag(fact)]
    implied = _grouped(_of_kind(found, IMPLICATION), _condition, _consequence, None)
    return [
        *_grouped(flags, how, _first_variable, "0 or 1: "),
        *_grouped(others, how, text, ""),
        *_grouped(_of_kind(found, EQUALITY), _left_side, text, ""),
        *sorted(implied, key=lambda line: -len(line[1])),
        *_grouped(_of_kind(found, ORDER), how, text, ""),
    ]


def _of_kind(found: Sequence[FoundInvariant], kind: str) -> list[FoundInvariant]:
    return [fact for fact in found if fact.kind == kind]


def _first_variable(fact: FoundInvariant) -> str:
    return fact.variables[0]


def _left_side(fact: FoundInvariant) -> str:
    """What an equality says that other values are equal to."""
    return fact.text.split(" == ")[0]


def _condition(fact: FoundInvariant) -> str:
    """The left side of an implication."""
    return fact.text.split(IMPLIES)[0]


def _consequence(fact: FoundInvariant) -> str:
    """The right side of an implication."""
    return fact.text.split(IMPLIES)[1]


def _grouped(
    facts: Sequence[FoundInvariant],
    key: Callable[[FoundInvariant], str],
    text: Callable[[FoundInvariant], str],
    front: str | None,
) -> list[tuple[list[str], list[FoundInvariant]]]:
    """``facts`` with one key and proof together; ``front`` stands before them, None: the key and an arrow."""
    groups: dict[tuple[str, str], list[FoundInvariant]] = {}
    for fact in facts:
        groups.setdefault((key(fact), fact.how), []).append(fact)
    made = []
    for (first, _), members in groups.items():
        texts = [text(fact) for fact in members]
        for begin in range(0, len(texts), NAMED):
            part = texts[begin : begin + NAMED]
            part[0] = (f"{first}{IMPLIES}" if front is None else front) + part[0]
            made.append((part, members[begin : begin + NAMED]))
    return made


def _is_flag(fact: FoundInvariant) -> bool:
    name = fact.variables[0]
    return fact.text in (f"{name} <= 1", f"0 <= {name} && {name} <= 1", f"{name} == 0.0 || {name} == 1.0")


def _line(texts: Sequence[str], facts: Sequence[FoundInvariant], files: Mapping[str, str]) -> str:
    told = (" && " if facts[0].kind == IMPLICATION else ", ").join(texts)
    named = sorted({Path(files[name]).name for fact in facts for name in fact.variables if name in files})
    places = f"; {', '.join(named)}" if named else ""
    return f"always {told} ({facts[0].how}{places})"
