"""Why no run goes on after some number of steps, and what to do about it.

A step is impossible where every input that is allowed meets undefined behaviour or breaks an assumption of the code.
Where that is so in every state that some number of steps leads to, no longer run exists, and no goal that needs one can
be covered: the conditions that rule the step out are named with their places in the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.engines.protocol import Answer, Engine, Status
from bmc.errors import Location, counted, listed
from bmc.formulas.terms import either, negate
from bmc.formulas.unroll import at
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import Condition, TransitionSystem, conjunction, conjuncts, symbols_of

UNSET = "uninitialised read"
"""The name of the undefined behaviour where a variable is read that may not have been set."""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """No run has more than ``steps`` steps.

    ``undefined`` is the undefined behaviour and ``assumed`` are the assumptions of the code that rule out every
    further step together, each with its place (but for a read in a constraint on inputs, which has none), and
    ``broken`` the named constraints on inputs; where all are empty, the other ones contradict each other there.
    ``unset`` are the variables that init leaves open and that are read before anything has set them.
    """

    steps: int
    undefined: tuple[Condition, ...]
    assumed: tuple[Condition, ...]
    unset: tuple[str, ...]
    broken: tuple[Condition, ...] = ()

    @property
    def where(self) -> Location | None:
        """The first place that is to blame; None where no line of the source is."""
        rules = *self.undefined, *self.assumed, *self.broken
        return next((c.where for c in rules if c.where is not None), None)

    @property
    def message(self) -> str:
        """What is the case, with the places."""
        when = (
            f"no run has more than {counted(self.steps, 'step')}: then"
            if self.steps
            else "no first step is possible: after init"
        )
        undefined = _listed(f"{c.name} {f'at {c.where}' if c.where else 'in an assumption'}" for c in self.undefined)
        stated = (f"'{c.name}'" + (f" at {c.where}" if c.where else "") for c in self.broken)
        assumed = _listed([*(f"the one at {c.where}" for c in self.assumed), *stated])
        if not undefined:
            return f"{when} every allowed input breaks an assumption" + (f": {assumed}" if assumed else "")
        also = f"; or breaks an assumption: {assumed}" if assumed else ""
        return f"{when} every allowed input meets undefined behaviour: {undefined}{also}"

    @property
    def hint(self) -> str:
        """The remedy."""
        if not self.undefined:
            return "look at the ranges, constraints and assumptions"
        if self.unset:
            return (
                f"init leaves {_listed(self.unset, ', ')} open: list it in interface.input if the environment sets it, "
                "in interface.zeroed if its memory starts with 0, in interface.chosen if the tester sets it; else set "
                "it in init"
            )
        if any(c.name == UNSET for c in self.undefined):
            return "give the variable a value on every path that leads to that place"
        return "look at the ranges, constraints and assumptions that lead there; else correct the code"

    def as_data(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "steps": self.steps,
            "where": None if self.where is None else str(self.where),
            "undefined": [
                {"kind": each.name, "where": None if each.where is None else str(each.where)} for each in self.undefined
            ],
            "assumptions": [str(each.where) for each in self.assumed],
            **({"constraints": [each.name for each in self.broken]} if self.broken else {}),
            "unset": list(self.unset),
            "next": self.hint,
        }


def _listed(texts: Iterable[str], between: str = "; ") -> str:
    return listed([*dict.fromkeys(texts)], between=between)


@dataclass(frozen=True, slots=True)
class QuestionLimits:
    """Seconds and units of effort that one question may take; None for no limit."""

    seconds: float | None = None
    effort: int | None = None


UNLIMITED = QuestionLimits()


def dead_end(
    system: TransitionSystem,
    engine: Engine,
    most: int,
    source: FNode | None = None,
    limits: QuestionLimits = UNLIMITED,
) -> DeadEnd | None:
    """Why no run from ``source`` (framed at 0; by default the states after init) has ``most`` steps.

    None where there is such a run, and where the engine does not know within ``limits``.
    """
    start = at(system.init_formula, 0) if source is None else source
    session = engine.session(replace(system, invariants=()), start)
    if session.check([], most, limits.seconds, limits.effort).status is not Status.UNSAT:
        return None
    possible, impossible = 0, most
    while impossible - possible > 1:
        middle = (possible + impossible) // 2
        status = session.check([], middle, limits.seconds, limits.effort).status
        if status is Status.UNKNOWN:
            return None
        possible, impossible = (middle, impossible) if status is Status.SAT else (possible, middle)
    return _explained(system, engine, start, possible, limits)


def _explained(
    system: TransitionSystem, engine: Engine, start: FNode, steps: int, limits: QuestionLimits
) -> DeadEnd | None:
    """Which conditions rule out a step after ``steps`` valid ones; none of them could be left out."""
    named, reads, others = _parts_of_constraint(system)
    undefined = {at(negate(c.formula), steps): c for c in _joined(system.undefined_behaviour)}
    undefined |= {at(part, steps): Condition(UNSET, negate(part)) for part in reads}
    assumed = {at(c.formula, steps): c for c in system.assumptions}
    broken = {at(c.formula, steps): c for c in system.constraints}
    before = [at(part, step) for step in range(steps) for part in (system.defined, named, *reads)]
    session = engine.session(
        replace(system, input_constraint=conjunction(others), defined=TRUE(), invariants=()), start
    )

    def ask(tried: Iterable[FNode]) -> Answer:
        return session.check([*before, *tried], steps + 1, limits.seconds, limits.effort)

    guilty = _irreducible([*undefined, *assumed, *broken], ask)
    if guilty is None:
        return None
    met, code, stated = (tuple(kind[rule] for rule in guilty if rule in kind) for kind in (undefined, assumed, broken))
    return DeadEnd(steps, met, code, _unset(system, met), stated)


def _parts_of_constraint(system: TransitionSystem) -> tuple[FNode, list[FNode], list[FNode]]:
    """The named constraints; of the other parts of the input constraint those that read whether a variable is set, and
    the rest."""
    named = conjunction(c.formula for c in system.constraints)
    others = [part for part in conjuncts(system.input_constraint) if part not in conjuncts(named)]
    reads = [part for part in others if any(s.symbol_name().endswith(DEFINED) for s in symbols_of(part))]
    return named, reads, [part for part in others if part not in reads]


def _irreducible(rules: Sequence[FNode], ask: Callable[[Iterable[FNode]], Answer]) -> list[FNode] | None:
    """Rules that contradict each other, none of which can be left out; None if the engine does not say that they do."""
    false = [rule for rule in rules if rule.is_false()]
    if false:
        return false[:1]
    answer = ask(rules)
    if answer.status is not Status.UNSAT:
        return None
    guilty = [rule for rule in rules if rule in answer.core]
    for rule in reversed(guilty):
        fewer = [other for other in guilty if other is not rule]
        if ask(fewer).status is Status.UNSAT:
            guilty = fewer
    return guilty


def _joined(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions, those of one name and place as one."""
    places: dict[tuple[str, Location | None], FNode] = {}
    for condition in conditions:
        key = (condition.name, condition.where)
        places[key] = either(places.get(key, FALSE()), condition.formula)
    return [Condition(name, formula, where) for (name, where), formula in places.items()]


def _unset(system: TransitionSystem, met: Iterable[Condition]) -> tuple[str, ...]:
    """The variables that init leaves open on whose being set ``met`` depend."""
    open_ones = {var.name for var in system.state if var.init is None}
    symbols = (s.symbol_name() for c in met if c.name == UNSET for s in symbols_of(c.formula))
    names = dict.fromkeys(name.removesuffix(DEFINED) for name in symbols if name.endswith(DEFINED))
    return tuple(name for name in names if name in open_ones)
