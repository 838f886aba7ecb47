"""The writer of ``chain.json`` and ``chains.json``: results as plain data.

The same input and settings give the same documents. ``verify`` calls it too: it makes a document again from the inputs
and claims in the file, and compares.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmc.engines import installed
from bmc.formulas.unroll import unframed
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, Valuation, symbols_of
from chaincover import certificate
from chaincover.chain import COVERED, Chain, LongTest, Ruling
from chaincover.formats.chain_file import CHAINS_SCHEMA, SCHEMA, start_record
from chaincover.formats.rows import ChainRows, reported
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.project.names import of_run, value_labels
from chaincover.project.values import show_ranges, shown
from chaincover.result import ChainResult, Requirements, SeveralChains
from chaincover.subject import Subject
from chaincover.weights import ReachGraph
from properties.goal import Goal, kind

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd

CHOSEN_STARTS = "start values chosen by the tester"
"""How a claim begins that names the state that the tester sets."""
_LIBRARIES = (
    "pysmt",
    "z3-solver",
    "python-sat",
    "elkai",
    "clingo",
    "ortools",
    "numpy",
    "pycparser",
)


def tool_version() -> str:
    """ChainCover's version."""
    return installed().get("chaincover", "")


def versions() -> Mapping[str, str]:
    """Versions of Python and of the libraries that results depend on; those not installed are left out."""
    known = installed()
    return {"python": platform.python_version(), **{name: known[name] for name in _LIBRARIES if name in known}}


def chain_document(
    subject: Subject,
    result: ChainResult,
    finished: bool = True,
    no_step: DeadEnd | None = None,
    sources: Sequence[Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Everything that a run found; the same input and settings give the same document.

    ``finished``: the run is over, by itself or by what ``stopped_by`` says; else this is the best answer so far.
    ``no_step``: why no run goes on after some step, where a goal is not covered and that was found. ``sources``: those
    that the controller was made from, None for the files as they are now.
    """
    return {
        "schema": SCHEMA,
        "tool": {"name": "chaincover", "version": tool_version()},
        "controller": controller_data(subject, sources_of(subject) if sources is None else sources, result.chain),
        "settings": _settings(subject, result.options),
        "versions": versions(),
        "goals": _goals(subject, result),
        "bounds": _bounds(result),
        "no_chain": result.no_chain or None,
        "finished": finished,
        "stopped_by": result.stopped_by,
        "effort_used_up": result.used_up,
        **({"gave_up": list(result.answered.gave_up)} if result.answered.gave_up else {}),
        "requirements": _requirements(subject, result.requirements),
        "claims": _claims(subject, result),
        "certificate": None if result.certificate is None else certificate.as_data(result.certificate),
        "chain": _chain(subject, result),
        "graph": graph_data(result.graph, subject.goals),
        **({} if subject.library is None else {"library": subject.library.as_data()}),
        **({} if no_step is None else {"dead_end": no_step.as_data()}),
    }


def sources_of(subject: Subject) -> list[dict[str, str]]:
    """The source files with the digests of their bytes, and of their code after preprocessing without line markers."""
    return [
        {
            "file": source.name,
            "sha256": sha256(Path(source.path).read_bytes()).hexdigest(),
            "preprocessed_sha256": sha256(source.text.encode()).hexdigest(),
        }
        for source in subject.sources
    ]


def controller_data(subject: Subject, sources: Sequence[Mapping[str, str]], chain: Chain | None) -> dict[str, Any]:
    """The controller's ``sources`` as they are given, its functions, and its variables with their types and values.

    ``labels``: what values of a variable are called, where those of ``chain`` have names.
    """
    system = subject.system
    labels = _labels(subject, chain)
    state, outputs = reported(system, "state"), reported(system, "output")
    return {
        "name": system.name,
        "sources": list(sources),
        **subject.model.described,
        "period": subject.settings.period_seconds,
        **({} if subject.settings.reset_seconds is None else {"reset_seconds": subject.settings.reset_seconds}),
        "inputs": [
            {"name": var.name, "type": var.type.name, "values": show_ranges(var.values, var.type), **labels[var.name]}
            for var in system.inputs
        ],
        "state": [{"name": var.name, "type": var.type.name, **labels[var.name]} for var in state],
        "outputs": [{"name": var.name, "type": var.type.name, **labels[var.name]} for var in outputs],
    }


def _labels(subject: Subject, chain: Chain | None) -> dict[str, dict[str, dict[str, str]]]:
    """For each variable the entry ``labels``, by values as the document has them; none where they have no names."""
    system = subject.system
    variables: list[StateVariable | InputVariable] = [*system.state, *system.inputs]
    states: Sequence[Valuation] = () if chain is None else chain.run.states
    inputs: Sequence[Valuation] = () if chain is None else chain.run.inputs
    called = value_labels(of_run(system.state, states) + of_run(system.inputs, inputs), subject.value_names)
    found = {}
    for var in variables:
        own = {var.type.show(number): label for number, label in sorted(called.get(var.name, {}).items())}
        found[var.name] = {"labels": own} if own else {}
    return found


def _settings(subject: Subject, options: Options) -> dict[str, Any]:
    """What was asked for: the goals, the criteria that generated goals, the end, and the settings of the search."""
    return {
        "goals": [goal.name for goal in subject.goals],
        "coverage": subject.coverage,
        "final": subject.final_text or None,
        **({"hold": subject.hold} if subject.hold > 1 else {}),
        **asdict(options),
    }


def _goals(subject: Subject, result: ChainResult) -> list[dict[str, Any]]:
    hits = {hit.goal: hit for hit in result.chain.hits} if result.chain else {}
    first: dict[tuple[object, ...], str] = {}
    goals = []
    for goal, verdict in zip(subject.goals, result.verdicts, strict=True):
        hit, same = hits.get(goal.name), first.setdefault(kind(goal, result.options.overlap), goal.name)
        goals.append(
            {
                "name": goal.name,
                "property": goal.text,
                "requirement": goal.requirement,
                "description": goal.description,
                "generated": goal.generated or None,
                "representative": None if same == goal.name else same,
                "length": goal.length,
                "reads": reads(goal),
                "verdict": verdict.status,
                "step": verdict.step,
                "consequent_held": hit.consequent_held if hit else None,
                "detail": verdict.detail,
                "test": _test(subject.system, result.tests[goal.name]) if goal.name in result.tests else None,
                **_long_test(subject.system, result.beyond.get(goal.name)),
            }
        )
    return goals


def reads(goal: Goal) -> list[str]:
    """The variables of the program that a goal reads, sorted: of a deadline those of what it asks for."""
    formulas = [goal.antecedent, goal.consequent]
    if goal.deadline is not None:
        formulas = [goal.deadline.antecedent, goal.deadline.condition]
    memory = {variable.name for variable in goal.memory}
    read = {unframed(symbol)[0] for formula in formulas if formula is not None for symbol in symbols_of(formula)}
    return sorted(read - memory)


def _requirements(subject: Subject, found: Requirements) -> dict[str, Any] | None:
    """Whether properties can fail, and what that rests on; None where nothing was looked at."""
    if not found.rulings:
        return None
    goals = {goal.name: goal for goal in subject.goals}
    return {
        "rulings": [_ruling(subject.system, goals[ruling.goal], ruling) for ruling in found.rulings],
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


def _claims(subject: Subject, result: ChainResult) -> list[str]:
    """What the result rests on, a sentence each."""
    found = [*subject.assumed]
    found += [f"invariant proved inductive: {c.name}" for c in subject.system.invariants if c.proved]
    found += [f"invariant not proved, not used: {c.name}" for c in subject.system.invariants if not c.proved]
    found += subject.model.assumed
    found += chosen_starts(subject)
    if result.chain is not None and result.chain.relies_on:
        found.append(f"start values left open by init: {', '.join(result.chain.relies_on)}")
    if subject.hold > 1:
        found.append(f"bounds and proofs speak of runs that hold inputs for {subject.hold} ticks")
    covered, goals = sum(verdict.status == COVERED for verdict in result.verdicts), len(result.verdicts)
    if result.chain is not None and covered < goals:
        found.append(f"length and bounds speak of chains through the {covered} of {goals} goals that this one covers")
    found.append(f"overlap {result.options.overlap}")
    return found


def chosen_starts(subject: Subject) -> list[str]:
    """That the tester chooses start values, a sentence if so."""
    chosen = subject.system.chosen
    return [f"{CHOSEN_STARTS}: {', '.join(chosen)}"] if chosen else []


def _chain(subject: Subject, result: ChainResult) -> dict[str, Any] | None:
    chain = result.chain
    if chain is None:
        return None
    return {
        "length": chain.length,
        "order": list(chain.order),
        "hits": hits_data(subject, chain),
        "failures": [{"goal": h.goal, "step": h.step} for h in chain.failures],
        "violations": [{"assertion": v.name, "step": v.step} for v in chain.violations],
        "initial": start_record(subject.system, chain),
        "steps": ChainRows(subject.system, chain, subject.goals),
    }


def hits_data(subject: Subject | Problem, chain: Chain) -> list[dict[str, Any]]:
    """Where each goal is covered, of a deadline with the occurrence of the antecedent that is decided there."""
    deadlines = {goal.name: goal.deadline for goal in subject.goals if goal.deadline is not None}
    inputs = {variable.name for variable in subject.system.inputs}
    found = []
    for hit in chain.hits:
        row: dict[str, Any] = {"goal": hit.goal, "step": hit.step, "consequent_held": hit.consequent_held}
        deadline = deadlines.get(hit.goal)
        if deadline is not None:
            decisions = deadline.decisions(chain.run, inputs)
            decided = next(one for one in decisions if (one.after, one.held) == (hit.step, hit.consequent_held))
            begin = decided.begin + deadline.base
            check = decided.check + deadline.base
            row["deadline"] = {
                "asked": deadline.text,
                "antecedent": begin,
                "check": check,
                "last": begin + deadline.last,
            }
        found.append(row)
    return found


def graph_data(graph: ReachGraph, goals: Iterable[Goal]) -> dict[str, Any]:
    """The K-reachability graph of ``goals``, which the search has told by their last steps: weights, and for edges not
    found the least distance not proved impossible, from trigger to trigger. ``exact``: weights are distances of
    reachable states, and edges not found are proved impossible; else no run takes fewer steps than a weight says."""
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
        "exact": graph.exact,
    }


def _test(system: TransitionSystem, run: Run) -> dict[str, Any]:
    """A run of its own that covers a goal: the start values that the tester chooses, and the inputs of each step."""
    chosen = [variable for variable in system.state if variable.name in system.chosen]
    return {
        "length": run.length,
        "chosen": shown(chosen, run.states[0]),
        "inputs": [shown(system.inputs, inputs) for inputs in run.inputs],
    }


def _long_test(system: TransitionSystem, test: LongTest | None) -> dict[str, Any]:
    """The entry of a goal whose test has more steps than are stored: its length, and its parts; none without one."""
    if test is None:
        return {}
    parts = [{"inputs": [shown(system.inputs, each) for each in inputs], "times": n} for inputs, n in test.parts]
    return {"long_test": {"length": test.length, "parts": parts}}


def _ruling(system: TransitionSystem, goal: Goal, ruling: Ruling) -> dict[str, Any]:
    """Whether the property of ``goal`` can fail, with what fails, and the test that shows it."""
    failure = ruling.failure
    missed = None if failure is None else failure.deadline
    return {
        "goal": goal.name,
        "requirement": goal.requirement,
        "ruling": ruling.status,
        "detail": ruling.detail,
        "shortest": None if failure is None else failure.shortest,
        "step": None if failure is None else failure.step,
        "deadline": None
        if missed is None
        else {"asked": missed.asked, "antecedent": missed.antecedent, "check": missed.check},
        "values": []
        if failure is None
        else [
            {"variable": each.variable, "step": each.step, "actual": each.actual, "expected": each.expected}
            for each in failure.values
        ],
        "held": [] if failure is None else list(failure.held),
        "test": None if failure is None else _test(system, failure.run),
    }


def chains_document(
    subject: Subject,
    options: Options,
    found: SeveralChains,
    finished: bool = True,
    no_step: DeadEnd | None = None,
) -> dict[str, Any]:
    """What was found, as the data of ``chains.json``; the same for the same input.

    ``no_step``: why no run goes on after some step, where a goal is not covered and that was found.
    """
    return {
        "schema": CHAINS_SCHEMA,
        "controller": subject.system.name,
        "settings": _settings(subject, options),
        "chains": [
            {
                "file": f"chain-{number}.json",
                "length": result.chain.length,
                "lower": result.bounds.lower,
                "minimal": result.bounds.minimal,
                "goals": [hit.goal for hit in result.chain.hits],
            }
            for number, result in enumerate(found.results, 1)
            if result.chain is not None
        ],
        "length": found.length,
        "lower": found.bounds.lower,
        "minimal": found.bounds.minimal,
        "basis": found.bounds.basis,
        "number_minimal_within_k": found.number_minimal_within_k,
        "number_minimal": found.number_minimal,
        "certificate": None if found.certificate is None else certificate.as_data(found.certificate),
        "conflicts": [{"goals": list(c.goals), "reason": c.reason, "at_all": c.at_all} for c in found.conflicts],
        "verdicts": [
            {
                "goal": v.goal,
                "property": goal.text,
                "generated": goal.generated or None,
                "verdict": v.status,
                "step": v.step,
                "detail": v.detail,
                "test": _test(subject.system, found.tests[v.goal]) if v.goal in found.tests else None,
            }
            for goal, v in zip(subject.goals, found.verdicts, strict=True)
        ],
        "requirements": _requirements(subject, found.requirements),
        "finished": finished,
        "stopped_by": found.stopped_by,
        "effort_used_up": found.used_up,
        **({} if no_step is None else {"dead_end": no_step.as_data()}),
    }
