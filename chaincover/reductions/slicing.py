"""The part of a system that a search for chains needs, its states in a normal form, and the way back to the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain as joined
from typing import TYPE_CHECKING

from pysmt.fnode import FNode

from bmc import ending
from bmc.analysis.slice import is_large, slice_and_spare, slice_system, without_impossible
from bmc.analysis.state_values import latches, values_of
from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached, listed
from bmc.evaluation.vectors import node_count
from bmc.formulas.evaluate import names_in
from bmc.formulas.folding import raw_value
from bmc.formulas.unroll import plain
from bmc.formulas.value_sets import NEVER, without
from bmc.system.transition import Run, StateVariable, TransitionSystem, Valuation, conjuncts, symbols_of
from chaincover.certificate import Validity, formula_text
from chaincover.chain import NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, Chain, LongTest, Parts, Verdict
from chaincover.graph.enumerated import AT_ONCE, ENUMERATING, advance, analysed, enumeration_of
from chaincover.known import Board, Known
from chaincover.limits import BRIEF, UNITS, Limits
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.reductions.reduction import CHAIN, Reduction, in_turn, once, run_on
from chaincover.replaying.judge import Judge, on_whole
from chaincover.result import ChainResult
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.invariants.differences import Form
    from bmc.invariants.induction import Prover

MOST_AT_FIRST = 8_000
"""Nodes of a step's formulas, some 4,000 lines, up to which a search begins with a slice by the values that variables
have. With twice as many, the first chain of a program of such a length comes later by as much as reading it took."""

LEAST_HORIZON = 1 << 16
"""Steps up to which a normal form that does not hold for ever has to hold: as many as a 16-bit clock takes to wrap.
With fewer, states may be enumerated as they are; twice as many would leave out faster clocks of 32 bits."""


def sliced(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> TransitionSystem:
    """The part of ``system`` on which ``goals``, with their consequents, ``final`` and a step's validity depend.

    ``final`` is over plain state symbols, None: a run may end anywhere.
    """
    return slice_system(*_cut_at(system, goals, final))


Cut = tuple[TransitionSystem, list[FNode], list[FNode]]
"""What to slice, what a search looks at and what it judges besides, as plain formulas."""


def _cut_at(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> Cut:
    searched, judged = _observed(goals, final)
    return without_impossible(system, [*searched, *judged]), searched, judged


def _observed(goals: Sequence[Goal], final: FNode | None) -> tuple[list[FNode], list[FNode]]:
    """What a search looks at and what it judges besides."""
    searched = plain_symbols([goal.antecedent for goal in goals])
    judged = plain_symbols([goal.consequent for goal in goals if goal.consequent is not None])
    return searched if final is None else [*searched, final], judged


def plain_symbols(formulas: Sequence[FNode]) -> list[FNode]:
    """The symbols of framed ``formulas``, without their steps."""
    return list(dict.fromkeys(plain(s) for s in joined.from_iterable(map(symbols_of, formulas))))


def first_slice(problem: Problem) -> Reduction:
    """``sliced_problem``; of a long step without what the values of its variables tell, which is sought later on."""
    if not _is_long(problem.system):
        return sliced_problem(problem)
    return _slice_of(problem, (problem.system, *_observed(problem.goals, problem.final)))


def _is_long(system: TransitionSystem) -> bool:
    """Whether a search on ``system`` begins without what the values of its variables tell."""
    return node_count([var.next for var in system.state]) > MOST_AT_FIRST


def sliced_problem(problem: Problem) -> Reduction:
    """The reduction to the part of the system that a search for chains needs.

    Chains are simulated and judged on the whole system. Inputs that the slice does not have keep one value;
    CheckDisagreed if that comes out otherwise.
    """
    return _slice_of(problem, _cut_at(problem.system, problem.goals, problem.final))


def _slice_of(problem: Problem, cut: Cut) -> Reduction:
    """The reduction to the slice at ``cut``."""
    small, spare = slice_and_spare(*cut)

    def whole_run(run: Run) -> Run:
        if not any(var.name not in values for values in run.inputs[:1] for var in problem.system.inputs):
            return run
        return Run(run.states, whole_inputs(run.inputs))

    whole_chain, whole_test = _judged_on(problem, whole_run)

    def whole_parts(test: LongTest) -> Parts:
        return tuple((whole_inputs(inputs), count) for inputs, count in test.parts)

    def whole_inputs(inputs: Sequence[Valuation]) -> tuple[Valuation, ...]:
        names = [var.name for var in problem.system.inputs]
        each = (values if values.keys() >= {*names} else {**spare, **values} for values in inputs)
        return tuple({name: values[name] for name in names} for values in each)

    def restore(result: ChainResult) -> ChainResult:
        verdicts = result.verdicts
        if result.finished:
            verdicts = explained(verdicts, lambda: latched_values(small, problem.final), result.tests)
        chain = None if result.chain is None else whole_chain(CHAIN, result.chain)
        tests = {name: whole_test(name, run) for name, run in result.tests.items()}
        beyond = {name: replace(test, parts=whole_parts(test)) for name, test in result.beyond.items()}
        return replace(result, verdicts=verdicts, chain=chain, tests=tests, beyond=beyond)

    return Reduction(replace(problem, system=small), restore)


def _judged_on(
    problem: Problem, whole_run: Callable[[Run], Run]
) -> tuple[Callable[[str, Chain], Chain], Callable[[str, Run], Run]]:
    """What makes a chain, and the test of a goal, of a smaller problem ones of ``problem``, each once (``once``);
    ``whole_run`` gives its inputs to a run."""
    return (
        once(lambda chain: on_whole(replace(chain, run=whole_run(chain.run)), problem)),
        once(lambda run: run_on(problem.system, whole_run(run))),
    )


def smaller_problem(problem: Problem, options: Options, limits: Limits, fewest: bool = True) -> Reduction:
    """The reduction to the part of the system that a search on its states needs, and, unless these are enumerated at
    once, or need not be the ``fewest``, without what never restricts a run, and in a normal form.

    What is spent on that counts in ``limits``.
    """
    limits.spend(analysed(problem.system))
    part = _enumerated_at_once(sliced_problem(problem), options, limits)
    at_once = part.enumeration is not None and part.enumeration.graph is not None and part.enumeration.graph.states
    if at_once or not fewest:
        return part
    fewer = fewer_states(_prover(options, limits))(part.problem)
    return part if fewer.problem is part.problem else in_turn(problem, (lambda _: part, lambda _: fewer))


def _prover(options: Options, limits: Limits) -> Prover:
    """Who proves normal forms; the work counts in ``limits``."""
    from bmc.invariants.induction import Prover

    engine: Engine
    if options.engine == ENUMERATING:
        from bmc.engines.auto import AutoEngine

        engine = AutoEngine(options.memory_limit, several=False)
    else:
        engine = choose_engine(options.engine, options.memory_limit)
    limits.watch(engine)
    return Prover(engine, limits.for_query, BRIEF)


def to_normal_form(board: Board) -> None:
    """Give the states a normal form, where one is proved; from then on the problem is another one with the same chains.

    Before that, a long step is cut by what the values of its variables tell, and conditions on a step to be defined are
    left out which are proved never to fail. Where the normal forms
    are not enumerated at once, one is taken, too, that holds of runs up to some number of steps: then what is found out
    of runs of any length is told of runs up to there. The chain so far is one of the problem in its normal form, too.
    """
    board.say("normal form: states that nothing can tell apart")
    whole, prover = board.known.problem, _prover(board.options, board.limits)
    part = Reduction(whole, lambda result: result)
    if _is_long(whole.system) and not is_large(whole.system):
        board.limits.spend(analysed(whole.system))
        board.limits.check()
        part = _sliced_again(whole)
    defined = surely_defined(prover)(part.problem)
    problem = defined.problem
    normal = normal_states(prover)(problem)
    if normal.normal_form:
        normal = _enumerated_at_once(normal, board.options, board.limits)
    if normal.enumeration is None or normal.enumeration.graph is None:
        bounded = normal_states(prover, LEAST_HORIZON)(problem)
        normal = bounded if bounded.normal_form else normal
    if normal.problem is not whole:
        chain, seen = board.known.chain, board.known.seen
        board.known, board.judge = Known(normal.problem), Judge(normal.problem)
        for run in (*([] if chain is None else [chain.run]), *seen.values()):  # the best one first: it is on disk
            board.offer(board.replay(run))
    every = in_turn(whole, (lambda _: part, lambda _: defined, lambda _: normal))
    board.enumeration, board.restore, board.whole = normal.enumeration, every.restore, whole


def _enumerated_at_once(part: Reduction, options: Options, limits: Limits) -> Reduction:
    """``part`` with the enumeration of its states, as far as little work takes it; as it is where there is none."""
    if options.engine != ENUMERATING:
        return part
    enumeration = enumeration_of(part.problem)
    with suppress(LimitReached):  # the stage that enumerates tells of it
        for _ in range(AT_ONCE):
            if not enumeration.done:
                advance(enumeration, limits)
        return replace(part, enumeration=enumeration)
    return part


def reduced(problem: Problem, options: Options) -> tuple[Problem, Options]:
    """The problem that a search works on, and ``options`` with the time and the effort that are left for it."""
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    try:
        with ending.interruptible():
            small = smaller_problem(monitored(problem).problem, options, limits).problem
    except (LimitReached, KeyboardInterrupt):
        if limits.left() and not ending.called_off():
            raise
        small = problem  # what comes next ends as it begins
    seconds = None if options.time_limit is None else limits.left()
    effort = None if options.effort is None else max(0.0, options.effort - limits.spent / UNITS)
    return small, replace(options, time_limit=seconds, effort=effort)


def fewer_states(prover: Prover) -> Callable[[Problem], Reduction]:
    """The reduction to states without what ``prover`` proves to restrict no run, and in a normal form, where it proves
    one. The problem itself where it proves neither."""
    return lambda problem: in_turn(problem, (surely_defined(prover), normal_states(prover)))


def surely_defined(prover: Prover) -> Callable[[Problem], Reduction]:
    """The reduction to a system without the conditions on a step to be defined that ``prover`` proves never to fail.

    Left out are conditions on variables that nothing else depends on, and with them these variables: a sum that no goal
    reads, and that cannot overflow. The problem itself where nothing is proved.
    """
    from bmc.invariants.candidates import without_proved

    def reduce(problem: Problem) -> Reduction:
        judged = [goal.consequent for goal in problem.goals if goal.consequent is not None]
        seen = plain_symbols([*(goal.antecedent for goal in problem.goals), *judged])
        ends = [] if problem.final is None else [problem.final]
        try:
            system = without_proved(problem.system, [*seen, *ends], prover)
        except LimitReached:
            return Reduction(problem, lambda result: result)
        if system is problem.system:
            return Reduction(problem, lambda result: result)
        return _sliced_again(replace(problem, system=system))

    return reduce


def _sliced_again(problem: Problem) -> Reduction:
    """The slice of a system that is one already: the verdicts are told as they are for that."""
    part = sliced_problem(problem)
    return replace(part, restore=lambda result: replace(part.restore(result), verdicts=result.verdicts))


def _validity(form: Form, steps: int | None) -> Validity | None:
    """Of which states, and of how many ``steps``, a normal form holds; None where it holds of all."""
    if form.holds.is_true() and not form.rises:
        return None
    rises = {name: (rise.most, rise.by) for name, rise in form.rises.items()}
    return Validity(formula_text(form.holds), rises, steps)


def _form_of(problem: Problem, prover: Prover, least: int | None) -> Form | None:
    """The normal form of the states of ``problem``; None where none is proved."""
    from bmc.invariants.normal_form import normal_form

    judged = [goal.consequent for goal in problem.goals if goal.consequent is not None]
    seen = [*(goal.antecedent for goal in problem.goals), *judged, *problem.end_formulas(0)]
    try:
        form = normal_form(problem.system, seen, prover, least)
    except LimitReached:
        return None
    return form if form.terms else None


def normal_states(prover: Prover, least: int | None = None) -> Callable[[Problem], Reduction]:
    """The reduction to states in a normal form, where ``prover`` proves one: what nothing can tell apart is one state.

    A chain has the same inputs there. It is simulated and judged again on the states as they are. With ``least`` the
    form is one of differences of counters that may hold of runs up to some number of steps, at least so many.
    """
    from bmc.invariants.differences import steps_within
    from bmc.invariants.normal_form import in_normal_form

    def reduce(problem: Problem) -> Reduction:
        form = _form_of(problem, prover, least)
        if form is None:
            return Reduction(problem, lambda result: result)
        small = in_normal_form(problem.system, form.terms)
        cut = sliced(small, problem.goals, problem.final)
        told = {name: formula_text(term) for name, term in form.terms.items()}
        steps = steps_within(problem.system, form.rises)
        validity = _validity(form, steps)
        whole_chain, whole_test = _judged_on(problem, lambda run: run)

        def restore(result: ChainResult) -> ChainResult:
            from chaincover.reductions.within_horizon import within, without_late_runs

            if form.sure is not None:
                result = without_late_runs(result, problem, form.sure)
            if steps is not None:
                result = within(result, problem, steps, prover)
            chain = None if result.chain is None else whole_chain(CHAIN, result.chain)
            proof = result.certificate and replace(result.certificate, normal_form=told, validity=validity)
            tests = {name: whole_test(name, run) for name, run in result.tests.items()}
            return replace(result, chain=chain, tests=tests, certificate=proof)

        kept = cut if cut.inputs == small.inputs else small
        return Reduction(replace(problem, system=kept), restore, form.terms)

    return reduce


CONCERNED = (NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED)
"""Verdicts that a value which never comes back can explain; all but the first only if the first step loses it."""
ONCE_CHANGED, BY_THE_TEST = "once changed, {}", "the test changes {}, which"
NO_TESTS: Mapping[str, Run] = {}
ADVICE = "ask for another end (--final), or, where the end is a state like init, list them in interface.ignore"


def latched_values(part: TransitionSystem, final: FNode | None) -> Mapping[str, bool]:
    """The variables whose value after init ``final`` asks for, and that never have it again once they have another.

    True: they have another from the first step on. ``part`` is a slice for ``final`` (over plain symbols, None: a run
    may end anywhere).
    """
    read = [(names_in([asked]), asked) for asked in ([] if final is None else conjuncts(final))]
    names = {
        var.name
        for var in part.state
        if var.init is not None and any(own == {var.name} and _asks_for_start(part, var, asked) for own, asked in read)
    }
    return latches(part, names) if names else {}


def _asks_for_start(system: TransitionSystem, var: StateVariable, asked: FNode) -> bool:
    """Whether ``asked``, which reads ``var`` alone, holds for no value but the start value, as far as ranges tell."""
    assert var.init is not None
    others = without(raw_value(var.init), var.type.bits)
    return all(values_of([asked], system, {var.name: (part,)})[0] == NEVER for part in others)


def explained(
    verdicts: Sequence[Verdict], latched: Callable[[], Mapping[str, bool]], tests: Mapping[str, Run] = NO_TESTS
) -> tuple[Verdict, ...]:
    """``verdicts`` with the fields named that keep runs from the final condition; ``latched`` tells which. Of an
    undecided goal that one of ``tests`` covers they are those that this test has changed."""
    if not any(verdict.status in CONCERNED for verdict in verdicts):
        return tuple(verdicts)
    names = latched()

    def why(verdict: Verdict) -> str:
        if verdict.status not in CONCERNED:
            return ""
        if verdict.status == UNDECIDED and verdict.goal in tests:
            states = tests[verdict.goal].states
            return _why(BY_THE_TEST, [name for name in names if states[0][name] != states[-1][name]])
        return _why(ONCE_CHANGED, [name for name in names if verdict.status == NO_WAY_TO_FINAL or names[name]])

    return tuple(replace(verdict, detail=verdict.detail + why(verdict)) for verdict in verdicts)


def _why(said: str, names: Sequence[str]) -> str:
    verb, values = ("have", "values") if len(names) > 1 else ("has", "value")
    told = said.format(listed(names))
    return f"; {told} never {verb} the {values} after init again: {ADVICE}" if names else ""
