"""One controller, its states told by differences and as they are: each form followed in step, each claim searched for.

The search over all states knows nothing of forms: it is breadth-first over states, and over states with the goals that
are covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from unittest import mock

from pysmt.fnode import FNode

from bmc.engines import choose
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.invariants.alike import seen_at
from bmc.invariants.differences import Form, steps_within
from bmc.invariants.induction import Prover
from bmc.invariants.normal_form import in_normal_form, normal_form
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, Valuation
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.reductions import slicing
from chaincover.result import ChainResult
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.normal_form import normal_setting
from chaincover.verification.report import HOLDS, OPEN, UNCLAIMED
from chaincover.verification.setting import Setting
from properties.monitor import Monitor

MOST = 60_000
"""States that are followed, and combinations of a state and goals that are searched."""
EFFORT = 0.3
"""Units of work of a run of ``generate``."""

State = tuple[int, ...]


@dataclass(frozen=True)
class Compared:
    """``kinds`` of forms that were found (``exact``, ``bounded``, ``for ever``), and what was ``wrong``."""

    kinds: tuple[str, ...]
    minimal: bool
    wrong: tuple[str, ...]


def compare(problem: Problem) -> Compared:
    """Both forms of ``problem``, and what ``generate`` and ``verify`` make of them."""
    prover, wrong, kinds = Prover(choose("sat"), effort=1.0), list[str](), list[str]()
    for least in (None, 1):
        form = normal_form(problem.system, _seen(problem), prover, least)
        if form.terms:
            kinds.append("exact" if least is None else "bounded" if form.rises else "for ever")
            wrong += followed(problem.system, _seen(problem), form)
    truth = _Truth(problem)
    result = _generated(problem)
    wrong += _contradicted(problem, result, truth)
    proof = result.certificate
    if proof is not None:
        setting = Setting(problem.system, problem.goals, problem.final, "allow")
        line = normal_setting(setting, proof, Clock(Limits()))[2]
        wrong += [] if line.verdict in (HOLDS, OPEN, UNCLAIMED) else [f"verify: {line.text}"]
    return Compared(tuple(kinds), result.chain is not None and result.chain.length == result.bounds.lower, tuple(wrong))


def _seen(problem: Problem) -> list[FNode]:
    ends = [] if problem.final is None else [at(problem.final, 0)]
    return [*(goal.antecedent for goal in problem.goals), *ends]


def _generated(problem: Problem) -> ChainResult:
    """What ``generate`` says, where forms are looked for however few states there are, and however soon they end."""
    with mock.patch.object(slicing, "AT_ONCE", 0), mock.patch.object(slicing, "LEAST_HORIZON", 1):
        return generate(problem, Options(effort=EFFORT))


def followed(system: TransitionSystem, seen: Sequence[FNode], form: Form) -> Iterator[str]:
    """Where a run and the run of its images part, up to the step that ``form`` speaks of."""
    one, other = Simulator(system), Simulator(in_normal_form(system, form.terms))
    names = [var.name for var in system.state]
    images = compile_formulas([form.terms.get(var.name, var.symbol) for var in system.state])
    first, later = (compile_formulas(part) for part in seen_at(seen))
    steps = steps_within(system, form.rises)
    start = one.initial()
    if tuple(other.initial().values()) != tuple(images(start)):
        yield "the start states part"
    todo, met, depth = [tuple(start.values())], {tuple(start.values())}, 0
    while todo and len(met) < MOST and (steps is None or depth <= steps):
        following: list[State] = []
        for place in todo:
            state = dict(zip(names, place, strict=True))
            image = dict(zip(names, images(state), strict=True))
            for inputs in _inputs(system):
                may, might = one.allowed(state, inputs), other.allowed(image, inputs)
                both = form.sure is None or depth < form.sure
                if may > might or (both and may != might):
                    yield f"only one allows {inputs} in {state}"
                if not may:
                    continue
                after, there = one.step(state, inputs), other.step(image, inputs)
                if tuple(images(after)) != tuple(there.values()):
                    yield f"after {inputs} in {state}: {after}, and {there}"
                if first({**state, **inputs}) != first({**image, **inputs}):
                    yield f"seen of {state} under {inputs}, and of {image}"
                if any(later({**after, **more}) != later({**there, **more}) for more in _inputs(system)):
                    yield f"seen after {inputs} in {state}"
                key = tuple(after.values())
                if key not in met:
                    met.add(key)
                    following.append(key)
        todo, depth = following, depth + 1


def _inputs(system: TransitionSystem) -> list[Valuation]:
    names = [var.name for var in system.inputs]
    return [dict(zip(names, values, strict=True)) for values in product((0, 1), repeat=len(names))]


class _Truth:
    """The length of a shortest chain through ``goals``; None where there is none, or where there are too many
    combinations (``complete`` is then False)."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._simulator = problem, Simulator(problem.system)
        self._final = None if problem.final is None else compile_formulas([problem.final])
        self._names = [var.name for var in problem.system.state]
        self._steps: dict[State, list[tuple[State, frozenset[str]]]] = {}
        self._monitors = Monitor(problem.goals)
        self.complete = True

    def shortest(self, goals: Sequence[str], to_final: bool = True) -> int | None:
        """Steps of the shortest run that covers ``goals``."""
        wanted = frozenset(goals)
        start = tuple(self._simulator.initial().values())
        begin = (start, frozenset(self._at(start)) & wanted)
        todo, met, depth = [begin], {begin}, 0
        while todo:
            if any(covered == wanted and self._ends(state, to_final) for state, covered in todo):
                return depth
            following = []
            for state, covered in todo:
                for after, hits in self._from(state):
                    pair = (after, covered | (hits & wanted))
                    if pair not in met:
                        met.add(pair)
                        following.append(pair)
            if len(met) > MOST:
                self.complete = False
                return None
            todo, depth = following, depth + 1
        return None

    def _ends(self, state: State, to_final: bool) -> bool:
        return self._final is None or not to_final or bool(self._final(dict(zip(self._names, state, strict=True)))[0])

    def _at(self, state: State) -> list[str]:
        """The goals of no step that hold in ``state``."""
        values = {f"{name}@0": value for name, value in zip(self._names, state, strict=True)}
        short = [goal for goal in self._problem.goals if not goal.length]
        return [goal.name for goal in short if compile_formulas([goal.antecedent])(values)[0]]

    def _from(self, state: State) -> list[tuple[State, frozenset[str]]]:
        """The states after one step, and the goals of up to one step that are covered then."""
        if state not in self._steps:
            found, here = [], dict(zip(self._names, state, strict=True))
            for inputs in _inputs(self._problem.system):
                if not self._simulator.allowed(here, inputs):
                    continue
                after = self._simulator.step(here, inputs)
                values = {f"{name}@0": value for name, value in {**here, **inputs}.items()}
                values |= {f"{name}@1": value for name, value in after.items()}
                key = tuple(after.values())
                hits = [g.name for g in self._problem.goals if g.length and compile_formulas([g.antecedent])(values)[0]]
                found.append((key, frozenset([*hits, *self._at(key)])))
            self._steps[state] = found
        return self._steps[state]


def _contradicted(problem: Problem, result: ChainResult, truth: _Truth) -> Iterator[str]:
    """Claims of ``result`` that the search over all states contradicts."""
    for verdict in result.verdicts:
        if verdict.status == UNREACHABLE and truth.shortest([verdict.goal], False) is not None:
            yield f"{verdict.goal} is reachable"
        if verdict.status == NO_WAY_TO_FINAL and verdict.proved and truth.shortest([verdict.goal]) is not None:
            yield f"{verdict.goal} has a way to the end"
    proof = result.certificate
    if proof is not None and result.bounds.lower:
        least = truth.shortest(proof.goals)
        if least is not None and least < result.bounds.lower:
            yield f"the bound {result.bounds.lower}, but a chain of {least}"
    covered = [verdict.goal for verdict in result.verdicts if verdict.status == COVERED]
    if result.chain is not None:
        least = truth.shortest(covered)
        if truth.complete and (least is None or least > result.chain.length):
            yield f"a chain of {result.chain.length}, but none is shorter than {least}"
    if (
        result.no_chain
        and truth.shortest([name for name in problem.names if name not in result.uncoverable]) is not None
    ):
        yield "there is a chain"
