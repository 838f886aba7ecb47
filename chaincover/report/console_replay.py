"""What became of a run that was judged, for the terminal: the answer first, then what is wrong with the run that shows
it, then each goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bmc.errors import CheckDisagreed, counted, listed
from bmc.system.transition import Run
from chaincover.chain import Chain, Hit, ReadValue
from chaincover.replaying.judge import explained, failing_values
from chaincover.report.chain_table import ChainTable, Marks, read_by_goals
from chaincover.report.console import FEW_LINES, MANY_LINES, MOST_LINES, Console, say
from chaincover.report.console_requirements import failing_so, named
from chaincover.report.findings import (
    FINDING,
    Finding,
    expectation,
    property_table,
    read_by,
    run_table,
    show_findings,
    table_of,
    told,
    until,
)
from chaincover.subject import Subject
from chaincover.target.comparison import AROUND
from chaincover.verdicts import AS_PREDICTED, FAILED, HELD

if TYPE_CHECKING:
    from chaincover.target.comparison import Comparison, Deviation, Difference
    from chaincover.target.judge import JudgedGoal, JudgedRun, Others

OTHERS = 2
"""Values that differ where a run first differs, besides the one that is told first. Twice as many: a longer line."""


OTHER_NUMBERS = " other numbers for the same names there, and numbers are told by the old names"
"""What is said of enumerations of another build."""


def show_judged(out: Console, subject: Subject, judged: JudgedRun, steps: bool = False, next_command: str = "") -> None:
    """A run of ``subject`` that was judged: the answer, with what to type next, what is wrong, each goal; where
    ``steps`` are asked for, all of these."""
    top, rest = out.part(), out.part()
    _show_answer(top, judged)
    if next_command:
        say(top, f"try: {next_command}", "bold")
    if judged.differences:
        _show_differences(top, judged.differences)
    _show_summary(rest, judged)
    show_replay_goals(rest, judged)
    findings = [*_differing(subject, judged, out.everything), *_lost(subject, judged), *_failed(subject, judged)]
    tables = [finding.table for finding in findings if finding.table is not None]
    if steps:
        findings = [Finding(finding.lines) for finding in findings if finding.lines]
    show_findings(top, findings, MOST_LINES - len(top.kept) - len(rest.kept), "-v tells all")
    out.show(top)
    if steps:
        _show_steps(out, subject, judged, tables)
    out.show(rest)


def _show_steps(out: Console, subject: Subject, judged: JudgedRun, tables: Sequence[ChainTable]) -> None:
    """All steps of the run, with the marks of ``tables``, which show the findings, and of all values that differ."""
    hits = _hits(judged)
    chain = Chain(judged.run, tuple(hit.goal for hit in hits), hits)
    marks = {place: text for table in tables for place, text in table.marks.items()}
    marks |= _marked_up_to(subject, judged, judged.run.length)
    every = Counter({var.name: 0 for var in subject.system.visible_state})
    every.update(read_by_goals(subject))
    table_of(subject, chain, every if marks else None, marks or None).show(out)


def _marked_up_to(subject: Subject, judged: JudgedRun, step: int) -> dict[tuple[str, int], str]:
    """What is said of each value up to ``step`` that differs from the chain, or deviates from the model."""
    from chaincover.target.tracks import expected_texts  # here and below: most runs that are shown were not recorded

    return {} if judged.observed is None else expected_texts(subject.system, judged.observed, step)


def _hits(judged: JudgedRun) -> tuple[Hit, ...]:
    """Where the goals are covered, and where requirements fail."""
    covered = [Hit(goal.goal, goal.step, goal.consequent_held) for goal in judged.goals if goal.step is not None]
    known = {(hit.goal, hit.step) for hit in covered if hit.consequent_held is False}
    failed = [Hit(goal.goal, goal.failed_at, False) for goal in judged.goals if goal.failed_at is not None]
    return (*covered, *(hit for hit in failed if (hit.goal, hit.step) not in known))


def answer(judged: JudgedRun) -> str:
    """What a replay is made for, in a sentence: what is another program now, where it first does something else, and
    what becomes of the goals; '' where nothing is another."""
    differences = judged.differences
    if not (judged.changed or differences):
        return ""
    own = [name for name in judged.changed if name not in judged.included]
    who = [_with_verb(own, "differs from that of the chain", "differ from that of the chain")]
    who += map(same_but_included, judged.included)
    parts = [
        "; ".join(filter(None, who)) or f"{judged.place} differs from {_other(differences[0])}",
        _with_verb(judged.renumbered, "has", "have") + OTHER_NUMBERS if judged.renumbered else "",
        _first_difference(differences) if differences else f"no difference in {counted(judged.steps, 'step')}",
        *_of_goals(judged),
    ]
    return "; ".join(part for part in parts if part)


def same_but_included(name: str) -> str:
    """What is said of a source file that is that of the chain, and whose code is not."""
    return f"{name} is the same, but what it includes, or its macros, have changed"


def _of_goals(judged: JudgedRun) -> list[str]:
    """What becomes of the goals: how many are covered, how many nobody looked at, and which are lost, covered at
    another step, or fail; '' for what none does."""
    asked = _of_chain(judged)
    lost = [goal.goal for goal in asked if goal.lost]
    moved = [f"{goal.goal} at step {goal.step}, not {goal.claimed}" for goal in asked if _moved(goal)]
    return [
        f"{sum(1 for goal in asked if goal.step is not None)} of {counted(len(asked), 'goal')}",
        f"{counted(len(judged.not_known), 'goal')} not looked at" if judged.not_known else "",
        _with_verb(lost, "is lost", "are lost"),
        listed(moved),
        *_failures(judged.goals),
    ]


def _failures(goals: Iterable[JudgedGoal]) -> Iterator[str]:
    """Which requirements fail: first those that are new, last those that fail on the chain too, there or elsewhere."""
    new, other, as_there = list[str](), list[str](), list[str]()
    moved = list[str]()
    for goal in (goal for goal in goals if goal.failed_at is not None):
        if goal.failed_on_chain is None:
            (new if goal.newly_failed else other).append(goal.goal)
        elif goal.failed_on_chain == goal.failed_at:
            as_there.append(goal.goal)
        else:
            moved.append(f"{goal.goal} fails at step {goal.failed_at}, on the chain at step {goal.failed_on_chain}")
    yield _with_verb(new, "fails (new)", "fail (new)")
    yield _with_verb(other, "fails", "fail")
    yield from moved
    yield _with_verb(as_there, "fails as on the chain", "fail as on the chain")


def _of_chain(judged: JudgedRun) -> list[JudgedGoal]:
    """The goals that the chain covers; of inputs that claim nothing those that were asked for."""
    asked = [goal for goal in judged.goals if goal.asked]
    return [goal for goal in asked if goal.claimed is not None] or asked


def _with_verb(names: Sequence[str], of_one: str, of_several: str) -> str:
    """``names`` with the verb for one or for several; '' for none."""
    return f"{listed(names)} {of_one if len(names) == 1 else of_several}" if names else ""


def _moved(goal: JudgedGoal) -> bool:
    return goal.step is not None and goal.claimed is not None and not goal.claim_holds


def _other(difference: Difference) -> str:
    return "the model" if "model" in difference.of else "what the chain says"


def _first_difference(differences: Sequence[Difference]) -> str:
    """Where values first differ, and which."""
    step = min(each.step for each in differences)
    first, *others = [each for each in differences if each.step == step]
    text = f"first difference at step {step}: {first.variable} {first.actual} instead of {first.expected}"
    more = [f"{each.variable} {each.actual} instead of {each.expected}" for each in others[:OTHERS]]
    return text + (f" ({', '.join(more)})" if more else "")


def _show_differences(out: Console, differences: Sequence[Difference]) -> None:
    """A line for each variable that differs, outputs first."""
    part = out.part()
    rows = [(each.variable, str(each.step), each.actual, each.expected, str(each.times)) for each in differences]
    part.table(("variable", "before step", "is", "instead of", "times"), rows, right=("before step", "times"))
    out.show(part.cut(MANY_LINES, "-v tells all variables that differ"))


def _differing(subject: Subject, judged: JudgedRun, everything: bool) -> Iterator[Finding]:
    """The run up to where values first differ, or first deviate from the model."""
    if judged.differences:
        step = min(each.step for each in judged.differences)
        first = [each for each in judged.differences if each.step == step]
        marks = {(each.variable, step): f"(expected {each.expected})" for each in first}
        marks |= _marked_up_to(subject, judged, step + AROUND)
        read = [each.variable for each in first]
        lines = [f"  the first difference, before step {step}:"]
    elif judged.comparison is not None and judged.comparison.first is not None:
        deviation = judged.comparison.first
        step, read = deviation.step, [deviation.variable]
        found = _deviations(subject, judged)
        times = next((_times(each) for each in found if each.variable == deviation.variable), "")
        others = [each for each in found if each.variable != deviation.variable]
        lines = [_deviates(deviation) + times, *_other_deviations(others, everything)]
        marks = _marked_up_to(subject, judged, step + AROUND)
    else:
        return
    yield Finding(lines, _around(subject, judged, step, read, marks))


def _deviations(subject: Subject, judged: JudgedRun) -> Sequence[Difference]:
    """The first difference of each variable that deviates from what was expected."""
    from chaincover.target.tracks import deviations

    return [] if judged.observed is None else deviations(subject.system, judged.observed)


def _times(difference: Difference) -> str:
    """How often a variable deviates, where that is more than once."""
    return f", {difference.times} times" if difference.times > 1 else ""


def _other_deviations(others: Sequence[Difference], everything: bool) -> Iterator[str]:
    """A line for each variable that deviates besides the first one; of many only the first ones."""
    most = len(others) if everything else MANY_LINES
    for each in others[:most]:
        yield f"  before step {each.step} {each.variable} is {each.actual}, expected {each.expected}{_times(each)}"
    if len(others) > most:
        yield f"  and {counted(len(others) - most, 'more variable')}: -v tells all"


def _run(subject: Subject, judged: JudgedRun) -> Run:
    """The run that was judged, with the values that were recorded, if it was."""
    if judged.comparison is None or judged.observed is None:
        return judged.run
    from chaincover.target.tracks import observed_run

    return observed_run(subject.system, judged.run, judged.observed)


def _shown_run(subject: Subject, judged: JudgedRun) -> Run:
    """The run that was judged, with no values where none were recorded."""
    run = _run(subject, judged)
    if judged.comparison is None or judged.observed is None:
        return run
    from chaincover.target.tracks import as_observed

    return as_observed(subject.system, run, judged.observed)


def _seen(judged: JudgedRun, values: Iterable[ReadValue]) -> list[ReadValue]:
    """Those of ``values`` that were observed."""
    if judged.comparison is None or judged.observed is None:
        return [*values]
    states, inputs = judged.observed.states, {name for row in judged.observed.expected.inputs[:1] for name in row}
    return [each for each in values if each.variable in inputs or each.variable in states[each.step]]


def _around(subject: Subject, judged: JudgedRun, step: int, read: Sequence[str], marks: Marks) -> ChainTable:
    """The run up to ``step`` and a few steps more, with the marks that lie there."""
    whole = _shown_run(subject, judged)
    run = until(whole, min(step + AROUND, whole.length))
    hits = [hit for hit in _hits(judged) if hit.step < len(run.states)]
    marks = {place: text for place, text in marks.items() if place[1] < len(run.states)}
    return run_table(subject, run, hits, read, marks)


def _deviates(deviation: Deviation) -> str:
    """Where a value that was observed first deviates from the model, and on the way to which goals."""
    towards = f" (on the way to {listed(deviation.serves)})" if deviation.serves else ""
    is_so = f"{deviation.variable} is {deviation.actual}, expected {deviation.expected}"
    return f"DEVIATES: before step {deviation.step}{towards} {is_so}"


def _lost(subject: Subject, judged: JudgedRun) -> Iterator[Finding]:
    """The goals that the chain says to cover and the run does not, each with what is otherwise where it says so."""
    goals, labels = {goal.name: goal for goal in subject.goals}, subject.value_names
    run, shown = _run(subject, judged), _shown_run(subject, judged)
    for own in judged.goals:
        goal, step = goals[own.goal], own.claimed
        if not own.lost or step is None or goal.over(step) > run.length:
            continue
        if goal.deadline is None:
            values = _seen(judged, failing_values(subject.system, goal.antecedent, run, step, goal.text))
            said = "; ".join(told(subject.system, each, run.length, labels) for each in values)
        else:  # what it reads there is not what an occurrence many steps before lacked
            values, said = [], "no occurrence of its antecedent is decided there"
        line = f"LOST: {named(goal)}: the chain covers it at step {step}{'; ' if said else ''}{said}"
        state = {var.name for var in subject.system.state}
        marks = {(each.variable, each.step): expectation(each) for each in values if each.variable in state}
        marks = marks or {("", step): ""}
        part = until(shown, min(goal.over(step) + 1, run.length))
        hits = [hit for hit in _hits(judged) if hit.step < len(part.states)]
        yield Finding([line], run_table(subject, part, hits, read_by(subject.system, [goal.antecedent]), marks))


def _failed(subject: Subject, judged: JudgedRun) -> Iterator[Finding]:
    """The requirements that fail on the run, first those that do not on the chain, each with what it reads, where that
    is what the model does."""
    goals, labels = {goal.name: goal for goal in subject.goals}, subject.value_names
    run, shown = _run(subject, judged), _shown_run(subject, judged)
    for own in sorted(judged.goals, key=lambda goal: not goal.newly_failed):
        goal, step = goals[own.goal], own.failed_at
        if step is None or own.others is None:
            continue
        line, failure = f"{FINDING} {named(goal)} fails at step {step}{' (new)' * own.newly_failed}", None
        with suppress(CheckDisagreed):
            failure = explained(subject.problem, goal.name, run, step)
        values = _seen(judged, () if failure is None else failure.values)
        if failure is None or not values:
            yield Finding([line])
            continue
        failure = replace(failure, values=tuple(values), held=own.others.held)
        end = max(goal.over(step), *(each.step for each in values))
        table = property_table(subject, goal, until(shown, min(end, run.length)), values, [Hit(goal.name, step, False)])
        yield Finding([line + failing_so(subject.system, failure, labels) + _others(own.others)], table)


def _others(others: Others) -> str:
    """The other requirements that fail at the step of a failure, or are not decided there, as the end of a sentence."""
    told = ((others.failed, "fails", "fail"), (others.undecided, "is not decided", "are not decided"))
    return "".join(f"; {_with_verb(names, of_one, of_several)} there" for names, of_one, of_several in told if names)


def show_replay(out: Console, judged: JudgedRun) -> None:
    """What became of a run that was judged: the answer, what disagrees, and the goals in a line."""
    _show_answer(out, judged)
    _show_summary(out, judged)


def _show_answer(out: Console, judged: JudgedRun) -> None:
    """The answer to what a run was made for, and what disagrees."""
    text = answer(judged)
    wrong = any(goal.asked and goal.step is None for goal in judged.goals) or judged.differences
    if text:
        say(out, text, "bold red" if wrong else "bold")
    values = {each.told for each in judged.differences}
    for kind, texts in (
        ("OTHER INPUTS than those of the chain", judged.other_inputs),
        ("DISAGREES", [text for text in judged.disagreements if text not in values]),
        ("NOT ALLOWED", judged.refused),
        ("FINDING", judged.violations),
    ):
        for text in texts[:MANY_LINES]:
            say(out, f"{kind}: {text}", "bold red")
        if len(texts) > MANY_LINES:
            say(out, f"{kind}: {len(texts) - MANY_LINES} more, which --json tells")


def _show_summary(out: Console, judged: JudgedRun) -> None:
    """What was compared, where the run was made, the number of goals covered, and notes."""
    if judged.comparison is not None:
        _show_comparison(out, judged.comparison)
    asked, all_asked = _of_chain(judged), [g for g in judged.goals if g.asked]
    own = "goals covered" if len(asked) == len(all_asked) else "goals that the chain covers"
    verdict = f"{sum(1 for g in asked if g.step is not None)} of {len(asked)} {own}"
    predicted = sum(1 for g in asked if g.how == AS_PREDICTED)
    verdict += f", {predicted} of them {AS_PREDICTED}" if predicted else ""
    if judged.final is not None:
        verdict += ", final condition reached" if judged.final else ", final condition NOT reached"
    what = "replay on" if judged.comparison is None else "run of"
    say(out, f"{what} {judged.place}: {counted(judged.steps, 'step')}, {verdict}")
    for remark in judged.remarks:
        part = out.part()
        say(part, f"note: {remark}")
        out.show(part.cut(FEW_LINES, "-v tells all"))


def _show_comparison(out: Console, found: Comparison) -> None:
    """What was compared with the model."""
    if found.signals:
        number = f"{counted(found.number, 'value')} deviate" if found.number != 1 else "1 value deviates"
        signals, steps = counted(len(found.signals), "signal"), counted(found.steps, "step")
        say(out, f"compared with the model: {signals} at {steps}, {number if found.number else 'none deviates'}")


def show_replays(out: Console, played: Sequence[JudgedRun | None], unplayed: Sequence[str] = ()) -> None:
    """The replays of chains: as one where nothing is to be said of any of several, else one by one; and the files
    ``unplayed`` that were to be replayed, and were not, as the run was called off."""
    if unplayed:
        say(out, f"not replayed, as the run was stopped: {listed(unplayed)}; the command replay does that")
    done = [own for own in played if own is not None]
    if len(done) < 2 or any(own.exit_code or own.remarks for own in done):
        for own in done:
            show_replay(out, own)
        return
    steps, goals = sum(own.run.length for own in done), sum(len([g for g in own.goals if g.asked]) for own in done)
    final = ", each ends in the final condition" if all(own.final for own in done) else ""
    every = f"{counted(goals, 'goal')} covered in {counted(len(done), 'chain')} of {counted(steps, 'step')}"
    say(out, f"replay on {done[0].place}: {every}{final}")


def show_replay_goals(out: Console, replay: JudgedRun) -> None:
    """What became of each goal of a run that was judged: those that are lost, then those that fail (first those that do
    not on the chain) or are covered elsewhere, last those that the chain does not cover; of many those of which there
    is something to say.

    Of inputs that claim nothing they stay in their order.
    """
    claims = any(goal.claimed is not None for goal in replay.goals)
    many = len(replay.goals) > MANY_LINES and not out.everything
    groups: list[list[JudgedGoal]] = [[] for _ in range(5)]
    for goal in sorted(replay.goals, key=lambda goal: not goal.newly_failed):
        groups[_group(goal, claims)].append(goal)
    *_, plain, besides = groups
    ordered = [goal for group in groups for goal in group] if claims else replay.goals
    aside = [*plain, *besides] if many else []
    _show_goal_rows(out, [goal for goal in ordered if goal not in aside], claims, len(groups[0]))
    if many:
        _say_left(out, plain, besides)


def _say_left(out: Console, plain: Sequence[JudgedGoal], besides: Sequence[JudgedGoal]) -> None:
    """How many goals have no row: those that are as they are to be, and those that neither run covers."""
    held = ", consequents held" if any(goal.requirement for goal in plain) else ""
    if plain:
        say(out, f"{counted(len(plain), 'goal')} covered{held}: -v tells where")
    if besides:
        say(out, f"{counted(len(besides), 'goal')} neither covered by the chain nor by this run: -v tells which")


def _show_goal_rows(out: Console, goals: Sequence[JudgedGoal], claims: bool, lost: int) -> None:
    """A table with a row for each of ``goals``, which is cut where it is long, but not within the first ``lost``."""
    titles, part, first = ("goal", "covered at step", "times", "requirement"), out.part(), out.part()
    rows = [(goal.goal, _covered_at(goal, claims), str(goal.times), _ruling(goal)) for goal in goals]
    if rows:
        part.table(titles, rows)
        first.table(titles, rows[:lost])
        out.show(part.cut(max(MANY_LINES, len(first.kept)) + 1, "-v tells all goals"))


def _group(goal: JudgedGoal, claims: bool) -> int:
    """Where a goal stands in the table: lost, wrong, open, as it is to be, and not covered, as the chain says too."""
    if goal.lost:
        return 0
    if goal.failed_at is not None or not goal.claim_holds:
        return 1
    if goal.step is None and claims:
        return 4
    return 3 if goal.step is not None and goal.requirement in ("", HELD) else 2


def _covered_at(goal: JudgedGoal, claims: bool) -> str:
    """Where a goal is covered, or why not, and what the chain says of it, if it ``claims`` to cover any."""
    place = f"{goal.verdict}{': ' if goal.detail else ''}{goal.detail}" if goal.step is None else str(goal.step)
    if goal.how == AS_PREDICTED:
        place += f", {AS_PREDICTED}"
    if goal.claimed is not None and goal.claimed != goal.step and not goal.detail:
        place += f" (the chain says {goal.claimed})"
    if goal.infeasible:
        return f"{place} (said to be unreachable)"
    if not goal.asked:
        return f"{place} (the chain was not made for it)"
    return f"{place} (the chain does not cover it)" if claims and goal.claimed is None and goal.step is None else place


def _ruling(goal: JudgedGoal) -> str:
    """What became of the requirement of a goal."""
    if goal.failed_at is not None:
        return f"{FAILED.upper()} at step {goal.failed_at}{' (new)' * goal.newly_failed}"
    return goal.requirement + (f": {goal.why}" if goal.why else "")
