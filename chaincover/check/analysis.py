"""What ``check`` finds out about a controller before any chain is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc import ending
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
from chaincover.graph.enumerated import ENUMERATING, enumerate_within, enumeration_of
from chaincover.limits import PER_UNIT, Limits
from chaincover.options import Options
from chaincover.problem import Problem, Questions
from chaincover.project.values import show_ranges
from chaincover.reductions.reduction import Reduction
from chaincover.reductions.slicing import sliced, smaller_problem
from chaincover.result import CALLED_OFF, INTERRUPT
from chaincover.subject import Subject
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from chaincover.check.found_invariants import FoundInvariant
    from chaincover.check.goal_facts import GoalFacts
    from chaincover.check.hints import Slow
    from chaincover.check.liveness import Liveness
    from chaincover.check.undefined_behaviour import UndefinedBehaviour

TRIED_STEPS, SIMULATED_STEPS = 100, 2000
"""Random steps on which invariants are tried before a proof is sought, and those that are not proved."""


Progress = Callable[[str], None]


@dataclass(frozen=True)
class Compared:
    """The comparison with the original as ``compiler`` made it; None where ``left_out`` says why, or if interrupted."""

    comparison: Comparison | None = None
    compiler: str = ""
    left_out: str = ""


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
            return 1
        if self.interrupted:
            return LimitReached.exit_code
        if self.undecided or (comparison is not None and not comparison.steps):
            return 5
        return 4 if self.final_unsatisfiable or any(not goal.generated for goal in self.unsatisfiable) else 0


def as_data(subject: Subject, found: Analysis) -> dict[str, Any]:
    """The findings as plain data."""
    from chaincover.check.found_invariants import found_data

    system = subject.system
    compared = found.compared.comparison
    return {
        "schema": "chaincover/check/2",
        "controller": system.name,
        "inputs": [
            {"name": v.name, "type": v.type.name, "values": show_ranges(v.values, v.type)} for v in system.inputs
        ],
        **({"constraints": rules} if (rules := [rule.told for rule in subject.rules]) else {}),
        "state": [
            {"name": v.name, "type": v.type.name, "role": v.role, "open": v.init is None}
            for v in system.state
            if v.role != "internal"
        ],
        "goals": [{"name": g.name, "property": g.text, "length": g.over(0)} for g in subject.goals],
        **({"hold": subject.hold} if subject.hold > 1 else {}),
        "final": subject.final_text or None,
        "unsatisfiable": [g.name for g in found.unsatisfiable],
        "reasons": dict(found.reasons),
        "slow": [{"text": slow.text, "next": slow.remedy} for slow in found.slow],
        "undecided": [g.name for g in found.undecided],
        "final_unsatisfiable": found.final_unsatisfiable,
        "invariants": [{"name": c.name, "proved": c.proved} for c in found.invariants],
        "found_invariants": found_data(found.found, subject.model),
        "goal_facts": found.facts.as_data(),
        "liveness": found.liveness.as_data(),
        "undefined_behaviour": [
            {
                "kind": s.kind,
                "where": str(s.where),
                "steps_from_init": s.steps,
                "undecided": s.undecided,
                "searched": s.searched,
            }
            for s in found.undefined_behaviour
        ],
        **({} if found.facts.dead_end is None else {"dead_end": found.facts.dead_end.as_data()}),
        "notes": list(subject.notes),
        "compared": None
        if compared is None
        else {
            "compiler": found.compared.compiler,
            "steps": compared.steps,
            "differences": len(compared.differences),
            "stopped": compared.stopped,
        },
        "not_compared": found.compared.left_out or None,
        "interrupted": found.interrupted or None,
        "exit_code": found.exit_code,
    }


def prepare(subject: Subject, engine: Engine, limits: Limits | None = None) -> TransitionSystem:
    """The system with its invariants tried and proved, as far as ``limits`` allow.

    InputRefused if the assumptions contradict each other or an invariant fails in a simulated run.
    """
    system = subject.system
    limits = limits or Limits(effort=1.0)
    _refuse_contradiction(subject, engine, limits)
    _try_invariants(system, limits, TRIED_STEPS)
    if not system.invariants or limits.over:
        return system
    from bmc.invariants.induction import Prover, prove

    prover = Prover(engine, lambda: _for_query(limits), limits.question())
    proved = prove(replace(system, invariants=()), system.invariants, prover)
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


def _analysis(subject: Subject, options: Options, compare_steps: int, progress: Progress) -> Analysis:
    """``analyse``, of which only what takes long can be interrupted."""
    from chaincover.check.found_invariants import find_invariants
    from chaincover.check.goal_facts import NONE, UNKNOWN, VacuitySearch, find_facts
    from chaincover.check.hints import find_slow, why_unreachable, why_unsatisfiable
    from chaincover.check.liveness import find_liveness
    from chaincover.check.undefined_behaviour import UndefinedBehaviourSearch

    engine = choose_engine(options.engine, options.memory_limit)
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    limits.watch(engine)
    interrupted, system = "", subject.system
    try:
        with ending.interruptible():
            system = prepare(subject, engine, limits.share(0.3))
    except LimitReached as error:
        interrupted = error.limit
    except KeyboardInterrupt as error:
        interrupted = str(error) or INTERRUPT
    progress("check: state")
    final = subject.final
    part = sliced(system, subject.goals, subject.final)
    free = unconstrained(system)
    liveness = find_liveness(system, subject.observers, subject.goals, final, part)
    limits.spend(Simulator(system).size / PER_UNIT.checked_nodes)
    problem = Problem(part, subject.goals, final, subject.settings.overlap)
    goals = VacuitySearch(part, subject.goals, engine)
    undefined_behaviour = UndefinedBehaviourSearch(system, engine, options.engine in ENUMERATING)
    compared = Compared()
    facts: GoalFacts | None = None
    invariants: tuple[FoundInvariant, ...] = ()
    final_open = False
    reasons: dict[str, str] = {}
    slow: tuple[Slow, ...] = ()
    try:
        with ending.interruptible():
            if interrupted:
                raise KeyboardInterrupt(interrupted)
            with suppress(LimitReached):
                goals.run(limits.share(0.2), progress)
            with suppress(LimitReached):
                if subject.final is not None:
                    final_open = _impossible(part, subject.final, engine, limits.share(0.2))
            progress("check: comparison with the compiled original")
            compared = _compared(subject, free, compare_steps, limits.share(0.3))
            with suppress(LimitReached):
                undefined_behaviour.run(limits.share(0.6 if subject.goals else 1.0), progress)
            progress("check: reachable states")
            graph, not_enumerated = _enumerated(problem, options.engine, limits.share(0.5))
            normal, normal_graph = Reduction(problem, lambda result: result), graph
            if graph is None and not_enumerated and options.engine in ENUMERATING:
                progress("check: a normal form of states")
                normal, normal_graph = _in_normal_form(problem, options, limits.share(0.3))
            if normal_graph is None and not_enumerated:
                slow = find_slow(part, subject.goals, limits.share(0.2), engine)
            progress("check: facts about the goals")
            questions = Questions(normal.problem, engine, limits.share(0.7))
            with suppress(StepTooLarge):
                facts = find_facts(questions, normal_graph, not_enumerated if normal_graph is None else "")
            facts = facts or find_facts(Questions(problem, engine, Limits(0.0)), None)
            ended = _dead_end(system, engine, limits.share(0.2), normal_graph)
            facts = replace(facts, normal_form=normal.normal_form, dead_end=ended)
            contradictory = [goal for goal in goals.unsatisfiable if not goal.generated]
            never = {trigger.goal for trigger in facts.triggers if trigger.kind == NONE}
            missed = [goal for goal in subject.goals if goal.name in never and not goal.generated]
            reasons = why_unreachable(part, missed, limits.share(0.1))
            reasons |= why_unsatisfiable(part, contradictory, engine, limits.share(0.2))
            progress("check: invariants")
            with suppress(StepTooLarge):
                invariants = find_invariants(system, Questions(problem, engine, limits.share(1.0)), graph)
    except LimitReached as error:
        interrupted = error.limit
    except KeyboardInterrupt as error:
        interrupted = str(error) or INTERRUPT
    if facts is None:
        facts = find_facts(Questions(problem, engine, Limits(0.0)), None)
    open_goals = {trigger.goal for trigger in facts.triggers if trigger.kind == UNKNOWN}
    return Analysis(
        unsatisfiable=goals.unsatisfiable,
        undecided=tuple(goal for goal in goals.undecided if goal.name in open_goals),
        final_unsatisfiable=final_open,
        undefined_behaviour=tuple(undefined_behaviour.found()),
        invariants=system.invariants,
        found=invariants,
        facts=facts,
        liveness=liveness,
        compared=compared,
        interrupted=interrupted,
        reasons=reasons,
        slow=slow,
    )


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
    more = "" if enumeration.obstacle else "give more --effort or --time-limit, or "
    return None, f"{enumeration.reason} To change that, {more}{enumeration.remedy}."


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
