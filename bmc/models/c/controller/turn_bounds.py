"""Whether a reachable state can have more turns of a loop, or a deeper recursion, than a step was executed with.

Random runs tell which limits are too small, and which bounds of state variables are worth a guess. Those of the guesses
that are inductive are kept (Houdini's algorithm), and the solver is asked whether a state within them has too many
turns. The step has all its turns in such states, so that leaving out the others is no restriction: by induction over
the steps of a run no other state is reached.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress, permutations
from typing import Any

from pysmt.exceptions import SolverReturnedUnknownResultError
from pysmt.fnode import FNode
from pysmt.logics import QF_BV
from pysmt.shortcuts import BVSLE, BVULE, TRUE, And, FreshSymbol, Implies, Not, Or, Solver

from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import compile_formulas, names_in, post_order, unseen
from bmc.formulas.unroll import with_terms
from bmc.limits import ITERATIONS, OPEN_ITERATIONS
from bmc.models.c.controller.interface import assemble, classify
from bmc.models.c.controller.runs import Runs
from bmc.models.c.execute import cases
from bmc.models.c.execute.recorder import Recorder, StepResult, TooManyTurns
from bmc.models.c.execute.turns import UNASKED
from bmc.models.c.source.program import Function
from bmc.models.undetermined import for_any_value
from bmc.native.differential import RUN_LENGTH, Sampler
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, Valuation, between, conjunction, conjuncts

OPERATIONS = 20_000_000
"""Operations that random runs may take in all."""
MOST_STEPS = 1000
"""Steps that they have at most."""
MOST_WORK = 100_000
"""Limits do not grow where the step would be more work, and variables whose next values have more nodes than this
together are taken to have any value after a step."""
TIMES = 3
"""A bound of a variable becomes what steps lead to up to so many times, and a limit that no random run reached is
doubled so often, if no proof says that it suffices."""
GUESSES = 16
"""Upper bounds that are guessed of one variable, and lower ones; and variables that are compared with each other, if
there are no more."""
EFFORT = cases.EFFORT // 6
"""z3's resource limit of one question, and of all that refute guesses, as there are many; once it has been met, limits
that no random run reached do not grow."""

Excluded = Mapping[tuple[object, str], TooManyTurns]


@dataclass(frozen=True)
class Decision:
    """``settled``: what has too many turns in no reachable state; ``limits``: limits that suffice, where smaller ones
    than the present do; ``reached``: what has too many turns in a random run. ``bounds`` hold in all reachable states.
    ``hopeless``: what no larger limit is likely to settle, as some state within them has a loop that never ends."""

    settled: frozenset[object]
    limits: Mapping[object, int]
    reached: frozenset[object]
    bounds: FNode
    hopeless: frozenset[object] = frozenset()


def decide(system: TransitionSystem, recorder: Recorder, runs: _Runs) -> Decision:
    """What is known of the turns that ``recorder`` noted and excluded in the step of ``system``, by ``runs`` also."""
    reached = frozenset(runs.reached)
    open_ones: dict[object, list[FNode]] = {}
    for (key, _), found in recorder.rounds.excluded.items():
        open_ones.setdefault(key, []).append(found.formula)
    asked = {key: And(Or(formulas), recorder.without_undefined) for key, formulas in open_ones.items()}
    asked = {key: often for key, often in asked.items() if key not in reached}
    if open_ones and not asked:
        return Decision(frozenset(), {}, reached, TRUE())
    going = [formula for formulas in recorder.rounds.going.values() for formula in formulas.values()]
    formulas = [*going, *(found.formula for found in recorder.rounds.excluded.values())]
    for part in _parts(system, formulas):
        bounds, settled = part.settle(asked, runs)
        if len(settled) == len(asked):
            break
    limits = {}
    for key, noted in recorder.rounds.going.items():
        least = part.least(bounds, noted) if key in settled or key not in open_ones else None
        if least is not None:
            limits[key] = least
    left = [(key, found) for (key, _), found in recorder.rounds.excluded.items() if key in asked.keys() - settled]
    hopeless = {key for key, found in left if part.given_up or not part.never(And(bounds, found.endless))}
    return Decision(frozenset(settled | limits.keys()), limits, reached, bounds, frozenset(hopeless))


def _parts(system: TransitionSystem, formulas: Sequence[FNode]) -> Iterator[_Part]:
    """The variables on which ``formulas`` depend at once, then more and more of those that these depend on."""
    before = -1
    for depth in (0, 1, len(system.state)):
        part = _Part.of(system, formulas, depth)
        if len(part.variables) > before:
            yield part
        before = len(part.variables)


def ended(runs: Runs, step: Function, result: StepResult) -> StepResult:
    """The run of the step in which loops and recursion go as far as reachable states do, or up to their limits.

    The limits grow as long as no proof says that they suffice, and the work is not too much. InputRefused where a run
    comes to a loop that never ends.
    """
    limits, enough = runs.limits, dict[object, int]()
    while limits or result.recorder.rounds.excluded:
        roles = classify(runs, step, result)
        result = runs.with_inputs(step, result, roles)
        model = assemble(runs, step, result, roles, ())
        system, recorder = for_any_value(model.system, model.undetermined.bounded), result.recorder
        at_random = _Runs(system, recorder.without_undefined, recorder.rounds.excluded)
        _refuse_endless_run(at_random)
        grow = result.recorder.work * 2 <= MOST_WORK
        larger = {key: limits[key] * 2 for key in at_random.reached if key in limits and limits[key] < _most(key)}
        if larger and grow:  # what else has too many turns is decided when the random runs have none
            for key in larger:
                enough.pop(key, None)
            limits.update(larger)
            result = runs.run_step(step, dict(result.start))
            continue
        found = decide(system, recorder, at_random)
        unsettled = {key for key, _ in result.recorder.rounds.excluded} - found.settled
        for key in found.reached:
            enough.pop(key, None)
        for key in unsettled - found.reached:
            enough.setdefault(key, limits.get(key, 0))
        larger = {
            key: limits[key] * 2
            for key in unsettled - found.hopeless
            if key in limits and limits[key] < min(_most(key), enough.get(key, OPEN_ITERATIONS.most) << TIMES)
        }
        if larger and grow:
            limits.update(larger)
            result = runs.run_step(step, dict(result.start))
            continue
        _refuse_endless(result.recorder.rounds.excluded, unsettled)
        if not result.recorder.rounds.excluded and all(limits[key] <= least for key, least in found.limits.items()):
            return result
        limits.update({key: max(enough.get(key, 0), UNASKED) for key in unsettled if key in limits})
        limits.update({key: min(limits[key], least) for key, least in found.limits.items()})
        runs.executor.turns.settled, runs.bounds = found.settled, found.bounds
        return runs.run_step(step, dict(result.start))
    return result


def _most(key: object) -> int:
    """The greatest limit of a loop or of a recursion, which has a quarter of it."""
    return OPEN_ITERATIONS.most // 4 if isinstance(key, Function) else OPEN_ITERATIONS.most


def _refuse_endless_run(runs: _Runs) -> None:
    """InputRefused for a loop that never ends in a random run."""
    if runs.endless is not None:
        each, number = runs.endless
        text = each.name if each.endless == each.formula else "this loop never ends: its state comes back"
        raise ITERATIONS.refusal(each.where, f"{text} (in step {number} of a run)")


def _refuse_endless(excluded: Excluded, unsettled: Iterable[object]) -> None:
    """InputRefused for a loop that no run leaves, of which it is not proved that none comes to it."""
    for (key, _), each in excluded.items():
        if key in unsettled and each.endless == each.formula:
            raise ITERATIONS.refusal(each.where, each.name)


class _Runs:
    """Random runs from init. ``states`` are those that they come to; ``reached`` is what has too many turns in one,
    ``endless`` a loop that never ends in one, and the step of this, counted from 1."""

    def __init__(self, system: TransitionSystem, defined: FNode, excluded: Excluded) -> None:
        self.reached: set[object] = set()
        self.endless: tuple[TooManyTurns, int] | None = None
        self.states: list[Valuation] = []
        sampler = Sampler(system, seed=0)
        simulator = sampler.simulator
        named = _near_constants(system)
        found = list(excluded.items())
        formulas = [*(each.formula for _, each in found), *(each.endless for _, each in found)]
        changed = [var for var in system.state if var.next is not var.symbol]
        allows = compile_formulas([system.input_constraint])
        turn = compile_formulas([defined, system.defined, *formulas, *(var.next for var in changed)])
        state, length = simulator.initial(), 0
        wanted = {key for key, _ in excluded} if all(each.endless.is_false() for each in excluded.values()) else set()
        for _ in range(min(MOST_STEPS, OPERATIONS // max(simulator.size, 1))):
            if wanted and wanted <= self.reached:  # all limits are too small: no state serves a proof
                return
            self.states.append(state)
            inputs = sampler.constrained_inputs(state)
            if inputs is None or length == RUN_LENGTH:
                if not length:
                    return
                state, length = simulator.initial(), 0
                continue
            chosen = {name: sampler.random.choice(values) for name, values in named if sampler.random.random() < 1 / 2}
            if allows({**state, **inputs, **chosen})[0]:
                inputs = {**inputs, **chosen}
            without_undefined, is_defined, *values = turn({**state, **inputs})
            if without_undefined:
                self._note(found, values, length + 1)
            if is_defined:
                after = zip((var.name for var in changed), values[len(formulas) :], strict=True)
                state, length = {**state, **dict(after)}, length + 1

    def _note(self, found: Sequence[tuple[tuple[object, str], TooManyTurns]], values: Sequence[int], step: int) -> None:
        for number, ((key, _), each) in enumerate(found):
            if values[number]:
                self.reached.add(key)
            if values[len(found) + number] and self.endless is None:
                self.endless = each, step

    def all_have(self, formulas: Sequence[FNode]) -> Iterator[bool]:
        """Of each of ``formulas`` whether it holds in all states."""
        check = compile_formulas(list(formulas))
        left = [True] * len(formulas)
        for state in self.states:
            left = [before and bool(holds) for before, holds in zip(left, check(state), strict=True)]
        return iter(left)


def _near_constants(system: TransitionSystem) -> list[tuple[str, list[int]]]:
    """Values of inputs, by name, that the program names, and those beside them: what is compared with is met more often
    where half of the draws are of these."""
    words = {node for node in unseen([var.next for var in system.state], set()) if node.is_bv_constant()}
    numbers = {int(word.constant_value()) + by for word in words for by in (-1, 0, 1)}
    found = []
    for var in (each for each in system.inputs if not each.type.floating):
        size = 1 << max(var.type.bits, 1)
        fitting = sorted({number % size for number in numbers if number < size})
        values = [raw for raw in fitting if any(low <= var.type.value(raw) <= high for low, high in var.allowed)]
        found += [(var.name, values)] if values else []
    return found


@dataclass(eq=False)
class _Part:
    """``following``: the next values of the variables that are followed; all others may have any. ``steps``: what every
    step satisfies. ``named`` are the variables that too many turns depend on at once. ``given_up``: the solver has left
    a question open."""

    variables: tuple[StateVariable, ...]
    following: Mapping[FNode, FNode]
    steps: FNode
    inputs: FNode
    named: tuple[StateVariable, ...]
    given_up: bool = False

    @classmethod
    def of(cls, system: TransitionSystem, formulas: Sequence[FNode], depth: int) -> _Part:
        """The variables on which ``formulas`` depend over up to ``depth`` steps, as far as their steps have no
        arithmetic of floating numbers."""
        by_name = {var.name: var for var in system.state}
        todo = sorted(set(names_in(formulas)) & by_name.keys())
        named, left = tuple(by_name[name] for name in todo), MOST_WORK
        wanted: dict[str, StateVariable] = {}
        for _ in range(depth + 1):
            further: set[str] = set()
            for name in (each for each in todo if each not in wanted):
                after = by_name[name].next
                left -= len(post_order([after]))
                if left > 0 and not has_arithmetic([after]):
                    wanted[name] = by_name[name]
                    further |= set(names_in([after])) & by_name.keys()
            todo = sorted(further)
        known = wanted.keys() | {var.name for var in system.inputs}
        steps = [
            part
            for part in (*conjuncts(system.input_constraint), *conjuncts(system.defined))
            if known.issuperset(names_in([part])) and not has_arithmetic([part])
        ]
        following = {var.symbol: var.next for var in wanted.values()}
        return cls(tuple(wanted.values()), following, conjunction(steps), system.input_constraint, named)

    def settle(self, asked: Mapping[object, FNode], runs: _Runs) -> tuple[FNode, set[object]]:
        """Bounds that hold in all reachable states, and the keys of the formulas that hold nowhere within them."""
        guesses = self.guesses(runs)
        hoped = And(guess.formula for guess in guesses)
        if asked and not any(self.never(And(hoped, often)) for often in asked.values()):
            return TRUE(), set()
        bounds = self.tightened(_tightest(self.inductive(guesses)), runs)
        return bounds, {key for key, often in asked.items() if self.never(And(bounds, often))}

    def guesses(self, runs: _Runs) -> list[_Guess]:
        """Bounds that hold in all states of ``runs``."""
        guesses = [*(guess for var in self.variables for guess in _bounds(var, runs.states)), *self._pairs()]
        return [*compress(guesses, runs.all_have([guess.formula for guess in guesses]))]

    def inductive(self, guesses: list[_Guess]) -> list[_Guess]:
        """Those of ``guesses`` that hold after every step from where all of them do; none where the solver gives up."""
        then = with_terms([guess.formula for guess in guesses], self.following)
        symbols = [node for node in unseen(then, set()) if node.is_symbol()]
        holding, left = compile_formulas(then), [*range(len(guesses))]
        with Solver(name="z3", logic=QF_BV, solver_options={"rlimit": EFFORT}) as solver:
            solver.add_assertion(self.steps)
            spent = 0
            while left and spent < EFFORT:
                now, one_fails = FreshSymbol(), FreshSymbol()
                solver.add_assertion(Implies(now, And(guesses[number].formula for number in left)))
                solver.add_assertion(Implies(one_fails, Or(Not(then[number]) for number in left)))
                before = _effort(solver)
                try:
                    if not solver.solve([now, one_fails]):
                        return [guesses[number] for number in left]
                except SolverReturnedUnknownResultError:
                    break
                spent += _effort(solver) - before
                model = solver.get_model()
                values = {each.symbol_name(): int(model.get_value(each).constant_value()) for each in symbols}
                holds = holding(values)
                left = [number for number in left if holds[number]]
        self.given_up = self.given_up or bool(left)
        return []

    def _pairs(self) -> Iterator[_Guess]:
        numbers = [var for var in self.named if var.type.bits > 1 and not var.type.floating and var.init is not None]
        for one, other in permutations(numbers if len(numbers) <= GUESSES else (), 2):
            if one.type.bits == other.type.bits and one.type.signed == other.type.signed:
                yield _Guess((BVSLE if one.type.signed else BVULE)(one.symbol, other.symbol))

    def tightened(self, guesses: Sequence[_Guess], runs: _Runs) -> FNode:
        """Inductive bounds, with smaller upper ones for the variables that turns depend on at once: from what is
        beside the greatest constant up to what steps lead to."""
        bounds = conjunction(guess.formula for guess in guesses)
        for guess in guesses:
            var = guess.var
            if var is None or not guess.upper or var not in self.named or var.symbol not in self.following:
                continue
            met = {var.type.value(state[var.name]) for state in runs.states}
            most = max(met | {number for number in _named(var) if number < guess.number})
            for _ in range(TIMES):
                below = between(var.symbol, var.type, var.type.least, most)
                leads_within = partial(self._leads_within, conjunction([self.steps, bounds, below]), var)
                after = most + bisect_left(range(most, guess.number), True, key=leads_within)
                if after == most:
                    bounds = bounds if most == guess.number else conjunction([bounds, below])
                    break
                most = after
        return bounds

    def _leads_within(self, steps: FNode, var: StateVariable, most: int) -> bool:
        after = between(var.symbol, var.type, var.type.least, most)
        return self.never(And(steps, Not(with_terms([after], self.following)[0])))

    def least(self, bounds: FNode, going: Mapping[int, FNode]) -> int | None:
        """The smallest of some numbers of turns after which no run goes on from a state within ``bounds``."""
        numbers = sorted(going)
        at = bisect_left(numbers, True, key=lambda number: self.never(And(bounds, going[number])))
        return numbers[at] if at < len(numbers) else None

    def never(self, formula: FNode) -> bool:
        """Whether the solver proves that ``formula`` holds for no allowed inputs."""
        with Solver(name="z3", logic=QF_BV, solver_options={"rlimit": EFFORT}) as solver:
            try:
                return not solver.is_sat(And(self.inputs, formula))
            except SolverReturnedUnknownResultError:
                self.given_up = True
                return False


def _effort(solver: Any) -> int:
    """What z3 has spent so far; of its own statistics."""
    statistics = solver.z3.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


@dataclass(frozen=True, eq=False)
class _Guess:
    """That a variable is not above a bound, or not below one; without ``var`` that one is not above another."""

    formula: FNode
    var: StateVariable | None = None
    upper: bool = True
    number: int = 0


def _bounds(var: StateVariable, states: Iterable[Valuation]) -> Iterator[_Guess]:
    """Guesses of a least and of a greatest value, the tightest first: the values of ``states``, powers of two, and what
    is beside the constants of a variable's next value."""
    kind = var.type
    if kind.floating or kind.bits < 2 or var.init is None:
        return
    values = {kind.value(state[var.name]) for state in states}
    ends = _named(var) | {(1 << power) - 1 for power in range(kind.bits)}
    for most in sorted(end for end in {*ends, max(values)} if max(values) <= end < kind.greatest)[:GUESSES]:
        yield _Guess(between(var.symbol, kind, kind.least, most), var, True, most)
    for least in sorted((e for e in {*ends, 0, min(values)} if kind.least < e <= min(values)), reverse=True)[:GUESSES]:
        yield _Guess(between(var.symbol, kind, least, kind.greatest), var, False, least)


def _named(var: StateVariable) -> set[int]:
    """The constants of a variable's next value, with and without a sign, and the numbers beside them."""
    words = [node for node in unseen([var.next], set()) if node.is_bv_constant()]
    numbers = {int(value) for word in words for value in (word.constant_value(), word.bv_signed_value())}
    return {number + by for number in numbers for by in (-1, 0, 1)}


def _tightest(guesses: Sequence[_Guess]) -> list[_Guess]:
    """The guesses without those bounds that a tighter one of the same variable implies."""
    first: dict[object, _Guess] = {}
    for guess in guesses:
        first.setdefault(guess if guess.var is None else (guess.var, guess.upper), guess)
    return [*first.values()]
