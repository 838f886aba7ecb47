"""What ``check`` found, for the terminal."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bmc.errors import counted, listed
from bmc.formulas.evaluate import names_in
from bmc.system.simulation import Simulator
from chaincover.chain import UNREACHABLE, Hit, Verdict
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
from chaincover.check.undefined_behaviour import UndefinedBehaviour
from chaincover.library import within_bounds
from chaincover.options import Options
from chaincover.project.values import show_ranges, show_value
from chaincover.reductions.slicing import ADVICE
from chaincover.report.chain_table import ChainTable
from chaincover.report.console import (
    FEW_LINES,
    MANY_LINES,
    MOST_LINES,
    WIDTH,
    Console,
    ended_by,
    goes_on_first,
    say,
    shortened,
)
from chaincover.report.console_variables import grouped, liveness_lines, names_of, show_interface
from chaincover.report.findings import Finding, run_table, show_findings, until
from chaincover.subject import Subject
from chaincover.target.judge import short_compiler
from chaincover.verdicts import next_step
from properties.durations import seconds_text
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd


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
    _show_properties(properties, subject)
    room = MOST_LINES - 2 - sum(len(part.kept) for part in (head, functions, interface, constraints, goals, rest))
    if out.everything or len(variables.kept) - len(interface.kept) <= room:
        room -= len(variables.kept) - len(interface.kept)
        interface = variables
    if not out.everything and len(properties.kept) > room:
        properties = out.part()
    out.show(head, functions, interface, constraints, goals, properties, rest)
    if out.everything:
        _show_everything(out, subject, analysis)
    else:
        say(out, "-v tells all: proved invariants, which state matters, how the goals lie to each other, notes")


def _show_wrong(out: Console, subject: Subject, analysis: Analysis) -> Console:
    """The first line of the report on ``out``; what is wrong is the part that comes next."""
    wrong = _wrong(subject, analysis)
    found = f"{counted(len(wrong), 'problem')}, told first" if wrong else "nothing wrong found"
    found += " in what is analysed" if subject.not_analysed and not wrong else ""
    if analysis.interrupted:
        ended = ended_by(analysis.interrupted)
        found += f"; {ended[0].lower()}{ended[1:]}: what is not told was not looked at"
    say(out, f"{subject.system.name}: {found}", "bold red" if wrong or analysis.interrupted else "bold")
    part = out.part()
    show_findings(part, wrong, MANY_LINES, "-v tells all")
    return part


def _wrong(subject: Subject, analysis: Analysis) -> list[Finding]:
    """What is wrong, the gravest first, each with what can be done and, where there is one, the run that shows it."""
    no_step = None if _ends_harmlessly(subject, analysis) else analysis.facts.dead_end
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
    found += [(_impossible(goal, analysis), advice) for goal in _never(subject, analysis, generated=False)]
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


def _impossible(goal: Goal, analysis: Analysis) -> str:
    """That no run covers ``goal``, with the reason where it is known."""
    why, reachable = analysis.reasons.get(goal.name, ""), analysis.facts.reachable
    if any(other.name == goal.name for other in analysis.unsatisfiable):
        text = f"UNSATISFIABLE: nothing satisfies the antecedent of {goal.name} ({goal.where})"
    else:
        every = "no reachable state" if reachable is None else f"none of the {reachable:,} reachable states"
        text = f"UNREACHABLE: {every} is one in which {goal.name} ({goal.where}) can start"
    return f"{text}{f': {why}' if why else ''}"


def _ends_harmlessly(subject: Subject, analysis: Analysis) -> bool:
    """Whether runs end by assumptions alone, and each goal that was written can be covered before, and some goal."""
    ended = analysis.facts.dead_end
    if ended is None or ended.undefined or not subject.goals or analysis.final_unsatisfiable or analysis.undecided:
        return False
    kinds = {trigger.goal: trigger.kind for trigger in analysis.facts.triggers}
    written = [goal for goal in subject.goals if not goal.generated]
    never = [_never(subject, analysis, generated) for generated in (False, True)]
    if never[0] or len(never[1]) == len(subject.goals):
        return False
    return not any(kinds[g.name] == UNKNOWN for g in written)


def _unreachable(analysis: Analysis) -> set[str]:
    """The names of goals that no run covers."""
    none = {trigger.goal for trigger in analysis.facts.triggers if trigger.kind == NONE}
    return none | {goal.name for goal in analysis.unsatisfiable}


def _never(subject: Subject, analysis: Analysis, generated: bool) -> list[Goal]:
    """The goals that no run covers, those that were written or those that are ``generated``."""
    never = _unreachable(analysis)
    return [goal for goal in subject.goals if goal.name in never and bool(goal.generated) == generated]


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
    kinds = {trigger.goal: trigger.kind for trigger in analysis.facts.triggers}
    by_criterion: dict[str, list[Goal]] = {}
    for goal in subject.goals:
        by_criterion.setdefault(goal.generated, []).append(goal)
    never = _unreachable(analysis)
    reachable, part = analysis.facts.reachable, out.part()
    exact = (SEVERAL,) if reachable is None else (SINGLE, SEVERAL)
    for criterion in sorted(by_criterion, key=bool):
        goals = by_criterion[criterion]
        lost = [goal.name for goal in goals if goal.name in never]
        known = sum(1 for goal in goals if kinds.get(goal.name) in exact and goal.name not in never)
        text = f"{counted(len(goals), 'goal')}: {_how_many(len(goals), known, len(lost))}"
        names = f" ({listed(lost, 4)})" if lost and criterion else ""
        say(part, f"{criterion.removesuffix('()') or 'properties'}: {text}{names}")
    if reachable is not None:
        say(part, f"states: {reachable:,} reachable, all enumerated")
    out.show(part.cut(FEW_LINES, "-v tells all criteria"))


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
    if ended is not None and _ends_harmlessly(subject, analysis):
        kinds = {trigger.goal: trigger.kind for trigger in analysis.facts.triggers}
        lost = {goal.name for goal in _never(subject, analysis, generated=True)}
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


def _show_properties(out: Console, subject: Subject) -> None:
    """Every goal with its length in steps and its property, in a line each unless all is asked for."""
    goals = [*subject.goals, *(goal for goal, _ in subject.not_analysed.goals)]
    width = max((len(goal.name) for goal in goals), default=0)
    rows = []
    for goal in goals:
        text = " ".join(goal.text.split())
        text = text if out.everything else shortened(text, out.width - max(width, 4) - 9)
        rows.append((goal.name, str(goal.over(0)), text))
    if rows:
        out.table(("goal", "steps", "property"), rows)


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


def _sure_undefined_behaviour(subject: Subject, analysis: Analysis) -> list[Finding]:
    """The undefined behaviour that some run comes to, with that run, and with what can be done."""
    places = sorted((p for p in analysis.undefined_behaviour if p.steps is not None), key=lambda p: p.steps or 0)
    advice = (
        "if the environment never leads there, give ranges, constraints or an assumption; else guard it in the code"
    )
    texts = _of_places(places, FEW_LINES)
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
    for text in _of_places(places, len(places) if out.everything else FEW_LINES):
        say(part, text)
    out.show(part.cut(MANY_LINES, "-v tells all"))


def _of_places(places: Sequence[UndefinedBehaviour], most: int) -> list[str]:
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
