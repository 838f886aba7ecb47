"""What is wrong with a program or its project, as ``check`` found it: each problem with the run that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bmc.errors import counted, listed
from bmc.formulas.evaluate import names_in
from bmc.system.simulation import Simulator
from chaincover.chain import UNREACHABLE, Hit, Verdict
from chaincover.check.analysis import Analysis
from chaincover.check.goal_facts import (
    NONE,
    SEVERAL,
    SINGLE,
    UNKNOWN,
)
from chaincover.check.undefined_behaviour import UndefinedBehaviour
from chaincover.options import Options
from chaincover.project.values import show_value
from chaincover.reductions.slicing import ADVICE
from chaincover.report.chain_table import ChainTable
from chaincover.report.console import (
    FEW_LINES,
    goes_on_first,
)
from chaincover.report.console_variables import grouped, names_of
from chaincover.report.findings import Finding, run_table, until
from chaincover.subject import Subject
from chaincover.verdicts import next_step
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd


def problems(subject: Subject, analysis: Analysis) -> list[Finding]:
    """What is wrong, the gravest first, each with what can be done and, where there is one, the run that shows it."""
    no_step = None if ends_harmlessly(subject, analysis) else analysis.facts.dead_end
    found = [*_no_input(subject)]
    if no_step is not None:
        found.append((f"{f'{no_step.where}: ' if no_step.where else ''}{no_step.message}", no_step.hint))
    first = [_finding(*each) for each in found]
    first += _unlike_original(subject, analysis)
    first += _sure_undefined_behaviour(subject, analysis)
    return first + [_finding(*each) for each in _of_goals(subject, analysis, no_step)]


def _finding(text: str, advice: str, table: ChainTable | None = None) -> Finding:
    return Finding([text, *([f"  next: {advice}"] if advice else [])], table)


def _of_goals(subject: Subject, analysis: Analysis, no_step: DeadEnd | None) -> list[tuple[str, str]]:
    """What is wrong with goals, the final condition and invariants, each with what can be done."""
    found = []
    advice = next_step(Verdict("", UNREACHABLE), False, Options()) if no_step is None else goes_on_first(no_step)
    found += [(_impossible(goal, analysis), advice) for goal in never_covered(subject, analysis, generated=False)]
    if analysis.final_unsatisfiable:
        found.append(("UNSATISFIABLE: no state satisfies the final condition", "correct final, or --final none"))
    if analysis.liveness.latched:
        fields = listed(grouped(analysis.liveness.latched, names_of(subject)))
        found.append((f"no chain that changes {fields} can end: it never has the value after init again", ADVICE))
    for condition in analysis.invariants:
        if not condition.proved:
            text = f"invariant {condition.name}: NOT proved: it is not used in any claim"
            found.append((text, "strengthen it until it is inductive, or leave it out"))
    for goal in analysis.undecided:
        found.append((f"undecided: whether the antecedent of {goal.name} can hold", "allow more --effort"))
    return found


def _no_input(subject: Subject) -> Iterator[tuple[str, str]]:
    """That there is no input, and which variables may be meant as such, because the step never sets them."""
    if not subject.system.inputs:
        still = [var.name for var in subject.system.state if var.next is var.symbol and var.role == "state"]
        told = f", such as {listed(grouped(still, names_of(subject)))}, which the step never sets" if still else ""
        advice = f"list in interface.input what the environment sets before a step{told}"
        yield "no input: the program has one run only, and no chain can choose anything", advice


def _unlike_original(subject: Subject, analysis: Analysis) -> Iterator[Finding]:
    """Where the compiled original differs from the model, or that no step of it could be compared."""
    compared = analysis.compared.comparison
    if compared is None:
        return
    system, simulator = subject.system, Simulator(subject.system)
    for difference in compared.differences[:3]:
        vtype = system.variable(difference.variable).type
        model, original = show_value(vtype, difference.model), show_value(vtype, difference.original)
        inputs = (*(difference.earlier or ()), difference.inputs)
        run = simulator.run(difference.state if difference.earlier is None else simulator.initial(), inputs)
        start = " from a random state" if difference.earlier is None else ""
        where = f"before step {run.length}{start} '{difference.variable}' is"
        text = f"DISAGREES: {where} {original} in the original, {model} in the model"
        marks = {(difference.variable, run.length): f"(the original: {original})"}
        read = names_in([next(var.next for var in system.state if var.name == difference.variable)])
        table = run_table(subject, run, (), read, marks)
        yield _finding(text, "trust no chain of this program, and report it with the code", table)
    if not compared.steps:
        why = "its time was over" if compared.stopped else "no step that was tried is defined"
        advice = "see the undefined behaviour below; list what the environment sets in interface.input"
        yield _finding(f"comparison with the compiled original: NOTHING COMPARED, {why}", advice)


def _sure_undefined_behaviour(subject: Subject, analysis: Analysis) -> list[Finding]:
    """The undefined behaviour that some run comes to, with that run, and with what can be done."""
    places = sorted((p for p in analysis.undefined_behaviour if p.steps is not None), key=lambda p: p.steps or 0)
    advice = (
        "if the environment never leads there, give ranges, constraints or an assumption; else guard it in the code"
    )
    texts = lines_of_places(places, FEW_LINES)
    each = len(texts) == len(places)
    tables = [_way_to(subject, place) if each else None for place in places]
    both = [*zip(texts, tables, strict=False)]
    return [_finding(text, advice if text is texts[-1] else "", table) for text, table in both]


def _way_to(subject: Subject, place: UndefinedBehaviour) -> ChainTable | None:
    """The steps from init to the one that meets undefined behaviour; None where no run is known."""
    if place.run is None or place.steps is None:
        return None
    run = until(place.run, place.steps)
    return run_table(subject, run, [Hit(place.kind, place.steps, None)], place.reads, {("", place.steps): ""})


def _impossible(goal: Goal, analysis: Analysis) -> str:
    """That no run covers ``goal``, with the reason where it is known."""
    why, reachable = analysis.reasons.get(goal.name, ""), analysis.facts.reachable
    if any(other.name == goal.name for other in analysis.unsatisfiable):
        text = f"UNSATISFIABLE: nothing satisfies the antecedent of {goal.name} ({goal.where})"
    else:
        every = "no reachable state" if reachable is None else f"none of the {reachable:,} reachable states"
        text = f"UNREACHABLE: {every} is one in which {goal.name} ({goal.where}) can start"
    return f"{text}{f': {why}' if why else ''}"


def ends_harmlessly(subject: Subject, analysis: Analysis) -> bool:
    """Whether runs end by assumptions alone, and each goal that was written can be covered before, and some goal."""
    ended = analysis.facts.dead_end
    if ended is None or ended.undefined or not subject.goals or analysis.final_unsatisfiable or analysis.undecided:
        return False
    kinds = {trigger.goal: trigger.kind for trigger in analysis.facts.triggers}
    written = [goal for goal in subject.goals if not goal.generated]
    never = [never_covered(subject, analysis, generated) for generated in (False, True)]
    if never[0] or len(never[1]) == len(subject.goals):
        return False
    return not any(kinds[g.name] == UNKNOWN for g in written)


def unreachable_goals(analysis: Analysis) -> set[str]:
    """The names of goals that no run covers."""
    none = {trigger.goal for trigger in analysis.facts.triggers if trigger.kind == NONE}
    return none | {goal.name for goal in analysis.unsatisfiable}


def undecided_goals(subject: Subject, analysis: Analysis) -> list[Goal]:
    """The goals of which it is not decided whether a run covers them."""
    kinds = {trigger.goal: trigger.kind for trigger in analysis.facts.triggers}
    exact = (SEVERAL,) if analysis.facts.reachable is None else (SINGLE, SEVERAL)
    never = unreachable_goals(analysis)
    return [goal for goal in subject.goals if goal.name not in never and kinds.get(goal.name) not in exact]


def never_covered(subject: Subject, analysis: Analysis, generated: bool) -> list[Goal]:
    """The goals that no run covers, those that were written or those that are ``generated``."""
    never = unreachable_goals(analysis)
    return [goal for goal in subject.goals if goal.name in never and bool(goal.generated) == generated]


def lines_of_places(places: Sequence[UndefinedBehaviour], most: int) -> list[str]:
    """A line for each place; where there are more than ``most``, a line for all of a kind."""
    groups: dict[tuple[str, str], list[UndefinedBehaviour]] = {}
    for place in places:
        groups.setdefault((place.kind, _reach(place)), []).append(place)
    texts = []
    for (kind, reach), group in groups.items():
        if len(places) <= most or len(group) == 1:
            texts += [f"{place.where}: {kind}: {reach}; chains avoid it" for place in group]
            continue
        rest = [f":{place.where.line}:{place.where.column}" if place.where else "" for place in group[1:]]
        at = listed([str(group[0].where), *rest], 6)
        texts.append(f"{kind} at {len(group)} places: {reach}; chains avoid it: {at}")
    return texts


def _reach(place: UndefinedBehaviour) -> str:
    """Whether and how undefined behaviour can happen."""
    if place.undecided:
        return "undecided: not decided within the time whether it can happen"
    if place.steps == 0:
        return "can happen in the first step from init"
    if place.steps is not None:
        return f"can happen after {counted(place.steps, 'step')} from init"
    if place.searched:
        return "possible in some state, not found within the first steps from init"
    return "possible in some state; not decided within the time whether from init"
