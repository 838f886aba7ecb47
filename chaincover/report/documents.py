"""Results as plain data: the document behind ``chain.json`` (repeatable) and ``run.json`` (timings, host)."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmc.c.controller.ranges import only_named
from bmc.digests import sha256
from bmc.engines import installed
from chaincover import certificate
from chaincover.chain import COVERED, UNDECIDED
from chaincover.formats.chain_file import (
    SCHEMA,
    bounds_claim,
    controller_record,
    long_test_record,
    ruling_record,
    start_record,
    test_data,
)
from chaincover.formats.rows import ChainRows
from chaincover.limits import UNITS
from chaincover.options import HERE, Options
from chaincover.project.load import Controller
from chaincover.reductions.reduction import distinct
from chaincover.result import CALLED_OFF, ChainResult, Requirements
from chaincover.verdicts import infeasible
from chaincover.weights import ReachGraph, exists_path, transitive_closure
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from chaincover.graph.reachability import CoveringGraph
    from chaincover.replay.original import Replay
    from chaincover.stages import StageCost

RUN_SCHEMA = "chaincover/run/2"

LIMIT, GOALS_NOT_COVERED = 5, 4
"""Exit codes: a limit left something open, goals are not covered, and what ended the run from outside."""

NOTHING_REPLAYED: Mapping[str, Replay] = {}

_LIBRARIES = (
    "pysmt",
    "z3-solver",
    "python-sat",
    "bitwuzla",
    "elkai",
    "clingo",
    "ortools",
    "numpy",
    "pycparser",
    "pcpp",
)


def tool_version() -> str:
    """ChainCover's version."""
    return installed().get("chaincover", "")


def versions() -> Mapping[str, str]:
    """Versions of Python and of the libraries that results depend on; those not installed are left out."""
    known = installed()
    return {"python": platform.python_version(), **{name: known[name] for name in _LIBRARIES if name in known}}


def chain_document(
    controller: Controller, result: ChainResult, finished: bool = True, no_step: DeadEnd | None = None
) -> dict[str, Any]:
    """Everything that a run found; the same input and settings give the same document.

    ``finished``: the run is over, by itself or by what ``stopped_by`` says; else this is the best answer so far.
    ``no_step``: why no run goes on after some step, where a goal is not covered and that was found.
    """
    return {
        "schema": SCHEMA,
        "tool": {"name": "chaincover", "version": tool_version()},
        "controller": _controller(controller),
        "settings": settings(controller, result.options),
        "versions": versions(),
        "goals": _goals(controller, result),
        "bounds": _bounds(result),
        "no_chain": result.no_chain or None,
        "finished": finished,
        "stopped_by": result.stopped_by,
        "effort_used_up": result.used_up,
        **({"gave_up": list(result.answered.gave_up)} if result.answered.gave_up else {}),
        "requirements": requirements_record(controller, result.requirements),
        "claims": claims(controller, result),
        "certificate": None if result.certificate is None else certificate.as_data(result.certificate),
        "chain": _chain(controller, result),
        "graph": graph_data(result.graph, controller.goals),
        **({} if no_step is None else {"dead_end": no_step.as_data()}),
    }


def run_document(
    controller: Controller,
    result: ChainResult,
    replay: Replay | None,
    seconds: dict[str, float],
    violations: Mapping[str, Replay] = NOTHING_REPLAYED,
) -> dict[str, Any]:
    """What differs from run to run: seconds by stage, the host, the replay, and those of ``violations``, by goal."""
    return {
        "schema": RUN_SCHEMA,
        "controller": controller.system.name,
        "seconds": {stage: round(value, 3) for stage, value in seconds.items()},
        "effort": {"given": result.options.effort, "spent": round(result.answered.effort / UNITS, 3)},
        "profile": [profile_row(cost) for cost in result.answered.profile],
        "engine": engine_row(result),
        "jobs": result.options.jobs,
        "scheduler": result.options.scheduler,
        "queries": result.graph.queries,
        "stopped_by": result.stopped_by,
        "replay": None if replay is None else replay_data(replay),
        "violations": {goal: replay_data(own) for goal, own in violations.items()},
        "host": _host(),
    }


def _host() -> dict[str, str]:
    """The system and the machine; ``platform.platform()`` would start a process to find out more."""
    here = platform.uname()
    return {"system": f"{here.system}-{here.release}", "machine": here.machine, "python": platform.python_version()}


def engine_row(result: ChainResult) -> dict[str, Any]:
    """The engine that was used, why it was chosen, and the backend that ordered the goals."""
    answered = result.answered
    return {"name": answered.engine, "version": answered.version, "why": answered.why, "ordering": answered.ordering}


def profile_row(cost: StageCost) -> dict[str, Any]:
    """A stage's share of the time: seconds in all, in the solver, for making its formulas, and the tool's own."""
    seconds = {"seconds": cost.seconds, "solving": cost.solving, "encoding": cost.encoding, "own": cost.own}
    return {"stage": cost.stage, "queries": cost.queries, **{name: round(value, 3) for name, value in seconds.items()}}


def _controller(controller: Controller) -> dict[str, Any]:
    config = controller.project.config
    sources = zip(controller.project.sources, config.files, controller.model.program.units, strict=True)
    return controller_record(
        controller,
        [
            {"file": name, "sha256": _digest(Path(path).read_bytes()), "preprocessed_sha256": _code_digest(unit)}
            for name, path, unit in sources
        ],
    )


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _code_digest(unit: Any) -> str:
    """Of the preprocessed code, headers and macros included, without line markers."""
    rows = (row for row in unit.source.text.splitlines() if row.strip() and not row.startswith("#line"))
    return _digest("\n".join(rows).encode())


def settings(controller: Controller, options: Options) -> dict[str, Any]:
    """What was asked for: the goals, the criteria that generated goals, the end, and the settings of the search."""
    return {
        "goals": [goal.name for goal in controller.goals],
        "coverage": controller.coverage,
        "final": controller.final_text or None,
        **({"hold": controller.system.hold} if controller.system.hold > 1 else {}),
        **{name: value for name, value in asdict(options).items() if name not in HERE},
    }


def _goals(controller: Controller, result: ChainResult) -> list[dict[str, Any]]:
    hits = {hit.goal: hit for hit in result.chain.hits} if result.chain else {}
    _, same_as = distinct(controller.goals, result.options.overlap)
    goals = []
    for goal, verdict in zip(controller.goals, result.verdicts, strict=True):
        hit = hits.get(goal.name)
        goals.append(
            {
                "name": goal.name,
                "property": goal.text,
                "requirement": goal.requirement,
                "description": goal.description,
                "generated": goal.generated or None,
                "representative": same_as.get(goal.name),
                "length": goal.length,
                "verdict": verdict.status,
                "step": verdict.step,
                "consequent_held": hit.consequent_held if hit else None,
                "detail": verdict.detail,
                "test": test_data(controller.system, result.tests[goal.name]) if goal.name in result.tests else None,
                **long_test_record(controller.system, result.beyond.get(goal.name)),
            }
        )
    return goals


def requirements_record(controller: Controller, found: Requirements) -> dict[str, Any] | None:
    """Whether properties can fail, and what that rests on; None where nothing was looked at."""
    if not found.rulings:
        return None
    goals = {goal.name: goal for goal in controller.goals}
    return {
        "rulings": [ruling_record(controller.system, goals[ruling.goal], ruling) for ruling in found.rulings],
        "certificate": None if found.certificate is None else certificate.as_data(found.certificate),
    }


def _bounds(result: ChainResult) -> dict[str, Any]:
    bounds = result.bounds
    return {
        "length": bounds.length,
        "lower": bounds.lower,
        "gap": None if bounds.gap is None else round(bounds.gap, 6),
        "minimal": bounds.minimal,
        "basis": bounds.basis,
        "k_reached": result.depth,
        "k_met": None if result.chain is None else result.chain.k_met,
    }


def claims(controller: Controller, result: ChainResult) -> list[str]:
    """What the result rests on, a sentence each."""
    found = []
    config = controller.project.config
    if controller.rules or config.at_most_one or config.exactly_one or config.ranges:
        found.append("input assumptions of the project")
    if config.assumption and controller.model.program.function(config.assumption) is not None:
        found.append(f"input assumption {config.assumption}()")
    found += [f"invariant proved inductive: {c.name}" for c in controller.system.invariants if c.proved]
    found += [f"invariant not proved, not used: {c.name}" for c in controller.system.invariants if not c.proved]
    named = only_named(controller.model)
    if named:
        found.append(f"inputs given no values but those that the type names: {', '.join(named)}")
    if controller.system.chosen:
        found.append(f"start values chosen by the tester: {', '.join(controller.system.chosen)}")
    if result.chain is not None and result.chain.relies_on:
        found.append(f"start values left open by init: {', '.join(result.chain.relies_on)}")
    if controller.system.hold > 1:
        found.append(f"bounds and proofs speak of runs that hold inputs for {controller.system.hold} ticks")
    covered = [verdict for verdict in result.verdicts if verdict.status == COVERED]
    if result.chain is not None and len(covered) < len(result.verdicts):
        found.append(bounds_claim(len(covered), len(result.verdicts)))
    found.append(f"overlap {result.options.overlap}")
    return found


def _chain(controller: Controller, result: ChainResult) -> dict[str, Any] | None:
    chain = result.chain
    if chain is None:
        return None
    return {
        "length": chain.length,
        "order": list(chain.order),
        "hits": [{"goal": h.goal, "step": h.step, "consequent_held": h.consequent_held} for h in chain.hits],
        "failures": [{"goal": h.goal, "step": h.step} for h in chain.failures],
        "violations": [{"assertion": v.name, "step": v.step} for v in chain.violations],
        "initial": start_record(controller.system, chain),
        "steps": ChainRows(controller.system, chain, controller.goals),
    }


def graph_data(graph: ReachGraph, goals: Iterable[Goal]) -> dict[str, Any]:
    """The K-reachability graph of ``goals``, which the search has told by their last steps: exact weights, and for
    edges not found the least distance not proved impossible, from trigger to trigger."""
    graph = graph.between_triggers({goal.name: goal.earlier for goal in goals})
    return {
        "nodes": list(graph.nodes),
        "edges": [{"from": a, "to": b, "weight": w} for (a, b), w in sorted(graph.weights.items())],
        "open": [
            {"from": a, "to": b, "at_least": w}
            for (a, b), w in sorted(graph.lower.items())
            if (a, b) not in graph.weights
        ],
        "unknown": [{"from": a, "to": b} for a, b in graph.unknown],
        "k": graph.depth,
    }


def replay_data(replay: Replay) -> dict[str, Any]:
    """A replay's findings."""
    return {
        "on": replay.on,
        "steps": replay.run.length,
        "goals": [
            {
                "name": g.goal,
                "asked": g.asked,
                "infeasible": g.infeasible,
                "covered_at": g.step,
                "times": g.times,
                "consequent_held": g.consequent_held,
                "failed_at": g.failed_at,
                "claimed_at": g.claimed,
            }
            for g in replay.goals
        ],
        "goals_not_known": list(replay.not_known),
        "final": replay.final,
        "disagreements": list(replay.disagreements),
        "refused_steps": list(replay.refused),
        "assertions_failed": list(replay.violations),
        "remarks": list(replay.remarks),
        "exit_code": replay.exit_code,
    }


def exit_code(
    controller: Controller, result: ChainResult, replay: Replay | None, no_step: DeadEnd | None = None
) -> int:
    """130 interrupted, 143 terminated, 1 a finding or disagreement, 5 a goal left open by a limit, 4 goals not covered.

    That a requirement can fail is a finding, whatever became of the chain.

    Else 0. Generated goals that are proved unreachable need not be covered. 4 too where there is no
    chain and ``no_step`` says why.
    """
    if result.stopped_by in CALLED_OFF:
        return CALLED_OFF[result.stopped_by]
    if result.requirements.findings:
        return 1
    if no_step is not None and result.chain is None:
        return GOALS_NOT_COVERED
    if result.chain is not None and (result.chain.failures or result.chain.violations):
        return 1
    if replay is not None and replay.exit_code not in (0, GOALS_NOT_COVERED):
        return replay.exit_code
    aside = infeasible(controller.goals, result.verdicts)
    if result.chain is None or any(v.status != COVERED and v.goal not in aside for v in result.verdicts):
        limited = result.chain is None and not result.verdicts and (result.stopped_by or result.used_up)
        return LIMIT if limited or any(v.status == UNDECIDED for v in result.verdicts) else GOALS_NOT_COVERED
    return 0 if replay is None else replay.exit_code


def graph_exit_code(found: CoveringGraph) -> int:
    """130 interrupted, 143 terminated, 5 where a limit came before a covering path, 4 where there is none, else 0.

    Edges on which the solver gave up are a limit too.
    """
    if found.stopped_by:
        return CALLED_OFF.get(found.stopped_by, LIMIT)
    if exists_path(found.graph, transitive_closure(found.graph)):
        return 0
    return LIMIT if found.used_up or found.graph.unknown else GOALS_NOT_COVERED
