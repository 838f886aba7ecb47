"""What ``check`` found, for the terminal."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from bmc.errors import counted, listed
from chaincover.check.analysis import Analysis
from chaincover.check.found_invariants import found_lines
from chaincover.check.goal_facts import (
    EQUAL,
    INSIDE,
    NO,
    NONE,
    SEVERAL,
    SINGLE,
    UNKNOWN,
    YES,
    Claim,
    GoalFacts,
    Sharing,
    Trigger,
)
from chaincover.library import within_bounds
from chaincover.project.values import show_ranges
from chaincover.report.check_problems import (
    ends_harmlessly,
    lines_of_places,
    never_covered,
    problems,
    undecided_goals,
    unreachable_goals,
)
from chaincover.report.console import (
    FEW_LINES,
    MANY_LINES,
    MOST_LINES,
    WIDTH,
    Console,
    ended_by,
    say,
    shortened,
)
from chaincover.report.console_variables import liveness_lines, show_interface
from chaincover.report.findings import show_findings
from chaincover.subject import Subject
from chaincover.target.judge import short_compiler
from properties.durations import seconds_text
from properties.goal import Goal


def show_analysis(out: Console, subject: Subject, analysis: Analysis) -> None:
    """The report of ``check``: what is wrong, what will be slow, then what was read; the rest where it is asked for."""
    head, rest = _show_wrong(out, subject, analysis), out.part()
    _show_not_analysed(head, subject)
    constraints = out.part()
    for rule in subject.rules:
        say(constraints, f"constraint {rule.told}")
    constraints.cut(FEW_LINES, "-v tells all")
    _show_times(constraints, subject)
    _show_slow(head, analysis)
    _show_end(rest, subject, analysis)
    _show_undefined_behaviour(rest, subject, analysis)
    _show_notes(rest, subject, analysis)
    _show_comparison(rest, subject, analysis)
    functions, interface, variables, goals, properties = (out.part() for _ in range(5))
    _show_functions(functions, subject)
    show_interface(interface, subject)
    _show_variables(variables, subject)
    _show_goals(goals, subject, analysis)
    _show_properties(properties, subject, analysis)
    room = MOST_LINES - 2 - sum(len(part.kept) for part in (head, functions, interface, constraints, goals, rest))
    if out.everything or len(variables.kept) - len(interface.kept) <= room:
        room -= len(variables.kept) - len(interface.kept)
        interface = variables
    left_out = not out.everything and len(properties.kept) > room
    if left_out:
        properties = out.part()
        _name_undecided(properties, subject, analysis)
        properties = properties if len(properties.kept) <= room else out.part()
    out.show(head, functions, interface, constraints, goals, properties, rest)
    if out.everything:
        _show_everything(out, subject, analysis)
    else:
        tells = "proved invariants, which state matters, how the goals lie to each other, notes"
        say(out, f"-v tells all: {'every goal, ' if left_out else ''}{tells}")


def _show_wrong(out: Console, subject: Subject, analysis: Analysis) -> Console:
    """The first line of the report on ``out``; what is wrong is the part that comes next."""
    wrong = problems(subject, analysis)
    found = f"{counted(len(wrong), 'problem')}, told first" if wrong else "nothing wrong found"
    found += " in what is analysed" if subject.not_analysed and not wrong else ""
    undecided = len(undecided_goals(subject, analysis))
    if undecided and not wrong and not analysis.interrupted:
        of = f"{undecided} of {counted(len(subject.goals), 'goal')}" if len(subject.goals) > 1 else "the goal"
        found += f"; {of} {'is' if undecided == 1 else 'are'} not decided"
    if analysis.interrupted:
        ended = ended_by(analysis.interrupted)
        found += f"; {ended[0].lower()}{ended[1:]}: what is not told was not looked at"
    say(out, f"{subject.system.name}: {found}", "bold red" if wrong or analysis.interrupted else "bold")
    part = out.part()
    show_findings(part, wrong, MANY_LINES, "-v tells all")
    return part


def _show_not_analysed(out: Console, subject: Subject) -> None:
    """What nothing is said of because it depends on functions of the C library with bounds."""
    apart = subject.not_analysed
    if not apart:
        return
    if apart.step:
        what = "runs, undefined behaviour, and the comparison: whether a step is defined depends on"
        say(out, f"not analysed: {what} {within_bounds(apart.step)}", "bold")
    for functions, names in apart.names.items():
        told = listed(names, len(names)) if out.everything else listed(names)
        say(out, f"not analysed: {told}: depends on {within_bounds(functions)}", "bold")
    if apart.final and not apart.step:
        say(out, f"not analysed: the final condition: depends on {within_bounds(apart.final)}", "bold")
    say(out, "  next: chaincover generate finds one chain for what depends on functions with bounds")


def _show_slow(out: Console, analysis: Analysis) -> None:
    """What will make a search long."""
    part = out.part()
    for slow in analysis.slow:
        say(part, f"slow: {slow.text}", "bold")
        say(part, f"  next: {slow.remedy}")
    if analysis.facts.not_enumerated:
        reason, _, advice = analysis.facts.not_enumerated.partition(" To change that, ")
        say(part, f"slow: {reason}", "bold")
        if advice:
            say(part, f"  next: {advice}")
    out.show(part.cut(FEW_LINES + (2 if analysis.slow else 0), "-v tells all"))


def _show_goals(out: Console, subject: Subject, analysis: Analysis) -> None:
    """How many goals of each criterion there are, and which of the generated ones no run covers."""
    open_ones = {goal.name for goal in undecided_goals(subject, analysis)}
    by_criterion: dict[str, list[Goal]] = {}
    for goal in subject.goals:
        by_criterion.setdefault(goal.generated, []).append(goal)
    never = unreachable_goals(analysis)
    reachable, part = analysis.facts.reachable, out.part()
    for criterion in sorted(by_criterion, key=bool):
        goals = by_criterion[criterion]
        lost = [goal.name for goal in goals if goal.name in never]
        known = sum(1 for goal in goals if goal.name not in open_ones | never)
        text = f"{counted(len(goals), 'goal')}: {_how_many(len(goals), known, len(lost))}"
        names = f" ({listed(lost, 4)})" if lost and criterion else ""
        say(part, f"{criterion.removesuffix('()') or 'properties'}: {text}{names}")
    if reachable is not None:
        say(part, f"states: {reachable:,} reachable{_with_memory(subject)}, all enumerated")
    out.show(part.cut(FEW_LINES, "-v tells all criteria"))


def _with_memory(subject: Subject) -> str:
    """What states are told apart by beside the program's variables, '' for nothing."""
    remembered = any("#" in var.name for var in subject.system.state)
    return " (with what deadlines, since and dwell times remember)" if remembered else ""


def _how_many(goals: int, known: int, lost: int) -> str:
    """How many of so many ``goals`` are ``known`` to be reachable, how many are open, and how many are ``lost``."""
    open_ones = goals - known - lost
    parts = ["all can be reached" if known == goals > 1 else f"{known} can be reached"] if known else []
    parts += [f"{open_ones} not decided within the effort of check"] if open_ones else []
    parts += [f"{lost} cannot be reached, proved"] if lost else []
    return ", ".join(parts)


def _show_end(out: Console, subject: Subject, analysis: Analysis) -> None:
    """Where a chain may end, and where runs end, if no goal that was written is lost by that."""
    ends = "anywhere" if subject.hold == 1 else "with any held step"
    part = out.part()
    condition = subject.final_text or subject.not_analysed.final_text
    say(part, f"final: {condition or f'(none: a chain may end {ends})'}")
    ended = analysis.facts.dead_end
    if ended is not None and ends_harmlessly(subject, analysis):
        kinds = {trigger.goal: trigger.kind for trigger in analysis.facts.triggers}
        lost = {goal.name for goal in never_covered(subject, analysis, generated=True)}
        lost |= {goal.name for goal in subject.goals if kinds[goal.name] == UNKNOWN}
        told = f"; that may be why {counted(len(lost), 'generated goal')} cannot be reached" if lost else ""
        say(part, f"runs end{'' if lost else ', and no goal is lost by it'}: {ended.message}{told}")
    out.show(part.cut(4, "-v tells all"))


def _show_notes(out: Console, subject: Subject, analysis: Analysis) -> None:
    """Notes on program and properties, and inputs that nothing reads."""
    part = out.part()
    for note in joined(subject.notes, None if out.everything else min(out.width, WIDTH) - len("note: ")):
        say(part, f"note: {note}")
    unread = analysis.liveness.unread_inputs
    if unread and not out.everything:
        say(part, f"note: inputs that nothing depends on: {listed(unread)}")
    out.show(part.cut(6, "-v tells all notes"))


def _show_everything(out: Console, subject: Subject, analysis: Analysis) -> None:
    """Invariants, what is live, and facts about the goals."""
    for condition in analysis.invariants:
        if condition.proved:
            say(out, f"invariant {condition.name}: proved inductive")
    for line in found_lines(analysis.found, subject.model):
        say(out, line)
    for line in liveness_lines(subject, analysis.liveness):
        say(out, line)
    if subject.goals:
        _show_facts(out, analysis.facts)


def joined(notes: Sequence[str], columns: int | None = None) -> list[str]:
    """``notes`` in order; those that say the same of several names as one, of which ``columns`` hold the first."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        match = re.match(r"('[^']+') is (.*)", note, re.S)
        groups.setdefault(match[2] if match else note, []).append(match[1] if match else "")
    shown = []
    for text, names in groups.items():
        rest = f" {'is' if len(names) == 1 else 'are'} {text}"
        kept = len(names)
        while columns is not None and kept and len(listed(names, kept)) + len(rest) > columns:
            kept -= 1
        told = listed(names, max(kept, 1)) if kept or len(names) == 1 else f"{len(names)} variables"
        shown.append(told + rest if names[0] else text)
    return shown


def _show_functions(out: Console, subject: Subject) -> None:
    """Init and step."""
    described = subject.model.described
    init = ", ".join(f"{function}()" for function in described["init"]) or "(none)"
    told = [f"init {init}, step {described['step']}()"] if described["step"] else []
    told += [f"not confirmed, so that nothing is generated: the stub {name}" for name in subject.model.unconfirmed]
    told += [f"rests on {text}" for text in subject.model.assumed if "stub" in text or "assembly" in text]
    told += [f"rests on this, which is not proved: {text}" for text in subject.model.unproved_ends]
    told += [f"read as compiled with {' '.join(described['options'])}"] if "options" in described else []
    told += [f"inputs are held for {subject.hold} steps"] if subject.hold > 1 else []
    if told:
        say(out, "; ".join(told))


def _name_undecided(out: Console, subject: Subject, analysis: Analysis) -> None:
    """Which goals are not decided, where that is not true of all."""
    names = [goal.name for goal in undecided_goals(subject, analysis)]
    if 0 < len(names) < len(subject.goals):
        say(out, f"goals that are not decided: {listed(names)}")


def _show_properties(out: Console, subject: Subject, analysis: Analysis) -> None:
    """Every goal with its length in steps and its property, in a line each unless all is asked for.

    Where some goals are not decided, a column says of each whether a run covers it.
    """
    undecided = {goal.name for goal in undecided_goals(subject, analysis)}
    never = unreachable_goals(analysis)
    known = {goal.name: "no" if goal.name in never else "yes" for goal in subject.goals if goal.name not in undecided}
    goals = [*subject.goals, *(goal for goal, _ in subject.not_analysed.goals)]
    width = max((len(goal.name) for goal in goals), default=0)
    rows = []
    for goal in goals:
        text = " ".join(goal.text.split())
        shown = (goal.name, str(goal.over(0)), *([known.get(goal.name, "undecided")] if undecided else []))
        text = text if out.everything else shortened(text, out.width - max(width, 4) - (20 if undecided else 9))
        rows.append((*shown, text))
    if rows:
        out.table(("goal", "steps", *(["reached"] if undecided else []), "property"), rows)


def _show_times(out: Console, subject: Subject) -> None:
    """The times in place of numbers of steps, each with these."""
    part, period = out.part(), subject.settings.period
    if subject.times and period is not None:
        say(part, f"times, a step of {seconds_text(period)}: {'; '.join(subject.times)}")
    out.show(part.cut(FEW_LINES, "-v tells all times"))


def _show_variables(out: Console, subject: Subject) -> None:
    """Every input with its allowed values, every variable with its value after init."""
    rows = [("input", var.name, var.type.name, show_ranges(var.values, var.type)) for var in subject.system.inputs]
    for state in subject.system.visible_state:
        start = "open" if state.init is None else state.type.show(state.type.value(state.init.bv_unsigned_value()))
        if state.name in subject.system.chosen:
            among = f" ({show_ranges(state.starts, state.type)})" if state.starts else ""
            start = f"chosen by the tester{among}"
        rows.append((state.role, state.name, state.type.name, start))
    out.table(("role", "name", "type", "after init / allowed"), rows)


def _show_undefined_behaviour(out: Console, subject: Subject, analysis: Analysis) -> None:
    """The places where undefined behaviour is not excluded, but for those that a run is known to come to."""
    if subject.not_analysed.step:
        return
    if not analysis.undefined_behaviour:
        say(out, "undefined behaviour: none possible")
    part = out.part()
    ended = analysis.facts.dead_end
    told = {(each.name, each.where) for each in ended.undefined} if ended is not None else set()  # among the problems
    places = [p for p in analysis.undefined_behaviour if p.steps is None and (p.kind, p.where) not in told]
    for text in lines_of_places(places, len(places) if out.everything else FEW_LINES):
        say(part, text)
    out.show(part.cut(MANY_LINES, "-v tells all"))


def _show_comparison(out: Console, subject: Subject, analysis: Analysis) -> None:
    found, original = analysis.compared.comparison, subject.model.original_is
    if found is None and analysis.interrupted:
        say(out, f"comparison with {original}: left out, interrupted")
        return
    if found is None:
        say(out, f"comparison with {original}: left out: {analysis.compared.left_out}")
        return
    steps = f"{counted(found.run_steps, 'step')} along random runs and {found.state_steps} from random states"
    steps += ", then its time was over" if found.stopped else ""
    if found.steps and not found.differences:
        compiler = short_compiler(analysis.compared.compiler)
        say(out, f"comparison with {original} ({compiler}): equal on {steps}")


def _show_facts(out: Console, facts: GoalFacts) -> None:
    """What is known of the goals; a line about no goal is left out."""
    for text, names in {**_starts(facts), **_pairs(facts)}.items():
        if names:
            say(out, f"goals {text}: {listed(names)}")
    if facts.normal_form:
        say(out, f"states count as one where nothing can tell them apart, whatever {listed(facts.normal_form)} hold")
    say(out, f"Lemma 3 (the shortest order gives a minimal chain, if it meets no goal twice): {_claim(facts.lemma_3)}")
    say(out, f"Theorem 2 (repair finds a chain if there is one, with K large enough): {_claim(facts.theorem_2)}")


def _starts(facts: GoalFacts) -> dict[str, list[str]]:
    """What is known of the states in which goals start, and the goals of which it is true."""
    reachable = "states" if facts.reachable is None else f"of the {facts.reachable} reachable states"
    kind, init, final = (_goals_by(facts.triggers, relation) for relation in ("kind", "init", "final"))
    return {
        "that start in no reachable state": kind[NONE],
        "that start in one state only": kind[SINGLE],
        f"that start in several {reachable}": [
            t.goal + (f" ({t.states})" if t.states else "") for t in facts.triggers if t.kind == SEVERAL
        ],
        "not decided whether they start in several states": kind[UNKNOWN],
        "that start exactly in the state after init": init[EQUAL],
        "that start only after init": init[INSIDE],
        "that start exactly where the final condition holds": final[EQUAL],
        "that start only where the final condition holds": final[INSIDE],
    }


def _goals_by(triggers: Sequence[Trigger], relation: str) -> Mapping[str, list[str]]:
    """The goals by the value of an attribute of their triggers: ``kind``, ``init`` or ``final``."""
    goals = defaultdict(list)
    for trigger in triggers:
        goals[getattr(trigger, relation)].append(trigger.goal)
    return goals


def _pairs(facts: GoalFacts) -> dict[str, list[str]]:
    """What is known of two goals together, and the pairs of which it is true."""
    return {
        f"that {'can' if facts.exact else 'may'} share a step": [_pair(shared) for shared in facts.sharing],
        "not decided whether they can share a step": [f"{a} + {b}" for a, b in facts.sharing_undecided],
        "where covering the first covers the second": [f"{a} -> {b}" for a, b in facts.implied],
        "not decided whether covering the first covers the second": [f"{a} -> {b}" for a, b in facts.implied_undecided],
    }


def _pair(shared: Sharing) -> str:
    if shared.distance == 0:
        return f"{shared.first} + {shared.second}"
    later = f"{counted(shared.distance, 'step')} later"
    return f"{shared.first} + {shared.second} ({later})"


def _claim(claim: Claim) -> str:
    text = {YES: "applies", NO: "does not apply: "}.get(claim.applies, "not decided: ")
    return text + "; ".join(claim.because)
