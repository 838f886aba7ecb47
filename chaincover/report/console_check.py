"""What ``check`` found, for the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bmc.c.controller.model import CModel
from bmc.errors import counted
from bmc.invariants.candidates import IMPLIES
from chaincover.chain import UNREACHABLE, Verdict
from chaincover.check.analysis import Analysis
from chaincover.check.found_invariants import EQUALITY, IMPLICATION, ORDER, VALUES, FoundInvariant, files_of
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
)
from chaincover.check.liveness import Liveness
from chaincover.check.undefined_behaviour import UndefinedBehaviour
from chaincover.options import Options
from chaincover.project.load import Controller
from chaincover.project.values import show_ranges, show_value
from chaincover.reductions.slicing import ADVICE
from chaincover.report.console import Console, ended_by, goes_on_first, say, show_dead_end
from chaincover.verdicts import listed, next_step


def show_analysis(out: Console, controller: Controller, analysis: Analysis) -> None:
    """The report of ``check``."""
    no_step = analysis.facts.dead_end
    show_dead_end(out, no_step)
    _show_interface(out, controller)
    goals = [(goal.name, str(goal.length), goal.text) for goal in controller.goals]
    out.table(("goal", "steps", "property"), goals)
    ends = "anywhere" if controller.system.hold == 1 else "with any held step"
    say(out, f"final: {controller.final_text or f'(none: a chain may end {ends})'}")
    for goal in analysis.unsatisfiable:
        say(out, f"UNSATISFIABLE: nothing satisfies the antecedent of {goal.name} ({goal.where})", "bold red")
        advice = next_step(Verdict(goal.name, UNREACHABLE), bool(goal.generated), Options())
        say(out, f"  next: {advice if no_step is None else goes_on_first(no_step)}")
    for goal in analysis.undecided:
        say(out, f"undecided: whether the antecedent of {goal.name} can hold")
    if analysis.final_unsatisfiable:
        say(out, "UNSATISFIABLE: no state satisfies the final condition", "bold red")
    for condition in analysis.invariants:
        kind = "proved inductive" if condition.proved else "NOT proved: it is not used in any claim"
        say(out, f"invariant {condition.name}: {kind}")
    for line in found_lines(analysis.found, controller.model):
        say(out, line)
    for line in liveness_lines(controller, analysis.liveness):
        say(out, line)
    if controller.goals:
        _show_facts(out, analysis.facts)
    if analysis.facts.not_enumerated:
        say(out, analysis.facts.not_enumerated)
    _show_undefined_behaviour(out, analysis)
    for note in joined(controller.notes):
        say(out, f"note: {note}")
    _show_comparison(out, controller, analysis)
    if analysis.interrupted:
        ended = ended_by(analysis.interrupted)
        say(out, f"{ended[0].lower()}{ended[1:]}: what is not told was not looked at", "bold red")


def joined(notes: Sequence[str]) -> list[str]:
    """``notes`` in order; those that say the same of several names as one."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        match = re.match(r"('[^']+') is (.*)", note, re.S)
        groups.setdefault(match[2] if match else note, []).append(match[1] if match else "")
    shown = []
    for text, names in groups.items():
        shown.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {text}" if names[0] else text)
    return shown


def _show_interface(out: Console, controller: Controller) -> None:
    native = controller.native
    init = ", ".join(f"{call.function}()" for call in native.init) or "(none)"
    say(out, f"{controller.system.name}: init {init}, step {native.step.function}()", "bold")
    rows = [("input", var.name, var.type.name, show_ranges(var.values, var.type)) for var in controller.system.inputs]
    for state in controller.system.state:
        if state.role == "internal":
            continue
        start = "open" if state.init is None else state.type.show(state.type.value(state.init.bv_unsigned_value()))
        if state.name in controller.system.chosen:
            among = f" ({show_ranges(state.starts, state.type)})" if state.starts else ""
            start = f"chosen by the tester{among}"
        rows.append((state.role, state.name, state.type.name, start))
    out.table(("role", "name", "type", "after init / allowed"), rows)
    for rule in controller.rules:
        say(out, f"constraint {rule.told}")
    if controller.system.hold > 1:
        say(out, f"inputs are held for {controller.system.hold} steps")


def _show_undefined_behaviour(out: Console, analysis: Analysis) -> None:
    if not analysis.undefined_behaviour:
        say(out, "undefined behaviour: none possible")
    for place in analysis.undefined_behaviour:
        say(out, f"{place.where}: {place.kind}: {_reach(place)}; chains avoid it")


def _reach(place: UndefinedBehaviour) -> str:
    """Whether and how undefined behaviour can happen."""
    if place.undecided:
        return "undecided: not decided within the time whether it can happen"
    if place.steps is not None:
        return f"can happen after {counted(place.steps, 'step')} from init"
    if place.searched:
        return "possible in some state, not found within the first steps from init"
    return "possible in some state; not decided within the time whether from init"


def _show_comparison(out: Console, controller: Controller, analysis: Analysis) -> None:
    found = analysis.comparison
    if found is None and analysis.interrupted:
        say(out, "comparison with the compiled original: left out, interrupted")
        return
    if found is None:
        say(out, f"comparison with the compiled original: left out: {analysis.not_compared}")
        return
    steps = f"{counted(found.run_steps, 'step')} along random runs and {found.state_steps} from random states"
    steps += ", then its time was over" if found.stopped else ""
    if not found.steps:
        why = "its time was over" if found.stopped else "no step that was tried is defined"
        say(out, f"comparison with the compiled original: NOTHING COMPARED, {why}", "bold red")
        say(out, "  next: see the undefined behaviour above; list what the environment sets in interface.input")
    elif not found.differences:
        say(out, f"comparison with the compiled original ({analysis.compiler}): equal on {steps}")
    for difference in found.differences[:5]:
        vtype = controller.system.variable(difference.variable).type
        model, original = show_value(vtype, difference.model), show_value(vtype, difference.original)
        text = f"'{difference.variable}' is {model} in the model, {original} in the original"
        say(out, f"DISAGREES: {text}", "bold red")


def _show_facts(out: Console, facts: GoalFacts) -> None:
    """What is told about the goals; lines with nothing to tell are left out."""
    reachable = "states" if facts.reachable is None else f"of the {facts.reachable} reachable states"
    several = [t.goal + (f" ({t.states})" if t.states else "") for t in facts.triggers if t.kind == SEVERAL]
    lines = {
        "that start in no reachable state": [t.goal for t in facts.triggers if t.kind == NONE],
        "that start in one state only": [t.goal for t in facts.triggers if t.kind == SINGLE],
        f"that start in several {reachable}": several,
        "not decided whether they start in several states": [t.goal for t in facts.triggers if t.kind == UNKNOWN],
        "that start exactly in the state after init": [t.goal for t in facts.triggers if t.init == EQUAL],
        "that start only after init": [t.goal for t in facts.triggers if t.init == INSIDE],
        "that start exactly where the final condition holds": [t.goal for t in facts.triggers if t.final == EQUAL],
        "that start only where the final condition holds": [t.goal for t in facts.triggers if t.final == INSIDE],
        f"that {'can' if facts.exact else 'may'} share a step": [_pair(s) for s in facts.sharing],
        "not decided whether they can share a step": [f"{a} + {b}" for a, b in facts.sharing_undecided],
        "where covering the first covers the second": [f"{a} -> {b}" for a, b in facts.implied],
        "not decided whether covering the first covers the second": [f"{a} -> {b}" for a, b in facts.implied_undecided],
    }
    for text, names in lines.items():
        if names:
            say(out, f"goals {text}: {listed(names)}")
    if facts.normal_form:
        say(out, f"states count as one where nothing can tell them apart, whatever {listed(facts.normal_form)} hold")
    say(out, f"Lemma 3 (the shortest order gives a minimal chain, if it meets no goal twice): {_claim(facts.lemma_3)}")
    say(out, f"Theorem 2 (repair finds a chain if there is one, with K large enough): {_claim(facts.theorem_2)}")


def _pair(shared: Sharing) -> str:
    if shared.distance == 0:
        return f"{shared.first} + {shared.second}"
    later = f"{counted(shared.distance, 'step')} later"
    return f"{shared.first} + {shared.second} ({later})"


def _claim(claim: Claim) -> str:
    text = {YES: "applies", NO: "does not apply: "}.get(claim.applies, "not decided: ")
    return text + "; ".join(claim.because)


LEAST_GROUP = 3
"""So many variables of one object, all of them, are listed as one."""


def liveness_lines(controller: Controller, found: Liveness) -> list[str]:
    """The lines of ``check``; those with nothing to tell are left out."""
    system = controller.system
    names = [*(var.name for var in system.inputs), *(var.name for var in system.state)]
    lines = []
    if found.observed and found.variables:
        live, dead = grouped(found.live, names), grouped(found.dead, names)
        lines.append(f"live at the start of a step, {len(found.live)} of {found.variables}: {listed(live) or 'none'}")
        if found.for_validity:
            text = f"of these only for undefined behaviour, {len(found.for_validity)}"
            lines.append(f"{text}: {listed(grouped(found.for_validity, names))}")
        if dead:
            text = "nothing that is observed ever depends on their value there"
            lines.append(f"dead at the start of a step, {len(found.dead)}: {listed(dead)} ({text})")
        if found.self_read:
            text = f"of these read, but only by themselves or each other, {len(found.self_read)}"
            lines.append(f"{text}: {listed(grouped(found.self_read, names))} (such as a total that nothing else reads)")
    if found.constant:
        lines.append(f"never change, {len(found.constant)}: {listed(_constants(found, names))}")
    if controller.final_text == "init":
        same = listed(grouped(found.compared, names))
        lines.append(f"a state like the one after init has as then: {same or 'nothing, any state is'}")
    if found.latched:
        text = f"never as after init again, once they have changed, {len(found.latched)}"
        fields = listed(grouped(found.latched, names))
        lines.append(f"{text}: {fields} (a chain that changes them has no way to the end: {ADVICE})")
    if controller.goals or controller.final_text:
        lines.append(_needed(controller, found))
    if found.unread_inputs:
        lines.append(f"inputs that nothing depends on: {listed(grouped(found.unread_inputs, names))}")
    return lines


def _needed(controller: Controller, found: Liveness) -> str:
    count = found.variables
    parts = [*(["the goals"] if controller.goals else []), *(["the final condition"] if controller.final_text else [])]
    inputs = f"{len(found.needed_inputs)} of {len(controller.system.inputs)} inputs"
    verb = "depends" if parts == ["the final condition"] else "depend"
    text = f"{' and '.join(parts)} {verb} on {len(found.needed)} of {count} state variables and {inputs}"
    return text + ("; the search leaves out the rest" if len(found.needed) < count else "")


def _constants(found: Liveness, names: Sequence[str]) -> list[str]:
    """The constants with their values; those of one object with one value as one."""
    texts = []
    for value in dict.fromkeys(value for _, value in found.constant):
        texts += [f"{name} = {value}" for name in grouped([n for n, v in found.constant if v == value], names)]
    return texts


def grouped(names: Sequence[str], everything: Sequence[str]) -> list[str]:
    """``names``, with ``prefix*`` and their number where all of ``everything`` below a struct or array is among them.

    In the order in which they begin in ``names``.
    """
    chosen = set(names)
    below: dict[str, list[str]] = {}
    for name in everything:
        for prefix in prefixes(name):
            below.setdefault(prefix, []).append(name)
    complete = {prefix for prefix, own in below.items() if len(own) >= LEAST_GROUP and chosen.issuperset(own)}
    texts: dict[str, None] = {}
    for name in names:
        whole = [prefix for prefix in prefixes(name) if prefix in complete]
        texts[_whole(whole[0], len(below[whole[0]])) if whole else name] = None
    return list(texts)


def _whole(prefix: str, count: int) -> str:
    return f"{prefix}*{']' if prefix.endswith('[') else ''} ({count})"


def prefixes(name: str) -> list[str]:
    """The names of the objects that hold a variable, from the outside in, each with the sign that selects a part."""
    return [name[: match.end()] for match in re.finditer(r"->|\.|\[", name)]


MOST_LINES = 20
"""Lines told; JSON has all invariants."""
MOST_NAMES = 8
"""Facts told on one line."""


def found_lines(found: Sequence[FoundInvariant], model: CModel) -> list[str]:
    """The lines for ``found``: flags, other values, equalities, then implications, those that say most first."""
    files = files_of(model)
    lines = [_line(texts, facts, files) for texts, facts in _joined(found)]
    more = len(lines) - MOST_LINES
    return lines[:MOST_LINES] + ([f"and {more} more lines of invariants: --json has all"] if more > 0 else [])


def _joined(found: Sequence[FoundInvariant]) -> list[tuple[list[str], list[FoundInvariant]]]:
    """What goes on one line, with the facts that it tells."""
    flags = [fact for fact in found if fact.kind == VALUES and _is_flag(fact)]
    groups = [_grouped(flags, lambda fact: fact.how, lambda fact: fact.variables[0], "0 or 1: ")]
    ranges = [fact for fact in found if fact.kind == VALUES and not _is_flag(fact)]
    groups.append(_grouped(ranges, lambda fact: fact.how, lambda fact: fact.text, ""))
    equal = [fact for fact in found if fact.kind == EQUALITY]
    groups.append(_grouped(equal, lambda fact: fact.text.split(" == ")[0], lambda fact: fact.text, ""))
    implied = [fact for fact in found if fact.kind == IMPLICATION]
    groups.append(
        sorted(
            _grouped(implied, lambda fact: fact.text.split(IMPLIES)[0], lambda fact: fact.text.split(IMPLIES)[1], None),
            key=lambda group: -len(group[1]),
        )
    )
    order = [fact for fact in found if fact.kind == ORDER]
    groups.append(_grouped(order, lambda fact: fact.how, lambda fact: fact.text, ""))
    return [line for group in groups for line in group]


def _grouped(
    facts: Sequence[FoundInvariant],
    key: Callable[[FoundInvariant], str],
    text: Callable[[FoundInvariant], str],
    front: str | None,
) -> list[tuple[list[str], list[FoundInvariant]]]:
    """``facts`` with one key and proof together; ``front`` stands before them, None: the key and an arrow."""
    groups: dict[tuple[str, str], list[FoundInvariant]] = {}
    for fact in facts:
        groups.setdefault((key(fact), fact.how), []).append(fact)
    made = []
    for (first, _), members in groups.items():
        texts = [text(fact) for fact in members]
        for begin in range(0, len(texts), MOST_NAMES):
            part = texts[begin : begin + MOST_NAMES]
            part[0] = (f"{first}{IMPLIES}" if front is None else front) + part[0]
            made.append((part, members[begin : begin + MOST_NAMES]))
    return made


def _is_flag(fact: FoundInvariant) -> bool:
    name = fact.variables[0]
    return fact.text in (f"{name} <= 1", f"0 <= {name} && {name} <= 1", f"{name} == 0.0 || {name} == 1.0")


def _line(texts: Sequence[str], facts: Sequence[FoundInvariant], files: Mapping[str, str]) -> str:
    told = (" && " if facts[0].kind == IMPLICATION else ", ").join(texts)
    named = sorted({Path(files[name]).name for fact in facts for name in fact.variables if name in files})
    places = f"; {', '.join(named)}" if named else ""
    return f"always {told} ({facts[0].how}{places})"
