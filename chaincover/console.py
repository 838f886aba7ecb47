"""Results for the terminal: findings first, then the chain, the goals, the claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bmc.system import InputVariable, StateVariable, TransitionSystem, Valuation
from chaincover.analysis import Analysis
from chaincover.chain import COVERED, UNREACHABLE, Chain
from chaincover.chain_file import reported
from chaincover.load import Controller
from chaincover.pipeline import ChainResult
from chaincover.replay import Replay
from chaincover.values import show_ranges
from chaincover.verdicts import NEXT_STEP

_MOST_COLUMNS = 6
_MOST_NAMES = 4


def console() -> Console:
    """Standard output; wide enough for tables when it is not a terminal."""
    out = Console(highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(highlight=False, width=max(out.width, 140))


def say(out: Console, text: str, style: str = "") -> None:
    """One line, never broken."""
    out.print(Text(text, style), soft_wrap=True)


def short_names(names: Sequence[str]) -> dict[str, str]:
    """The last part of each name where no other name has the same, else the whole name."""
    tails = {name: re.split(r"->|\.|::", name)[-1].lstrip("*") for name in names}
    counts: dict[str, int] = {}
    for tail in tails.values():
        counts[tail] = counts.get(tail, 0) + 1
    return {name: tail if counts[tail] == 1 else name for name, tail in tails.items()}


def show_result(out: Console, controller: Controller, result: ChainResult) -> None:
    """A generated chain, or why there is none."""
    chain = result.chain
    if chain is not None:
        _show_findings(out, chain)
        say(out, _headline(controller, result, chain), "bold")
        _show_steps(out, controller.system, chain)
    else:
        say(out, f"{controller.system.name}: no chain covers all {len(controller.goals)} goals", "bold")
    _show_goals(out, controller, result)
    _show_next_steps(out, controller, result)
    if result.stopped_by:
        say(out, f"Stopped by {result.stopped_by}; the result is valid but may not be complete.")


def _show_next_steps(out: Console, controller: Controller, result: ChainResult) -> None:
    """For each verdict other than covered: the goals with their places, and what can be done."""
    for status, advice in NEXT_STEP.items():
        pairs = zip(controller.goals, result.verdicts, strict=True)
        names = [f"{goal.name} ({goal.where})" for goal, verdict in pairs if verdict.status == status]
        if names:
            say(out, f"{status}: {', '.join(names)}\n  next: {advice}")


def _headline(controller: Controller, result: ChainResult, chain: Chain) -> str:
    missing = sum(1 for v in result.verdicts if v.status != COVERED)
    count = len(controller.goals)
    goals = f"{len(chain.hits)} of {count} goals" if missing else "its goal" if count == 1 else f"all {count} goals"
    end = f" and ends in {_final_name(controller)}" if controller.final is not None else ""
    steps = f"{chain.length} step{'' if chain.length == 1 else 's'}"
    return f"{controller.system.name}: one chain of {steps} covers {goals}{end} ({_proof(result)})"


def _final_name(controller: Controller) -> str:
    return "a state like init" if controller.final_text == "init" else f"'{controller.final_text}'"


def _proof(result: ChainResult) -> str:
    bounds = result.bounds
    proof = "minimal, proved" if bounds.minimal else f"proved: none shorter than {bounds.lower}"
    return f"{proof}; K = {result.depth}"


def _show_findings(out: Console, chain: Chain) -> None:
    for hit in chain.failures:
        say(out, f"FINDING: the consequent of {hit.goal} fails at step {hit.step}", "bold red")
    for violation in chain.violations:
        say(out, f"FINDING: {violation.name} fails in step {violation.step}", "bold red")


def _show_steps(out: Console, system: TransitionSystem, chain: Chain) -> None:
    columns = [*reported(system, "state"), *reported(system, "output")]
    names = short_names([*(v.name for v in system.inputs), *(v.name for v in columns)])
    wide = len(columns) <= _MOST_COLUMNS
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("step", justify="right")
    table.add_column("inputs")
    for title in [names[v.name] for v in columns] if wide else ["changes"]:
        table.add_column(Text(title))
    table.add_column("goals covered from here")
    states = chain.run.states
    start = _cells(columns, states[0], names) if wide else [_changes(columns, None, states[0], names)]
    table.add_row("", "(init)", *map(Text, start), Text(""))
    for step, inputs in enumerate(chain.run.inputs):
        after = states[step + 1]
        cells = _cells(columns, after, names) if wide else [_changes(columns, states[step], after, names)]
        goals = " ".join(hit.goal for hit in chain.hits if hit.step == step)
        table.add_row(str(step), Text(_inputs(system.inputs, inputs, names)), *map(Text, cells), Text(goals))
    ended = " ".join(hit.goal for hit in chain.hits if hit.step == chain.length)
    if ended:
        table.add_row(str(chain.length), "(end)", *[""] * (len(columns) if wide else 1), ended)
    out.print(table)


def _cells(columns: Iterable[StateVariable], values: Valuation, names: dict[str, str]) -> list[str]:
    return [_shown(var, values) for var in columns]


def _shown(var: StateVariable | InputVariable, values: Valuation) -> str:
    if not values.get(f"{var.name}#defined", 1):
        return "-"
    return var.type.show(var.type.value(values[var.name]))


def _changes(
    columns: Iterable[StateVariable], before: Valuation | None, after: Valuation, names: dict[str, str]
) -> str:
    """The variables that changed; at the start those that are not 0."""
    changed = []
    for var in columns:
        new = _shown(var, after)
        if new != (_shown(var, before) if before is not None else "0") and not (before is None and new == "-"):
            changed.append(f"{names[var.name]}={new}")
    return " ".join(changed)


def _inputs(variables: Iterable[InputVariable], values: Valuation, names: dict[str, str]) -> str:
    """Flags that are set by their names, other inputs with their values."""
    parts = []
    for var in variables:
        if var.values == ((0, 1),):
            if values[var.name]:
                parts.append(names[var.name])
        else:
            parts.append(f"{names[var.name]}={_shown(var, values)}")
    return " ".join(parts) or "(none)"


def _show_goals(out: Console, controller: Controller, result: ChainResult) -> None:
    hits = {hit.goal: hit for hit in result.chain.hits} if result.chain else {}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("goal", "verdict", "step", "consequent", "property"):
        table.add_column(title)
    for goal, verdict in zip(controller.goals, result.verdicts, strict=True):
        hit = hits.get(goal.name)
        table.add_row(
            Text(goal.name),
            Text(verdict.status + (f": {verdict.detail}" if verdict.detail else "")),
            "" if verdict.step is None else str(verdict.step),
            _held(hit.consequent_held) if hit else "",
            Text(goal.text + (f"  [{goal.requirement}]" if goal.requirement else "")),
        )
    out.print(table)


def _held(held: bool | None) -> str:
    return "-" if held is None else "held" if held else "FAILED"


def show_replay(out: Console, replay: Replay) -> None:
    """What a replay found, disagreements first."""
    for kind, texts in (
        ("DISAGREES", replay.disagreements),
        ("NOT ALLOWED", replay.refused),
        ("FINDING", replay.violations),
    ):
        for text in texts[:10]:
            say(out, f"{kind}: {text}", "bold red")
    where = "the model" if replay.on == "model" else f"the compiled original ({replay.on})"
    asked = [g for g in replay.goals if g.asked]
    verdict = f"{sum(1 for g in asked if g.step is not None)} of {len(asked)} goals covered"
    if replay.final is not None:
        verdict += ", final condition reached" if replay.final else ", final condition NOT reached"
    say(out, f"replay on {where}: {replay.run.length} steps, {verdict}")
    for remark in replay.remarks:
        say(out, f"note: {remark}")


def show_replay_goals(out: Console, replay: Replay) -> None:
    """Where each goal is covered in a replay."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("goal", "covered at step", "times", "consequent"):
        table.add_column(title)
    for goal in replay.goals:
        text = _held(goal.consequent_held) if goal.step is not None else ""
        if goal.failed_at is not None:
            text = f"FAILED at step {goal.failed_at}"
        place = "not covered" if goal.step is None else str(goal.step)
        if not goal.claim_holds:
            place += f" (the chain says {goal.claimed})"
        if not goal.asked:
            place += " (the chain was not made for it)"
        table.add_row(Text(goal.goal), place, str(goal.times), text)
    out.print(table)


def show_analysis(out: Console, controller: Controller, analysis: Analysis) -> None:
    """The report of ``check``."""
    _show_interface(out, controller)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("goal", "steps", "property"):
        table.add_column(title)
    for goal in controller.goals:
        table.add_row(Text(goal.name), str(goal.length), Text(goal.text))
    out.print(table)
    say(out, f"final: {controller.final_text or '(none: a chain may end anywhere)'}")
    for goal in analysis.unsatisfiable:
        say(out, f"UNSATISFIABLE: nothing satisfies the antecedent of {goal.name} ({goal.where})", "bold red")
        say(out, f"  next: {NEXT_STEP[UNREACHABLE]}")
    for goal in analysis.undecided:
        say(out, f"undecided: whether the antecedent of {goal.name} can hold")
    if analysis.final_unsatisfiable:
        say(out, "UNSATISFIABLE: no state satisfies the final condition", "bold red")
    for condition in analysis.invariants:
        kind = "proved inductive" if condition.proved else "NOT proved: it is not used in any claim"
        say(out, f"invariant {condition.name}: {kind}")
    _show_suspects(out, analysis)
    for note in joined(controller.model.notes):
        say(out, f"note: {note}")
    _show_comparison(out, analysis)


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
        table.add_row("input", Text(var.name), Text(var.type.name), show_ranges(var.values))
    for state in controller.system.state:
        if state.role == "internal":
            continue
        start = "open" if state.init is None else state.type.show(state.type.value(state.init.bv_unsigned_value()))
        if state.name in controller.system.chosen:
            start = "chosen by the tester"
        table.add_row(state.role, Text(state.name), Text(state.type.name), start)
    out.print(table)


def _show_suspects(out: Console, analysis: Analysis) -> None:
    if not analysis.suspects:
        say(out, "undefined behaviour: none possible")
    for suspect in analysis.suspects:
        if suspect.undecided:
            reach = "the solver gave up on whether it can happen"
        elif suspect.steps is None:
            reach = "possible in some state, not found within the first steps from init"
        else:
            reach = f"can happen after {suspect.steps} step(s) from init"
        say(out, f"{suspect.where}: {suspect.kind}: {reach}; chains avoid it")


def _show_comparison(out: Console, analysis: Analysis) -> None:
    found = analysis.comparison
    if found is None:
        say(out, "comparison with the compiled original: left out, no C compiler was found")
        return
    steps = f"{found.run_steps} steps along random runs and {found.state_steps} from random states"
    if not found.differences:
        say(out, f"comparison with the compiled original ({analysis.compiler}): equal on {steps}")
    for difference in found.differences[:5]:
        text = f"'{difference.variable}' is {difference.model} in the model, {difference.original} in the original"
        say(out, f"DISAGREES: {text}", "bold red")
