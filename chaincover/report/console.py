"""Results for the terminal: findings first, then the chain, the goals, the claims."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import IO, TYPE_CHECKING

import click

from bmc.errors import counted
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation
from chaincover.chain import (
    CAN_FAIL,
    COVERED,
    NEVER_VIOLATED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    STATUSES,
    UNDECIDED,
    UNREACHABLE,
    Chain,
    Failure,
    Ruling,
    Verdict,
)
from chaincover.formats.chain_file import reported
from chaincover.options import Options
from chaincover.project.load import Controller
from chaincover.project.values import show_value
from chaincover.result import BY, INTERRUPT, ChainResult, Requirements
from chaincover.verdicts import infeasible, next_step
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from chaincover.replay.original import Replay

LEAST_WIDTH = 140
"""Characters in a line of a table at least, where the output is no terminal."""

NARROW = 12
"""No column of a table is broken into lines of fewer characters."""


class Console:
    """Lines and tables on ``file`` (standard output), in colours only where that is a terminal and NO_COLOR is not set.

    ``width``: characters in a line of a table; the terminal's, else at least ``LEAST_WIDTH``.
    """

    def __init__(self, file: IO[str] | None = None, width: int = 0) -> None:
        self.file = file or sys.stdout
        terminal = self.file.isatty()
        self._plain = not terminal or bool(os.environ.get("NO_COLOR"))
        self._width = width or max(shutil.get_terminal_size().columns, 0 if terminal else LEAST_WIDTH)

    def line(self, text: str, style: str = "") -> None:
        """One line, never broken; ``style`` may be ``bold`` or ``bold red``."""
        if style and not self._plain:
            text = click.style(text, bold=True, fg="red" if style == "bold red" else None)
        click.echo(text, self.file)

    def table(self, titles: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()) -> None:
        """Columns below their ``titles``, those of ``right`` set to the right; wide ones are broken where they must."""
        texts = [[*titles], *([*row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        while sum(widths) + 2 * (len(widths) - 1) > self._width and max(widths) > NARROW:
            widths[widths.index(max(widths))] -= 1
        for number, row in enumerate(texts):
            cells = [
                textwrap.wrap(cell, width) if len(cell) > width else [cell]
                for cell, width in zip(row, widths, strict=True)
            ]
            for parts in zip_longest(*cells, fillvalue=""):
                placed = [
                    part.rjust(width) if title in right else part.ljust(width)
                    for part, title, width in zip(parts, titles, widths, strict=True)
                ]
                self.line("  ".join(placed).rstrip(), "" if number else "bold")


def console() -> Console:
    """Standard output."""
    return Console()


def say(out: Console, text: str, style: str = "") -> None:
    """One line, never broken."""
    out.line(text, style)


__all__ = [
    "Console",
    "console",
    "held_runs",
    "infeasible_ones",
    "minimal_for",
    "say",
    "short_names",
    "show_dead_end",
    "show_failures",
    "show_next_steps",
    "show_open_ends",
    "show_replay",
    "show_replay_goals",
    "show_result",
    "show_rulings",
]

LEFT_OPEN = (UNDECIDED, NOT_WITHIN_BOUND)
"""Verdicts of goals that another chain may cover as well."""

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
        _show_findings(out, result, chain)
        say(out, _headline(controller, result, chain), "bold")
        _show_steps(out, controller.system, chain)
    else:
        say(out, f"{controller.system.name}: {_no_chain(controller, result)}", "bold")
    _show_goals(out, controller, result)
    show_next_steps(out, zip(controller.goals, result.verdicts, strict=True), result.options, no_step)
    show_what_is_left(out, result)


def show_failures(out: Console, controller: Controller, found: Requirements, replayed: Mapping[str, Replay]) -> None:
    """The requirements that can fail, each with what fails."""
    goals = {goal.name: goal for goal in controller.goals}
    for failure in found.failures:
        say(out, f"FINDING: {failing(controller.system, goals[failure.goal], failure)}", "bold red")
        if note := controller.note_of(goals[failure.goal]):
            say(out, f"  note: {note}")
        played = replayed.get(failure.goal)
        for text in () if played is None else (*played.disagreements, *played.refused):
            say(out, f"DISAGREES: {failure.goal}: {text}", "bold red")


def failing(system: TransitionSystem, goal: Goal, failure: Failure) -> str:
    """That a requirement can fail, where, and with which values."""
    inputs = {var.name for var in system.inputs}
    parts = []
    for each in failure.values:
        when = f"before step {each.step}" if each.step < failure.run.length else "at its end"
        when = f"in step {each.step}" if each.variable in inputs else when
        parts.append(f"{when} {each.variable} is {each.actual}{each.expected and f', expected {each.expected}'}")
    name = f"{goal.name} ({goal.requirement})" if goal.requirement else goal.name
    least = "a shortest run" if failure.shortest else "a run"
    text = f"{name} can fail: at step {failure.step} of {least} of {counted(failure.run.length, 'step')}"
    text += f"; {'; '.join(parts)}" if parts else ""
    return text + (f"; {', '.join(failure.held)} held there" if failure.held else "")


def show_rulings(out: Console, rulings: Sequence[Ruling]) -> None:
    """How many requirements can fail, how many are never violated, and which are left open."""
    said = []
    for status, words in ((CAN_FAIL, "can fail"), (NEVER_VIOLATED, "never violated, proved"), (UNDECIDED, "undecided")):
        names = [ruling.goal for ruling in rulings if ruling.status == status]
        if names:
            which = "all " if len(names) == len(rulings) > 1 else ""
            told = f" ({', '.join(names[:MOST_NAMES])})" if status == UNDECIDED else ""
            said.append(f"{which}{len(names)} {words}{told}")
    if said:
        say(out, f"requirements: {', '.join(said)}")


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
    if result.chain is not None and not bounds.minimal:
        open_ends.append(_shorter(bounds.lower, length) + (" through the goals covered so far" if undecided else ""))
    show_open_ends(out, open_ends, result.stopped_by, result.options.effort if result.used_up else None)


def show_open_ends(out: Console, open_ends: Sequence[str], stopped_by: str, used_up: float | None) -> None:
    """What ended a run, and the ``open_ends`` that it leaves; ``used_up`` is its effort where that is used up."""
    if stopped_by:
        left = f"; left open: {', '.join(open_ends)}" if open_ends else ""
        say(out, f"{ended_by(stopped_by)}; what is told is valid{left}.")
    elif used_up is not None and open_ends:
        say(out, f"The effort {used_up:g} was used up; more of it (--effort) might settle: {', '.join(open_ends)}.")


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
    proof = f"{minimal_for(result.verdicts)}{held}, proved" if bounds.minimal else shorter
    return f"{proof}; K = {result.depth if result.chain is None else result.chain.k_met}"


def minimal_for(verdicts: Sequence[Verdict]) -> str:
    """What is said of chains that are proved to be as short as possible: of which goals, where others are left open."""
    return f"minimal{' for these goals' if any(v.status in LEFT_OPEN for v in verdicts) else ''}"


def held_runs(hold: int) -> str:
    """What minimality and bounds speak of, where inputs are held for more than one tick; '' where they are not."""
    return f" among runs that hold inputs for {hold} ticks" if hold > 1 else ""


def _show_findings(out: Console, result: ChainResult, chain: Chain) -> None:
    told = {failure.goal for failure in result.requirements.failures}
    for hit in chain.failures:
        on_chain = "on the chain" if hit.goal in told else "FINDING:"
        say(out, f"{on_chain} the consequent of {hit.goal} fails at step {hit.step}", "bold red")
    for violation in chain.violations:
        say(out, f"FINDING: {violation.name} fails in step {violation.step}", "bold red")


def _show_steps(out: Console, system: TransitionSystem, chain: Chain) -> None:
    columns = [*reported(system, "state"), *reported(system, "output")]
    names = short_names([*(v.name for v in system.inputs), *(v.name for v in columns)])
    wide = len(columns) <= _MOST_COLUMNS
    middle = [names[v.name] for v in columns] if wide else ["changes"]
    states = chain.run.states
    start = _cells(columns, states[0], names) if wide else [_changes(columns, None, states[0], names)]
    rows = [["", "(init)", *start, ""]]
    for step, inputs in enumerate(chain.run.inputs):
        after = states[step + 1]
        cells = _cells(columns, after, names) if wide else [_changes(columns, states[step], after, names)]
        goals = " ".join(hit.goal for hit in chain.hits if hit.step == step)
        rows.append([str(step), _inputs(system.inputs, inputs, names), *cells, goals])
    ended = " ".join(hit.goal for hit in chain.hits if hit.step == chain.length)
    if ended:
        rows.append([str(chain.length), "(end)", *[""] * len(middle), ended])
    out.table(["step", "inputs", *middle, "goals covered from here"], rows, right={"step"})


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
    rows = []
    for goal, verdict in zip(controller.goals, result.verdicts, strict=True):
        hit = hits.get(goal.name)
        row = (
            goal.name,
            verdict.status + (f": {verdict.detail}" if verdict.detail and not goal.generated else ""),
            "" if verdict.step is None else str(verdict.step),
            _held(hit.consequent_held) if hit else "",
            goal.text + (f"  [{goal.requirement}]" if goal.requirement else ""),
        )
        rows.append(row)
    out.table(("goal", "verdict", "step", "consequent", "property"), rows)


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
    rows = []
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
        rows.append((goal.goal, place, str(goal.times), text))
    out.table(("goal", "covered at step", "times", "consequent"), rows)
