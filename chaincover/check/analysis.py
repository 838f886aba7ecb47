"""What ``check`` finds out about a controller before any chain is searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.engines import choose as choose_engine
from bmc.engines.anywhere import Anywhere
from bmc.engines.dead_ends import dead_end
from bmc.engines.protocol import Engine, Status
from bmc.errors import InputRefused, LimitReached
from bmc.formulas.evaluate import compile_formulas
from bmc.invariants.induction import prove
from bmc.native.differential import Comparison, Sampler, compare
from bmc.native.original import NoCompiler, compiled
from bmc.system.hold import own_part, released
from bmc.system.transition import Condition, TransitionSystem
from chaincover.check.found_invariants import FoundInvariant, find_invariants
from chaincover.check.goal_facts import GoalFacts
from chaincover.check.goal_search import facts_among, list_states
from chaincover.check.liveness import Liveness, find_liveness
from chaincover.check.suspects import Suspect, SuspectSearch
from chaincover.check.vacuity import VacuitySearch
from chaincover.limits import Limits
from chaincover.project.load import Controller
from chaincover.project.values import show_ranges
from chaincover.reductions.slicing import sliced
from chaincover.report.found_text import found_data
from properties.goal import Goal

TIME_LIMIT = 60.0
"""Seconds that ``check`` may take after reading, unless told otherwise."""
QUERY_LIMIT = 10.0
"""Seconds for one query of ``check``."""
SIMULATED_STEPS = 2000
"""Random steps on which invariants are tried before they are believed."""
INTERRUPTED = 130

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Analysis:
    """The findings of ``check``; ``found`` are invariants that nobody stated.

    ``comparison`` is None where ``compiler`` is empty: without one, or if interrupted. ``interrupted``: from the
    keyboard; what was not found out until then is undecided.
    """

    unsatisfiable: tuple[Goal, ...]
    undecided: tuple[Goal, ...]
    final_unsatisfiable: bool
    suspects: tuple[Suspect, ...]
    invariants: tuple[Condition, ...]
    found: tuple[FoundInvariant, ...]
    facts: GoalFacts
    liveness: Liveness
    comparison: Comparison | None
    compiler: str
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """1 if model and original differ, 5 if undecided, or if no step could be compared.

        4 if a goal or the final condition is impossible, else 0; 130 if interrupted.
        """
        if self.interrupted:
            return INTERRUPTED
        if self.comparison is not None and self.comparison.differences:
            return 1
        if self.undecided or (self.comparison is not None and not self.comparison.steps):
            return 5
        return 4 if self.final_unsatisfiable or any(not goal.generated for goal in self.unsatisfiable) else 0


def as_data(controller: Controller, found: Analysis) -> dict[str, Any]:
    """The findings as plain data."""
    system = controller.system
    compared = found.comparison
    return {
        "schema": "chaincover/check/1",
        "controller": system.name,
        "inputs": [
            {"name": v.name, "type": v.type.name, "values": show_ranges(v.values, v.type)} for v in system.inputs
        ],
        "state": [
            {"name": v.name, "type": v.type.name, "role": v.role, "open": v.init is None}
            for v in system.state
            if v.role != "internal"
        ],
        "goals": [{"name": g.name, "property": g.text, "length": g.length} for g in controller.goals],
        **({"hold": system.hold} if system.hold > 1 else {}),
        "final": controller.final_text or None,
        "unsatisfiable": [g.name for g in found.unsatisfiable],
        "undecided": [g.name for g in found.undecided],
        "final_unsatisfiable": found.final_unsatisfiable,
        "invariants": [{"name": c.name, "proved": c.proved} for c in found.invariants],
        "found_invariants": found_data(found.found, controller.model),
        "goal_facts": found.facts.as_data(),
        "liveness": found.liveness.as_data(),
        "suspects": [
            {
                "kind": s.kind,
                "where": str(s.where),
                "steps_from_init": s.steps,
                "undecided": s.undecided,
                "searched": s.searched,
            }
            for s in found.suspects
        ],
        "notes": list(controller.model.notes),
        "compared": None
        if compared is None
        else {
            "compiler": found.compiler,
            "steps": compared.steps,
            "differences": len(compared.differences),
            "stopped": compared.stopped,
        },
        "interrupted": found.interrupted,
        "exit_code": found.exit_code,
    }


def prepare(
    controller: Controller, engine: Engine, time_limit: float | None = None, query_limit: float | None = None
) -> TransitionSystem:
    """The system with its invariants tried and proved, within ``time_limit`` seconds.

    No single query takes more than ``query_limit`` seconds (None: ``QUERY_LIMIT``).
    InputRefused if the assumptions contradict each other or an invariant fails in a simulated run.
    """
    system = controller.system
    budget = Limits(time_limit, QUERY_LIMIT if query_limit is None else query_limit)
    _refuse_contradiction(controller, engine, budget)
    _try_invariants(system, budget)
    if not system.invariants:
        return system
    proved = prove(replace(system, invariants=()), system.invariants, engine, _for_query(budget))
    return replace(system, invariants=proved)


def analyse(
    controller: Controller,
    engine: Engine,
    compare_steps: int = 1000,
    seed: int = 0,
    time_limit: float | None = TIME_LIMIT,
    progress: Progress = lambda text: None,
) -> Analysis:
    """All findings; ``compare_steps`` random steps are compared with the compiled original.

    What ``time_limit`` (seconds, None: no limit) does not suffice for is undecided. So is, after an interrupt from the
    keyboard, what was not found out until then.
    """
    budget = Limits(time_limit, QUERY_LIMIT)
    system = prepare(controller, engine, budget.share(0.3).seconds)
    progress("check: state")
    final = own_part(system, controller.final)
    liveness = find_liveness(released(system), controller.observers, controller.goals, final)
    part = sliced(system, controller.goals, controller.final)
    goals = VacuitySearch(part, controller.goals, engine)
    suspects = SuspectSearch(system, engine)
    comparison: Comparison | None = None
    facts: GoalFacts | None = None
    invariants: tuple[FoundInvariant, ...] = ()
    compiler, final_open, interrupted = "", False, False
    try:
        goals.run(_part(budget, 0.2), progress)
        final_open = controller.final is not None and _impossible(part, controller.final, engine, budget)
        progress("check: comparison with the compiled original")
        comparison, compiler = _compared(controller, released(system), compare_steps, seed, _part(budget, 0.3))
        suspects.run(_part(budget, 0.7 if controller.goals else 1.0), progress)
        progress("check: facts about the goals")
        graph = list_states(part, controller.goals, final)
        asked = part, controller.goals, final, engine
        facts = facts_among(graph, *asked, _part(budget, 0.8), controller.project.overlap)
        progress("check: invariants")
        invariants = find_invariants(system, part, controller.goals, graph, choose_engine("auto"), _part(budget, 1.0))
    except KeyboardInterrupt:
        interrupted = True
    if facts is None:
        over = Limits(0.0, QUERY_LIMIT)
        facts = facts_among(None, part, controller.goals, final, engine, over, controller.project.overlap)
    return Analysis(
        unsatisfiable=goals.unsatisfiable,
        undecided=goals.undecided,
        final_unsatisfiable=final_open,
        suspects=tuple(suspects.found()),
        invariants=system.invariants,
        found=invariants,
        facts=facts,
        liveness=liveness,
        comparison=comparison,
        compiler=compiler,
        interrupted=interrupted,
    )


def _compared(
    controller: Controller, system: TransitionSystem, steps: int, seed: int, budget: Limits
) -> tuple[Comparison | None, str]:
    """The comparison and the compiler; None and '' without a compiler, or where no step is wanted."""
    if not steps:
        return None, ""
    try:
        with compiled(controller.native) as original:
            return compare(system, original, steps, seed, lambda: not budget.left()), original.compiler
    except NoCompiler:
        return None, ""


def _part(budget: Limits, part: float) -> Limits:
    """A budget over ``part`` of the time that is left; ``budget`` itself once that is over."""
    return budget.share(part) if budget.left() else budget


def _for_query(budget: Limits) -> float | None:
    """Seconds for the next query; 0, which answers nothing, once the time is over."""
    try:
        return budget.for_query()
    except LimitReached:
        return 0.0


def _refuse_contradiction(controller: Controller, engine: Engine, budget: Limits) -> None:
    """Assumptions that allow no inputs at all, or no first step."""
    system = controller.system
    sampler = Sampler(system, seed=0)
    if sampler.allowed_inputs(sampler.simulator.initial()) is not None:
        return
    where = controller.project.where
    inputs_only = replace(system, defined=TRUE(), invariants=())
    if engine.session(inputs_only, TRUE()).check([], 1, _for_query(budget)).status is Status.UNSAT:
        raise InputRefused(
            "the input assumptions contradict each other: no inputs are allowed in any state",
            where,
            "look at the ranges, constraints and the assumption function",
        )
    found = dead_end(system, engine, 1, time_limit=_for_query(budget))
    if found is not None:
        raise InputRefused(found.message, found.where or where, found.hint)


def _try_invariants(system: TransitionSystem, budget: Limits) -> None:
    """Simulate: an invariant that fails on a real run is refused."""
    if not system.invariants:
        return
    holds = compile_formulas([c.formula for c in system.invariants])
    sampler = Sampler(system, seed=0)
    for inputs in sampler.runs(SIMULATED_STEPS):
        if not budget.left():
            return
        states = sampler.simulator.run(sampler.simulator.initial(), inputs).states
        for step, state in enumerate(states):
            for condition, held in zip(system.invariants, holds(state), strict=True):
                if not held:
                    text = f"the invariant '{condition.name}' does not hold after {step} step(s) of a simulated run"
                    raise InputRefused(text, condition.where, "correct it or leave it out")


def _impossible(system: TransitionSystem, formula: FNode, engine: Engine, budget: Limits) -> bool:
    """Whether no state that the proved invariants allow satisfies ``formula``."""
    known = [c.formula for c in system.invariants if c.proved]
    anywhere = Anywhere(replace(system, input_constraint=TRUE()), engine, known)
    return anywhere.status([formula], _for_query(budget)) is Status.UNSAT
