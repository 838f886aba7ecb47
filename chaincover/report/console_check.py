"""What ``check`` found, for the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chaincover.chain import UNREACHABLE, Verdict
from chaincover.check.analysis import Analysis
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
from chaincover.check.suspects import Suspect
from chaincover.options import Options
from chaincover.project.load import Controller
from chaincover.project.values import show_ranges, show_value
from chaincover.report.found_text import found_lines
from chaincover.report.liveness_text import told
from chaincover.report.terminal import say
from chaincover.verdicts import next_step

_MOST_NAMES = 4
_MOST_LISTED = 10


def show_analysis(out: Console, controller: Controller, analysis: Analysis) -> None:
    """The report of ``check``."""
    _show_interface(out, controller)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("goal", "steps", "property"):
        table.add_column(title)
    for goal in controller.goals:
        table.add_row(Text(goal.name), str(goal.length), Text(goal.text))
    out.print(table)
    ends = "anywhere" if controller.system.hold == 1 else "with any held step"
    say(out, f"final: {controller.final_text or f'(none: a chain may end {ends})'}")
    for goal in analysis.unsatisfiable:
        say(out, f"UNSATISFIABLE: nothing satisfies the antecedent of {goal.name} ({goal.where})", "bold red")
        say(out, f"  next: {next_step(Verdict(goal.name, UNREACHABLE), bool(goal.generated), Options())}")
    for goal in analysis.undecided:
        say(out, f"undecided: whether the antecedent of {goal.name} can hold")
    if analysis.final_unsatisfiable:
        say(out, "UNSATISFIABLE: no state satisfies the final condition", "bold red")
    for condition in analysis.invariants:
        kind = "proved inductive" if condition.proved else "NOT proved: it is not used in any claim"
        say(out, f"invariant {condition.name}: {kind}")
    for line in found_lines(analysis.found, controller.model):
        say(out, line)
    for line in told(controller, analysis.liveness):
        say(out, line)
    if controller.goals:
        _show_facts(out, analysis.facts)
    if analysis.facts.not_enumerated:
        say(out, analysis.facts.not_enumerated)
    _show_suspects(out, analysis)
    for note in joined(controller.model.notes):
        say(out, f"note: {note}")
    _show_comparison(out, controller, analysis)
    if analysis.interrupted:
        say(out, "interrupted: what is not told was not looked at", "bold red")


def joined(notes: Sequence[str]) -> list[str]:
    """``notes`` in order; those that say the same of several names as one."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        match = re.match(r"('[^']+') is (.*)", note, re.S)
        groups.setdefault(match[2] if match else note, []).append(match[1] if match else "")
    shown = []
    for text, names in groups.items():
        more = len(names) - _MOST_NAMES
        listed = ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        shown.append(f"{listed} {'is' if len(names) == 1 else 'are'} {text}" if names[0] else text)
    return shown


def _show_interface(out: Console, controller: Controller) -> None:
    native = controller.native
    init = ", ".join(f"{call.function}()" for call in native.init) or "(none)"
    say(out, f"{controller.system.name}: init {init}, step {native.step.function}()", "bold")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("role", "name", "type", "after init / allowed"):
        table.add_column(title)
    for var in controller.system.inputs:
        table.add_row("input", Text(var.name), Text(var.type.name), show_ranges(var.values, var.type))
    for state in controller.system.state:
        if state.role == "internal":
            continue
        start = "open" if state.init is None else state.type.show(state.type.value(state.init.bv_unsigned_value()))
        if state.name in controller.system.chosen:
            start = "chosen by the tester"
        table.add_row(state.role, Text(state.name), Text(state.type.name), start)
    out.print(table)
    if controller.system.hold > 1:
        say(out, f"inputs are held for {controller.system.hold} steps")


def _show_suspects(out: Console, analysis: Analysis) -> None:
    if not analysis.suspects:
        say(out, "undefined behaviour: none possible")
    for suspect in analysis.suspects:
        say(out, f"{suspect.where}: {suspect.kind}: {_reach(suspect)}; chains avoid it")


def _reach(suspect: Suspect) -> str:
    """Whether and how undefined behaviour can happen."""
    if suspect.undecided:
        return "undecided: not decided within the time whether it can happen"
    if suspect.steps is not None:
        return f"can happen after {suspect.steps} step(s) from init"
    if suspect.searched:
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
    steps = f"{found.run_steps} steps along random runs and {found.state_steps} from random states"
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
            say(out, f"goals {text}: {_listed(names)}")
    say(out, f"Lemma 3 (the least order gives a minimal chain, if it meets no goal twice): {_claim(facts.lemma_3)}")
    say(out, f"Theorem 2 (repair finds a chain if there is one, with K large enough): {_claim(facts.theorem_2)}")


def _pair(shared: Sharing) -> str:
    if shared.distance == 0:
        return f"{shared.first} + {shared.second}"
    later = f"{shared.distance} step{'' if shared.distance == 1 else 's'} later"
    return f"{shared.first} + {shared.second} ({later})"


def _claim(claim: Claim) -> str:
    text = {YES: "applies", NO: "does not apply: "}.get(claim.applies, "not decided: ")
    return text + "; ".join(claim.because)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
