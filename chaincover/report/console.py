"""Results for the terminal: findings first, then the chain, the goals, the claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bmc.engines.dead_ends import DeadEnd
from bmc.errors import counted
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation
from chaincover.chain import (
    COVERED,
    EXCLUDED,
    NO_WAY_TO_FINAL,
    STATUSES,
    UNDECIDED,
    UNREACHABLE,
    Chain,
    Verdict,
)
from chaincover.formats.chain_file import reported
from chaincover.options import Options
from chaincover.project.load import Controller
from chaincover.project.values import show_value
from chaincover.replay.original import Replay
from chaincover.result import BY, INTERRUPT, ChainResult
from chaincover.verdicts import infeasible, next_step
from properties.goal import Goal


def console() -> Console:
    """Standard output; wide enough for tables when it is not a terminal."""
    out = Console(highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(highlight=False, width=max(out.width, 140))


def say(out: Console, text: str, style: str = "") -> None:
    """One line, never broken."""
    out.print(Text(text, style), soft_wrap=True)


__all__ = [
    "console",
    "held_runs",
    "infeasible_ones",
    "say",
    "short_names",
    "show_dead_end",
    "show_next_steps",
    "show_replay",
    "show_replay_goals",
    "show_result",
]

_MOST_COLUMNS = 6

MOST_NAMES = 12
"""Goals named in one piece of advice; the table of goals has them all."""


def short_names(names: Sequence[str]) -> dict[str, str]:
    """The last part of each name where no other name has the same, else the whole name."""
    tails = {name: re.split(r"->|\.|::", name)[-1].lstrip("*") for name in names}
    counts: dict[str, int] = {}
    for tail in tails.values():
        counts[tail] = counts.get(tail, 0) + 1
    return {name: tail if counts[tail] == 1 else name for name, tail in tails.items()}


def show_result(out: Console, controller: Controller, result: ChainResult, no_step: DeadEnd | None = None) -> None:
    """A generated chain, or why there is none; ``no_step``: why no run goes on after some step, if that was found."""
    chain = result.chain
    if chain is not None:
        _show_findings(out, chain)
        say(out, _headline(controller, result, chain), "bold")
        _show_steps(out, controller.system, chain)
    else:
        say(out, f"{controller.system.name}: {_no_chain(controller, result)}", "bold")
    _show_goals(out, controller, result)
    show_next_steps(out, zip(controller.goals, result.verdicts, strict=True), result.options, no_step)
    show_what_is_left(out, result)


def show_dead_end(out: Console, found: DeadEnd | None) -> None:
    """Why no run goes on after some step, if that was found."""
    if found is not None:
        say(out, f"{f'{found.where}: ' if found.where else ''}{found.message}", "bold red")
        say(out, f"  next: {found.hint}")


def goes_on_first(found: DeadEnd) -> str:
    """The advice about a goal that no run covers while none has more steps than ``found`` says."""
    return f"let runs go on after {counted(found.steps, 'step')} first, as told above"


def show_what_is_left(out: Console, result: ChainResult) -> None:
    """What ended the run before everything was settled, and what more of it might settle."""
    bounds, length = result.bounds, result.bounds.length or 0
    undecided = sum(1 for verdict in result.verdicts if verdict.status == UNDECIDED)
    open_ends = []
    if undecided:
        open_ends.append(counted(undecided, "undecided goal"))
    elif any(verdict.status == EXCLUDED for verdict in result.verdicts) and not result.no_chain:
        open_ends.append("whether one chain covers more goals")
    if result.chain is not None and not bounds.minimal:
        open_ends.append(_shorter(bounds.lower, length) + (" through the goals covered so far" if undecided else ""))
    if result.stopped_by:
        left = f"; left open: {', '.join(open_ends)}" if open_ends else ""
        say(out, f"{ended_by(result.stopped_by)}; what is told is valid{left}.")
    elif result.used_up and open_ends:
        given = result.options.effort
        say(out, f"The effort {given:g} was used up; more of it (--effort) might settle: {', '.join(open_ends)}.")


def _shorter(lower: int, length: int) -> str:
    """The question that a bound below the length leaves open."""
    if not lower:
        return f"whether a chain of fewer than {counted(length, 'step')} exists (no lower bound yet)"
    if lower == length - 1:
        return f"whether a chain of {counted(lower, 'step')} exists"
    return f"whether a chain of {lower} to {length - 1} steps exists"


def ended_by(stopped_by: str) -> str:
    """What ended a run early, as the beginning of a sentence."""
    return "Interrupted" if stopped_by == INTERRUPT else f"Stopped by {BY.get(stopped_by, stopped_by)}"


def _no_chain(controller: Controller, result: ChainResult) -> str:
    """That no chain covers the goals, where it is proved, else that none was found."""
    count = len(controller.goals)
    if count and all(verdict.proved for verdict in result.verdicts):
        return f"no chain covers any of the {count} goals" if count > 1 else "no chain covers its goal"
    covers = f"covers all {count} goals" if count else "reaches the final condition"
    most, lower = result.options.max_length, result.bounds.lower
    if most is not None and lower > most:
        return f"no chain of at most {counted(most, 'step')} {covers}: none is shorter than {lower}, proved"
    return (
        f"no chain exists that {covers}: {result.no_chain}" if result.no_chain else f"no chain was found that {covers}"
    )


def show_next_steps(
    out: Console,
    judged: Iterable[tuple[Goal, Verdict]],
    options: Options,
    no_step: DeadEnd | None = None,
    *,
    reasons: bool = False,
) -> None:
    """For each verdict but covered among ``judged``: the goals and what can be done; written and generated ones apart.

    Why is said for generated goals, which often share one reason, and with ``reasons`` for all.
    """
    advised: dict[tuple[str, bool, str], dict[str, list[str]]] = {}
    for goal, verdict in judged:
        generated = bool(goal.generated)
        why = verdict.detail if generated or reasons else ""
        advice = next_step(verdict, generated, options)
        if no_step is not None and verdict.status in (UNREACHABLE, NO_WAY_TO_FINAL):
            advice = goes_on_first(no_step)
        names_by_reason = advised.setdefault((verdict.status, generated, advice), {})
        names_by_reason.setdefault(why, []).append(goal.name if generated else f"{goal.name} ({goal.where})")
    for (status, _, advice), named in sorted(
        advised.items(), key=lambda item: (STATUSES.index(item[0][0]), item[0][1])
    ):
        if status == COVERED:
            continue
        for why, names in named.items():
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            say(out, f"{status}{f' ({why})' if why else ''}: {', '.join(names[:MOST_NAMES])}{more}")
        say(out, f"  next: {advice}")


def infeasible_ones(goals: Sequence[Goal], verdicts: Sequence[Verdict]) -> str:
    """How many generated goals are proved infeasible, in brackets, or ''."""
    count = len(infeasible(goals, verdicts))
    return f" ({count} generated {'one is' if count == 1 else 'ones are'} proved infeasible)" if count else ""


def _headline(controller: Controller, result: ChainResult, chain: Chain) -> str:
    missing = sum(1 for v in result.verdicts if v.status != COVERED)
    count = len(controller.goals)
    goals = f"{len(chain.hits)} of {count} goals" if missing else "its goal" if count == 1 else f"all {count} goals"
    goals += infeasible_ones(controller.goals, result.verdicts)
    end = f" and ends in {_final_name(controller)}" if controller.final_text else ""
    steps = counted(chain.length, "step")
    proof = _proof(result, controller.system.hold)
    return f"{controller.system.name}: one chain of {steps} covers {goals}{end} ({proof})"


def _final_name(controller: Controller) -> str:
    return "a state like init" if controller.final_text == "init" else f"'{controller.final_text}'"


def _proof(result: ChainResult, hold: int) -> str:
    bounds, held = result.bounds, held_runs(hold)
    shorter = f"proved: none shorter than {bounds.lower}{held}" if bounds.lower else "no lower bound yet"
    proof = f"minimal{held}, proved" if bounds.minimal else shorter
    return f"{proof}; K = {result.depth if result.chain is None else result.chain.k_met}"


def held_runs(hold: int) -> str:
    """What minimality and bounds speak of, where inputs are held for more than one tick; '' where they are not."""
    return f" among runs that hold inputs for {hold} ticks" if hold > 1 else ""


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
    return show_value(var.type, values[var.name])


def _changes(
    columns: Iterable[StateVariable], before: Valuation | None, after: Valuation, names: dict[str, str]
) -> str:
    """The variables that changed; at the start those that are not 0."""
    changed = []
    for var in columns:
        new = _shown(var, after)
        old = show_value(var.type, 0) if before is None else _shown(var, before)
        if new != old and not (before is None and new == "-"):
            changed.append(f"{names[var.name]}={new}")
    return " ".join(changed)


def _inputs(variables: Iterable[InputVariable], values: Valuation, names: dict[str, str]) -> str:
    """Flags that are set by their names, other inputs with their values."""
    parts = []
    for var in variables:
        if var.values == ((0, 1),) and not var.type.floating:
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
            Text(verdict.status + (f": {verdict.detail}" if verdict.detail and not goal.generated else "")),
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
    say(out, f"replay on {where}: {counted(replay.run.length, 'step')}, {verdict}")
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
        if goal.infeasible:
            place += " (said to be unreachable)"
        elif not goal.asked:
            place += " (the chain was not made for it)"
        table.add_row(Text(goal.goal), place, str(goal.times), text)
    out.print(table)
