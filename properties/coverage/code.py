"""Goals of code: branches, conditions and MC/DC of the decisions in the step function and in what it calls.

Each goal is one step long: in it the decision is evaluated and has the outcome. A decision that stands in a loop or in
a function called several times is one decision, and any of its evaluations covers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.formulas.terms import both, either, negate
from bmc.formulas.unroll import at_each
from bmc.models.model import Decision, Evaluated, Tree, holds
from bmc.stack import with_deep_stack
from properties.coverage import Criterion
from properties.goal import Goal

_SHOWN = {"if": "if ({})", "while": "while ({})", "do": "do while ({})", "for": "for (; {};)", "switch": "switch ({})"}
_WORDS = {"branches()": "branch", "conditions()": "condition", "mcdc()": "mcdc"}
"""How the names of a criterion's goals begin."""
_OUTCOMES = ((True, "true"), (False, "false"))

Part = tuple[str, FNode, str]
"""A goal in the making: the end of its name, its condition over plain symbols, its text."""


def branches(decisions: Sequence[Decision]) -> list[Goal]:
    """Both outcomes of every ``if``, loop and ``?:`` condition, and the choice of every label of a ``switch``."""
    return _goals("branches()", decisions, lambda d: _branches(d) if d.kind not in ("&&", "||") else ())


def conditions(decisions: Sequence[Decision]) -> list[Goal]:
    """Both values of every atomic condition of every decision, where it is evaluated."""
    return _goals("conditions()", decisions, lambda d: _conditions(d) if d.tree is not None else ())


def mcdc(decisions: Sequence[Decision]) -> list[Goal]:
    """Both values of every atomic condition, each where it is evaluated and decides the outcome (masking MC/DC)."""
    return _goals("mcdc()", decisions, lambda d: _conditions(d, deciding=True) if d.tree is not None else ())


def _of_code(goals: Callable[[Sequence[Decision]], list[Goal]]) -> Criterion:
    return Criterion(lambda model, use: with_deep_stack(lambda: goals(model.decisions)))


CRITERIA = {"branches": _of_code(branches), "conditions": _of_code(conditions), "mcdc": _of_code(mcdc)}


def _branches(decision: Decision) -> Iterator[Part]:
    shown = show(decision)
    if decision.tree is None:
        for number, label in enumerate(decision.conditions):
            named = label if re.fullmatch(r"-?\w+|no-case", label) else f"case-{number + 1}"
            case = {"default": "default", "no-case": "no case"}.get(label, f"case {label}")
            chosen = _any(both(e.reached, e.values[number]) for e in decision.evaluations)
            yield f"={named}", chosen, f"{case} in {shown}"
        return
    for outcome, word in _OUTCOMES:
        taken = _any(both(e.reached, _is(outcome, holds(decision.tree, e.values))) for e in decision.evaluations)
        yield f"={word}", taken, f"{shown} is {word}"


def _conditions(decision: Decision, deciding: bool = False) -> Iterator[Part]:
    evaluations = [(e, _visits(decision, e)) for e in decision.evaluations]
    so = "and decides" if deciding else "in"
    for number, text in enumerate(decision.conditions):
        for outcome, word in _OUTCOMES:
            formula = FALSE()
            for found, visits in evaluations:
                evaluated, decides = visits[number]
                seen = both(evaluated, decides) if deciding else evaluated
                formula = either(formula, both(seen, _is(outcome, found.values[number])))
            yield f".{number + 1}={word}", formula, f"{text} is {word} {so} {show(decision)}"


def _visits(decision: Decision, found: Evaluated) -> dict[int, tuple[FNode, FNode]]:
    """For each atomic condition when it is evaluated, and when (if so) it decides the outcome.

    A condition is masked where an operand to the right of it, or of a part that holds it, is evaluated and settles
    ``&&`` as false or ``||`` as true. An operand that is not evaluated masks nothing.
    """
    visits: dict[int, tuple[FNode, FNode]] = {}
    todo: list[tuple[Tree, FNode, FNode]] = (
        [(decision.tree, found.reached, TRUE())] if decision.tree is not None else []
    )
    while todo:
        node, evaluated, decides = todo.pop()
        if isinstance(node, int):
            visits[node] = evaluated, decides
        elif node.op == "!":
            todo.append((node.parts[0], evaluated, decides))
        else:
            left, right = (holds(part, found.values) for part in node.parts)
            goes_on, settles = (left, negate(right)) if node.op == "&&" else (negate(left), right)
            todo.append((node.parts[0], evaluated, both(decides, negate(both(goes_on, settles)))))
            todo.append((node.parts[1], both(evaluated, goes_on), decides))
    return visits


def show(decision: Decision) -> str:
    """A decision as text: ``if (a && b)``, ``a && b ?:``."""
    if decision.kind == "?:":
        return f"{decision.text} ?:"
    return _SHOWN.get(decision.kind, "{}").format(decision.text)


def _goals(criterion: str, decisions: Sequence[Decision], parts: Callable[[Decision], Iterable[Part]]) -> list[Goal]:
    found = [(place, d, *part) for place, d in zip(_places(decisions), decisions, strict=True) for part in parts(d)]
    formulas = at_each([formula for _, _, _, formula, _ in found], 0)
    goals: dict[str, Goal] = {}
    for (place, decision, end, _, text), formula in zip(found, formulas, strict=True):
        name = _free(f"{_WORDS[criterion]}:{place}{end}", goals)
        goals[name] = Goal(name, formula, None, 1, text, where=decision.where, generated=criterion)
    return list(goals.values())


def _places(decisions: Sequence[Decision]) -> list[str]:
    """Line and column of each decision, after the file's name where there are several; unique."""
    files = dict.fromkeys(d.where.file for d in decisions)
    names = {file: PurePath(file).name for file in files}
    if len(set(names.values())) < len(names):
        names = {file: file for file in files}
    places: dict[str, None] = {}
    for decision in decisions:
        where = decision.where
        prefix = f"{''.join(names[where.file].split())}:" if len(files) > 1 else ""
        places[_free(f"{prefix}{where.line}:{where.column}", places)] = None
    return list(places)


def _free(name: str, taken: dict[str, None] | dict[str, Goal]) -> str:
    """``name``, with a number behind it if it is taken."""
    return next(n for n in [name, *(f"{name}~{k}" for k in range(2, len(taken) + 3))] if n not in taken)


def _any(formulas: Iterable[FNode]) -> FNode:
    result = FALSE()
    for formula in formulas:
        result = either(result, formula)
    return result


def _is(outcome: bool, formula: FNode) -> FNode:
    return formula if outcome else negate(formula)
