"""What ``check`` finds out about a controller before any chain is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc import ending
from bmc.ending import CALLED_OFF, INTERRUPT, ExitCode
from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine, Status
from bmc.errors import InputRefused, LimitReached, NoOriginal, StepTooLarge, counted
from bmc.explicit.state_graph import StateGraph, longest_run
from bmc.formulas.evaluate import compile_formulas
from bmc.native.differential import Comparison, Sampler, compare
from bmc.records import dataclass
from bmc.system.constraints import unconstrained
from bmc.system.simulation import Simulator
from bmc.system.transition import Condition, TransitionSystem
from chaincover.formats.chain_file import CHECK_SCHEMA
from chaincover.graph.enumerated import ENUMERATING, enumerate_within, enumeration_of
from chaincover.library import NotAnalysed, within_bounds
from chaincover.limits import PER_UNIT, Limits
from chaincover.options import Options
from chaincover.problem import Problem, Questions
from chaincover.project.values import show_ranges
from chaincover.reductions.reduction import Reduction
from chaincover.reductions.slicing import sliced, smaller_problem
from chaincover.subject import Subject
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from chaincover.check.found_invariants import FoundInvariant
    from chaincover.check.goal_facts import GoalFacts, VacuitySearch
    from chaincover.check.hints import Slow
    from chaincover.check.liveness import Liveness
    from chaincover.check.undefined_behaviour import UndefinedBehaviour, UndefinedBehaviourSearch

TRIED_STEPS, SIMULATED_STEPS = 100, 2000
"""Random steps on which invariants are tried before a proof is sought, and those that are not proved."""


Progress = Callable[[str], None]


@dataclass(frozen=True)
class Compared:
    """The comparison with the original as ``compiler`` made it; None where ``left_out`` says why, or if interrupted."""

    comparison: Comparison | None = None
    compiler: str = ""
    left_out: str = ""

    def as_data(self) -> dict[str, Any] | None:
        """The comparison as plain data, if it was made."""
        if self.comparison is None:
            return None
        return {
            "compiler": self.compiler,
            "steps": self.comparison.steps,
            "differences": len(self.comparison.differences),
            "stopped": self.comparison.stopped,
        }


@dataclass(frozen=True)
class Analysis:
    """The findings of ``check``; ``found`` are invariants that nobody stated.

    ``reasons`` say why goals cannot be met, where that was found; ``slow``: what makes a search long.
    ``interrupted``: ``interrupt`` (from the keyboard), ``terminated``, ``time limit`` or ''; what was not
    found out until then is undecided.
    """

    unsatisfiable: tuple[Goal, ...]
    undecided: tuple[Goal, ...]
    final_unsatisfiable: bool
    undefined_behaviour: tuple[UndefinedBehaviour, ...]
    invariants: tuple[Condition, ...]
    found: tuple[FoundInvariant, ...]
    facts: GoalFacts
    liveness: Liveness
    compared: Compared
    interrupted: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    slow: tuple[Slow, ...] = ()

    @property
    def exit_code(self) -> int:
        """130 if interrupted, 143 if terminated, 1 if model and original differ, 5 if a limit ended it, something is
        undecided, or no step could be compared, 4 if a goal or the final condition is impossible, else 0."""
        if self.interrupted in CALLED_OFF:
            return CALLED_OFF[self.interrupted]
        comparison = self.compared.comparison
        if comparison is not None and comparison.differences:
            return ExitCode.FINDING
        if self.interrupted:
            return ExitCode.LIMIT
        if self.undecided or (comparison is not None and not comparison.steps):
            return ExitCode.LIMIT
        return (
            ExitCode.NOT_COVERED
            if self.final_unsatisfiable or any(not goal.generated for goal in self.unsatisfiable)
            else 0
        )


def as_data(subject: Subject, found: Analysis) -> dict[str, Any]:
    """The findings as plain data."""
    from chaincover.check.found_invariants import found_data

    return {
        "schema": CHECK_SCHEMA,
        **_subject_data(subject),
        "unsatisfiable": [g.name for g in found.unsatisfiable],
        "reasons": dict(found.reasons),
        "slow": [{"text": slow.text, "next": slow.remedy} for slow in found.slow],
        "undecided": [g.name for g in found.undecided],
        "final_unsatisfiable": found.final_unsatisfiable,
        "invariants": [{"name": c.name, "proved": c.proved} for c in found.invariants],
        "found_invariants": found_data(found.found, subject.model),
        "goal_facts": found.facts.as_data(),
        "liveness": found.liveness.as_data(),
        "undefined_behaviour": None
        if subject.not_analysed.step
        else [each.as_data(subject.system) for each in found.undefined_behaviour],
        **({} if found.facts.dead_end is None else {"dead_end": found.facts.dead_end.as_data()}),
        "notes": list(subject.notes),
        "compared": found.compared.as_data(),
        "not_compared": found.compared.left_out or None,
        "interrupted": found.interrupted or None,
        "exit_code": found.exit_code,
    }


def _subject_data(subject: Subject) -> dict[str, Any]:
    """What was analysed, and what was not, as plain data."""
    system, not_analysed, rules = subject.system, subject.not_analysed, [rule.told for rule in subject.rules]
    goals = [*subject.goals, *(goal for goal, _ in not_analysed.goals)]
    return {
        "controller": system.name,
        "inputs": [
            {"name": v.name, "type": v.type.name, "values": show_ranges(v.values, v.type)} for v in system.inputs
        ],
        **({"constraints": rules} if rules else {}),
        "state": [
            {"name": v.name, "type": v.type.name, "role": v.role, "open": v.init is None} for v in system.visible_state
        ],
        "goals": [{"name": g.name, "property": g.text, "length": g.over(0)} for g in goals],
        **({"hold": subject.hold} if subject.hold > 1 else {}),
        "final": subject.final_text or not_analysed.final_text or None,
        **({"not_analysed": not_analysed.as_data()} if not_analysed else {}),
    }


def prepare(subject: Subject, engine: Engine, limits: Limits | None = None) -> TransitionSystem:
    """The system with its invariants proved, as far as ``limits`` allow; those that need more than sets of values are
    tried before.

    InputRefused if the assumptions contradict each other or an invariant fails in a simulated run.
    """
    system = subject.system
    limits = limits or Limits(effort=1.0)
    _refuse_contradiction(subject, engine, limits)
    if not system.invariants:
        return system
    from bmc.invariants.induction import Prover, prove, told_by_sets

    bare = replace(system, invariants=())
    if told_by_sets(bare, system.invariants):
        return replace(system, invariants=tuple(replace(c, proved=True) for c in system.invariants))
    _try_invariants(system, limits, TRIED_STEPS)
    if limits.over:
        return system
    prover = Prover(engine, lambda: _for_query(limits), limits.question())
    proved = prove(bare, system.invariants, prover)
    _try_invariants(replace(system, invariants=tuple(c for c in proved if not c.proved)), limits, SIMULATED_STEPS)
    return replace(system, invariants=proved)


def analyse(
    subject: Subject,
    options: Options | None = None,
    compare_steps: int = 1000,
    progress: Progress = lambda text: None,
) -> Analysis:
    """All findings; ``compare_steps`` random steps are compared with the compiled original.

    The engine and the limits are those of ``options``; what these do not suffice for is undecided. So is, after an
    interrupt from the keyboard, what was not found out until then. ``progress`` is told what is done.
    """
    with ending.uninterrupted():
        return _analysis(subject, options or Options(), compare_steps, progress)


@dataclass(frozen=True)
class _Setting:
    """What is checked, and by which means: the whole ``system`` of ``subject``, its invariants proved, and the
    ``problem`` on the part of it that matters to goals and end."""

    subject: Subject
    options: Options
    engine: Engine
    limits: Limits
    system: TransitionSystem
    problem: Problem


@dataclass
class _Findings:
    """What the checks have found so far; a limit or an interrupt may end them at any time."""

    goals: VacuitySearch
    undefined_behaviour: UndefinedBehaviourSearch
    compared: Compared = Compared()
    final_unsatisfiable: bool = False
    facts: GoalFacts | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    slow: tuple[Slow, ...] = ()
    invariants: tuple[FoundInvariant, ...] = ()


def _analysis(subject: Subject, options: Options, compare_steps: int, progress: Progress) -> Analysis:
    """``analyse``, of which only what takes long can be interrupted."""
    from chaincover.check.goal_facts import UNKNOWN, VacuitySearch
    from chaincover.check.liveness import find_liveness
    from chaincover.check.undefined_behaviour import UndefinedBehaviourSearch

    engine = choose_engine(options.engine, options.memory_limit)
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    limits.watch(engine)
    interrupted, system = "", subject.system
    try:
        with ending.interruptible():
            system = prepare(subject, engine, limits.share(0.3))
    except (LimitReached, KeyboardInterrupt) as error:
        interrupted = _name_of(error)
    progress("check: state")
    part = sliced(system, subject.goals, subject.final)
    liveness = find_liveness(system, subject.observers, subject.goals, subject.final, part)
    limits.spend(Simulator(system).size / PER_UNIT.checked_nodes)
    problem = Problem(part, subject.goals, subject.final, subject.settings.overlap)
    setting = _Setting(subject, options, engine, limits, system, problem)
    search = UndefinedBehaviourSearch(system, engine, options.engine in ENUMERATING)
    found = _Findings(VacuitySearch(part, subject.goals, engine), search)
    try:
        with ending.interruptible():
            if interrupted:
                raise KeyboardInterrupt(interrupted)
            if subject.not_analysed.step:
                found.compared = Compared(left_out=f"a step depends on {within_bounds(subject.not_analysed.step)}")
            else:
                _check(setting, found, compare_steps, progress)
    except (LimitReached, KeyboardInterrupt) as error:
        interrupted = _name_of(error)
    facts = _of_all_goals(found.facts or _undecided_facts(setting), subject.not_analysed)
    open_goals = {trigger.goal for trigger in facts.triggers if trigger.kind == UNKNOWN}
    return Analysis(
        unsatisfiable=found.goals.unsatisfiable,
        undecided=tuple(goal for goal in found.goals.undecided if goal.name in open_goals),
        final_unsatisfiable=found.final_unsatisfiable,
        undefined_behaviour=tuple(found.undefined_behaviour.found()),
        invariants=system.invariants,
        found=found.invariants,
        facts=facts,
        liveness=liveness,
        compared=found.compared,
        interrupted=interrupted,
        reasons=found.reasons,
        slow=found.slow,
    )


def _of_all_goals(facts: GoalFacts, not_analysed: NotAnalysed) -> GoalFacts:
    """``facts`` without what would be said of all goals, where some of them are not analysed."""
    from chaincover.check.goal_facts import UNKNOWN, Claim

    if not not_analysed:
        return facts
    texts = [f"what depends on {within_bounds(each)} is not analysed" for each in not_analysed.functions]
    unknown = Claim(UNKNOWN, tuple(texts))
    return replace(facts, lemma_3=unknown, theorem_2=unknown)


def _name_of(error: LimitReached | KeyboardInterrupt) -> str:
    """The limit or the signal that ended the checks early."""
    return error.limit if isinstance(error, LimitReached) else str(error) or INTERRUPT


def _check(setting: _Setting, found: _Findings, compare_steps: int, progress: Progress) -> None:
    """Make all checks, those first whose findings say most about what is wrong."""
    from chaincover.check.found_invariants import find_invariants

    subject, problem, engine, limits = setting.subject, setting.problem, setting.engine, setting.limits
    with suppress(LimitReached):
        found.goals.run(limits.share(0.2), progress)
    with suppress(LimitReached):
        if subject.final is not None:
            found.final_unsatisfiable = _impossible(problem.system, subject.final, engine, limits.share(0.2))
    progress("check: comparison with the compiled original")
    found.compared = _compared(subject, unconstrained(setting.system), compare_steps, limits.share(0.3))
    with suppress(LimitReached):
        found.undefined_behaviour.run(limits.share(0.6 if subject.goals else 1.0), progress)
    progress("check: reachable states")
    graph, not_enumerated = _enumerated(problem, setting.options.engine, limits.share(0.5))
    _find_facts(setting, found, graph, not_enumerated, progress)
    _find_reasons(setting, found)
    progress("check: invariants")
    with suppress(StepTooLarge):
        found.invariants = find_invariants(setting.system, Questions(problem, engine, limits.share(1.0)), graph)


def _find_facts(
    setting: _Setting, found: _Findings, graph: StateGraph | None, not_enumerated: str, progress: Progress
) -> None:
    """Facts about the goals from all reachable states (``graph``), else from all in a normal form, else by questions;
    and what makes a search slow, where the states are too many for either."""
    from chaincover.check.goal_facts import find_facts
    from chaincover.check.hints import find_slow

    problem, engine, limits = setting.problem, setting.engine, setting.limits
    normal, states = Reduction(problem, lambda result: result), graph
    if graph is None and not_enumerated and setting.options.engine in ENUMERATING:
        progress("check: a normal form of states")
        normal, states = _in_normal_form(problem, setting.options, limits.share(0.3))
    if states is None and not_enumerated:
        found.slow = find_slow(problem.system, problem.goals, limits.share(0.2), engine)
    progress("check: facts about the goals")
    questions = Questions(normal.problem, engine, limits.share(0.7))
    with suppress(StepTooLarge):
        found.facts = find_facts(questions, states, not_enumerated if states is None else "")
    found.facts = found.facts or _undecided_facts(setting)
    ended = _dead_end(setting.system, engine, limits.share(0.2), states)
    found.facts = replace(found.facts, normal_form=tuple(normal.normal_form), dead_end=ended)


def _undecided_facts(setting: _Setting) -> GoalFacts:
    """The facts about the goals that take no effort to find."""
    from chaincover.check.goal_facts import find_facts

    return find_facts(Questions(setting.problem, setting.engine, Limits(0.0)), None)


def _find_reasons(setting: _Setting, found: _Findings) -> None:
    """Why goals that somebody wrote cannot be met."""
    from chaincover.check.goal_facts import NONE
    from chaincover.check.hints import why_unreachable, why_unsatisfiable

    assert found.facts is not None
    part, limits = setting.problem.system, setting.limits
    contradictory = [goal for goal in found.goals.unsatisfiable if not goal.generated]
    never = {trigger.goal for trigger in found.facts.triggers if trigger.kind == NONE}
    missed = [goal for goal in setting.problem.goals if goal.name in never and not goal.generated]
    found.reasons = why_unreachable(part, missed, limits.share(0.1))
    found.reasons |= why_unsatisfiable(part, contradictory, setting.engine, limits.share(0.2))


def _dead_end(system: TransitionSystem, engine: Engine, limits: Limits, states: StateGraph | None) -> DeadEnd | None:
    """Why no run goes on after some number of steps, where that is found; ``states``: all reachable ones, if known."""
    from chaincover.check.undefined_behaviour import find_dead_end

    with suppress(LimitReached):
        return find_dead_end(system, engine, limits, None if states is None else longest_run(states))
    return None


def _enumerated(problem: Problem, engine: str, limits: Limits) -> tuple[StateGraph | None, str]:
    """The reachable states; where they are not enumerated, why, and what would change that."""
    if not problem.goals:
        return None, ""
    if engine not in ENUMERATING:
        return None, f"The engine {engine} answers all questions itself; --engine auto enumerates states."
    enumeration = enumeration_of(problem)
    graph = enumerate_within(enumeration, limits)
    if graph is not None:
        return graph, ""
    if enumeration.done and not enumeration.obstacle:
        return None, "No state is reachable."
    from chaincover.check.hints import FEWER_INPUTS, few_states, fewer_inputs

    more = "" if enumeration.obstacle else "give more --effort or --time-limit, or "
    reason = enumeration.reason or ""
    if not enumeration.obstacle and reason.endswith(" so far."):
        reason = few_states(problem.system, enumeration.states)
    remedy = enumeration.remedy.replace(FEWER_INPUTS, fewer_inputs(problem.system))
    return None, f"{reason} To change that, {more}{remedy}."


def _in_normal_form(problem: Problem, options: Options, limits: Limits) -> tuple[Reduction, StateGraph | None]:
    """The reduction to states in a normal form, and all of these; to the problem itself where that does not help."""
    reduction = smaller_problem(problem, options, limits)
    if reduction.problem.system.state != problem.system.state:
        graph = enumerate_within(enumeration_of(reduction.problem), limits)
        if graph is not None:
            return reduction, graph
    return Reduction(problem, lambda result: result), None


def _compared(subject: Subject, system: TransitionSystem, steps: int, limits: Limits) -> Compared:
    if not steps:
        return Compared(left_out="no steps asked for")
    each = 2 * Simulator(system).size / PER_UNIT.simulated

    def over() -> bool:
        limits.spend(each)
        return limits.over

    try:
        with subject.model.original(True) as original:
            return Compared(compare(system, original, steps, 0, over), original.name)
    except NoOriginal as error:
        return Compared(left_out=error.message)


def _for_query(budget: Limits) -> float | None:
    """Seconds for the next query; 0, which answers nothing, once the time is over."""
    try:
        return budget.for_query()
    except LimitReached:
        return 0.0


def _refuse_contradiction(subject: Subject, engine: Engine, budget: Limits) -> None:
    """Assumptions that allow no inputs at all, or no first step."""
    system = subject.system
    sampler = Sampler(system, seed=0)
    if sampler.allowed_inputs(sampler.simulator.initial()) is not None:
        return
    where = subject.settings.where
    inputs_only = replace(system, defined=TRUE(), invariants=())
    if engine.session(inputs_only, TRUE()).check([], 1, _for_query(budget), budget.question()).status is Status.UNSAT:
        raise InputRefused(
            "the input assumptions contradict each other: no inputs are allowed in any state",
            where,
            "look at the ranges, constraints and the assumption function",
        )
    from bmc.engines.dead_ends import QuestionLimits, dead_end

    found = dead_end(system, engine, 1, limits=QuestionLimits(_for_query(budget)))
    if found is not None:
        raise InputRefused(found.message, found.where or where, found.hint)


def _try_invariants(system: TransitionSystem, budget: Limits, steps: int) -> None:
    """Simulate so many steps: an invariant that fails on a real run is refused."""
    if not system.invariants:
        return
    holds = compile_formulas([c.formula for c in system.invariants])
    sampler = Sampler(system, seed=0)
    for inputs in sampler.runs(steps):
        if budget.over:
            return
        states = sampler.simulator.run(sampler.simulator.initial(), inputs).states
        for step, state in enumerate(states):
            for condition, held in zip(system.invariants, holds(state), strict=True):
                if not held:
                    text = f"the invariant '{condition.name}' fails after {counted(step, 'step')} of a simulated run"
                    raise InputRefused(text, condition.where, "correct it or leave it out")


def _impossible(system: TransitionSystem, formula: FNode, engine: Engine, budget: Limits) -> bool:
    """Whether no state that the proved invariants allow satisfies ``formula``."""
    from bmc.invariants.induction import Anywhere

    known = [c.formula for c in system.invariants if c.proved]
    anywhere = Anywhere(replace(system, input_constraint=TRUE()), engine, known)
    return anywhere.status([formula], _for_query(budget), budget.question()) is Status.UNSAT
