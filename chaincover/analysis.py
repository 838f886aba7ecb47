"""What ``check`` finds out about a controller before any chain is searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, Or

from bmc.differential import Comparison, Sampler, compare
from bmc.engines.protocol import Engine, Session, Status
from bmc.errors import InputRefused, LimitReached, Location
from bmc.evaluate import compile_formulas
from bmc.explore import reachability_invariant
from bmc.hold import own_part, released
from bmc.invariants import prove
from bmc.native import NoCompiler, compiled
from bmc.system import Condition, TransitionSystem, conjunction
from bmc.unroll import at
from chaincover.budget import Budget
from chaincover.goal_facts import GoalFacts
from chaincover.goal_search import find_facts
from chaincover.liveness import Liveness, find_liveness
from chaincover.load import Controller
from chaincover.sliced import sliced
from chaincover.values import show_ranges
from properties.goal import Goal

SUSPECT_DEPTH = 8
"""Steps from init within which ``check`` looks for undefined behaviour."""
QUERY_LIMIT = 10.0
"""Seconds for one query of ``check``."""
SUSPECTS_LIMIT = 60.0
"""Seconds for the whole search for undefined behaviour."""
FACTS_LIMIT = 60.0
"""Seconds for what is told about the goals: pairs that share a step, start states."""
EXPLORED_STEPS = 20_000
"""Simulated steps within which all reachable states are listed, to leave out what no run meets."""
SIMULATED_STEPS = 2000
"""Random steps on which invariants are tried before they are believed."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """Undefined behaviour that can happen at one place.

    ``steps``: the number of steps from init after which a step can meet it (within ``SUSPECT_DEPTH``), else None.
    ``undecided``: the solver gave up.
    """

    kind: str
    where: Location | None
    steps: int | None
    undecided: bool = False


@dataclass(frozen=True)
class Analysis:
    """The findings of ``check``; ``comparison`` is None without a compiler."""

    unsatisfiable: tuple[Goal, ...]
    undecided: tuple[Goal, ...]
    final_unsatisfiable: bool
    suspects: tuple[Suspect, ...]
    invariants: tuple[Condition, ...]
    facts: GoalFacts
    liveness: Liveness
    comparison: Comparison | None
    compiler: str

    @property
    def exit_code(self) -> int:
        """1 if model and original differ, 4 if a goal or the final condition is impossible, 5 if undecided, else 0."""
        if self.comparison is not None and self.comparison.differences:
            return 1
        if self.final_unsatisfiable or any(not goal.generated for goal in self.unsatisfiable):
            return 4
        return 5 if self.undecided else 0


def as_data(controller: Controller, found: Analysis) -> dict[str, Any]:
    """The findings as plain data."""
    system = controller.system
    compared = found.comparison
    return {
        "schema": "chaincover/check/1",
        "controller": system.name,
        "inputs": [{"name": v.name, "type": v.type.name, "values": show_ranges(v.values, v.type)} for v in system.inputs],
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
        "goal_facts": found.facts.as_data(),
        "liveness": found.liveness.as_data(),
        "suspects": [
            {"kind": s.kind, "where": str(s.where), "steps_from_init": s.steps, "undecided": s.undecided}
            for s in found.suspects
        ],
        "notes": list(controller.model.notes),
        "compared": None
        if compared is None
        else {
            "compiler": found.compiler,
            "steps": compared.run_steps + compared.state_steps,
            "differences": len(compared.differences),
        },
        "exit_code": found.exit_code,
    }


def prepare(controller: Controller, engine: Engine) -> TransitionSystem:
    """The system with its invariants tried and proved.

    InputRefused if the assumptions contradict each other or an invariant fails in a simulated run.
    """
    system = controller.system
    _refuse_contradiction(controller, engine)
    _try_invariants(system)
    return replace(system, invariants=prove(replace(system, invariants=()), system.invariants, engine, QUERY_LIMIT))


def analyse(controller: Controller, engine: Engine, compare_steps: int = 1000, seed: int = 0) -> Analysis:
    """All findings; ``compare_steps`` random steps are compared with the compiled original."""
    system = prepare(controller, engine)
    part = sliced(system, controller.goals, controller.final)
    unsatisfiable, undecided = _vacuous(part, controller.goals, engine)
    final_open = controller.final is not None and _impossible(part, controller.final, engine)
    try:
        with compiled(controller.native) as original:
            comparison: Comparison | None = compare(released(system), original, compare_steps, seed)
            compiler = original.compiler
    except NoCompiler:
        comparison, compiler = None, ""
    return Analysis(
        unsatisfiable=tuple(unsatisfiable),
        undecided=tuple(undecided),
        final_unsatisfiable=final_open,
        suspects=tuple(find_suspects(system, engine)),
        invariants=system.invariants,
        facts=_facts(controller, part, engine),
        liveness=find_liveness(
            released(system), controller.observers, controller.goals, own_part(system, controller.final)
        ),
        comparison=comparison,
        compiler=compiler,
    )


def _facts(controller: Controller, system: TransitionSystem, engine: Engine) -> GoalFacts:
    """What is told about the goals, for the project's own setting of overlap."""
    budget = Budget(FACTS_LIMIT, QUERY_LIMIT)
    final = own_part(system, controller.final)
    return find_facts(system, controller.goals, final, engine, budget, controller.project.overlap)


def _refuse_contradiction(controller: Controller, engine: Engine) -> None:
    """Assumptions that allow no inputs at all, or no first step."""
    system = controller.system
    where = controller.project.where
    inputs_only = replace(system, defined=TRUE(), invariants=())
    if engine.session(inputs_only, TRUE()).check([], 1, QUERY_LIMIT).status is Status.UNSAT:
        raise InputRefused(
            "the input assumptions contradict each other: no inputs are allowed in any state",
            where,
            "look at the ranges, constraints and the assumption function",
        )
    start = engine.session(replace(system, invariants=()), at(system.init_formula, 0))
    if start.check([], 1, QUERY_LIMIT).status is Status.UNSAT:
        raise _no_first_step(controller, engine)


def _no_first_step(controller: Controller, engine: Engine) -> InputRefused:
    """Why no first step is possible: the undefined behaviour that it meets, else the assumptions."""
    system = controller.system
    free = replace(system, defined=TRUE(), invariants=())
    start = engine.session(free, at(system.init_formula, 0))
    met = [c for c in system.suspects if start.check([at(c.formula, 0)], 1, QUERY_LIMIT).status is Status.SAT]
    if not met:
        text = "no first step is possible: after init every allowed input breaks an assumption"
        return InputRefused(text, controller.project.where, "look at the ranges, constraints and assumptions")
    places = list(dict.fromkeys(f"{c.name} at {c.where}" for c in met))
    open_ones = [v.name for v in system.state if v.init is None]
    hint = "correct the code, or the assumptions that lead there"
    if open_ones and any(c.name == "uninitialised read" for c in met):
        listed = ", ".join(open_ones[:6])
        hint = (
            f"init leaves {listed} open: set it in init, or list it in interface.chosen so that the tester chooses it"
        )
    text = (
        f"no first step is possible: after init every allowed input meets undefined behaviour: {'; '.join(places[:6])}"
    )
    return InputRefused(text, met[0].where, hint)


def _try_invariants(system: TransitionSystem) -> None:
    """Simulate: an invariant that fails on a real run is refused."""
    if not system.invariants:
        return
    holds = compile_formulas([c.formula for c in system.invariants])
    sampler = Sampler(system, seed=0)
    for inputs in sampler.runs(SIMULATED_STEPS):
        states = sampler.simulator.run(sampler.simulator.initial(), inputs).states
        for step, state in enumerate(states):
            for condition, held in zip(system.invariants, holds(state), strict=True):
                if not held:
                    text = f"the invariant '{condition.name}' does not hold after {step} step(s) of a simulated run"
                    raise InputRefused(text, condition.where, "correct it or leave it out")


def _vacuous(system: TransitionSystem, goals: Sequence[Goal], engine: Engine) -> tuple[list[Goal], list[Goal]]:
    """Goals whose antecedent no state and inputs satisfy, and goals for which the solver gave up."""
    unsatisfiable, undecided = [], []
    for goal in goals:
        status = engine.session(system, goal.antecedent).check([], goal.length, QUERY_LIMIT).status
        if status is Status.UNSAT:
            unsatisfiable.append(goal)
        elif status is Status.UNKNOWN:
            undecided.append(goal)
    return unsatisfiable, undecided


def _impossible(system: TransitionSystem, formula: FNode, engine: Engine) -> bool:
    return engine.session(system, at(formula, 0)).check([], 0, QUERY_LIMIT).status is Status.UNSAT


def find_suspects(system: TransitionSystem, engine: Engine) -> list[Suspect]:
    """Where undefined behaviour can happen: from a state that the invariants allow, and, where found, from init.

    Where all reachable states can be listed, only those count. Invariants hold before a step; after an undefined one
    they need not.
    """
    places: dict[tuple[str, Location | None], FNode] = {}
    for condition in system.suspects:
        key = (condition.name, condition.where)
        places[key] = Or(places.get(key, FALSE()), condition.formula)
    asked = [at(formula, 0) for formula in places.values()]
    explored = reachability_invariant(system, asked, EXPLORED_STEPS) if places else None
    known = [c.formula for c in system.invariants if c.proved] + ([explored.formula] if explored else [])
    free = replace(system, defined=TRUE(), invariants=())
    anywhere = engine.session(free, at(conjunction(known), 0), asked)
    from_init = engine.session(free, at(system.init_formula, 0))
    budget = Budget(SUSPECTS_LIMIT, QUERY_LIMIT)
    found = []
    for (kind, where), formula in places.items():
        status = _asked(anywhere, [at(formula, 0)], 1, budget)
        if status is not Status.UNSAT:
            steps = _first_step(system, formula, from_init, budget)
            found.append(Suspect(kind, where, steps, status is Status.UNKNOWN and steps is None))
    return sorted(found, key=lambda s: (s.where or Location(""), s.kind))


def _first_step(system: TransitionSystem, formula: FNode, from_init: Session, budget: Budget) -> int | None:
    """After how many defined steps from init the next step can meet ``formula``."""
    for steps in range(SUSPECT_DEPTH + 1):
        before = [at(system.defined, step) for step in range(steps)]
        if _asked(from_init, [*before, at(formula, steps)], steps + 1, budget) is Status.SAT:
            return steps
    return None


def _asked(session: Session, formulas: Sequence[FNode], steps: int, budget: Budget) -> Status:
    """The answer to one query; unknown once the time is over."""
    try:
        return session.check(formulas, steps, budget.for_query()).status
    except LimitReached:
        return Status.UNKNOWN
