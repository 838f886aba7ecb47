"""What ``generate`` found, for the terminal: headline, findings, a line per criterion, the chain, what can be done."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bmc.errors import FEW, counted
from bmc.records import dataclass
from bmc.system.transition import InputVariable, StateVariable
from chaincover.chain import (
    COVERED,
    EXCLUDED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    STATUSES,
    UNDECIDED,
    UNREACHABLE,
    Chain,
    Verdict,
)
from chaincover.formats.chain_file import violation_file
from chaincover.options import Options
from chaincover.report.chain_table import LEAST_ROWS
from chaincover.report.console import (
    FEW_LINES,
    MANY_LINES,
    MOST_LINES,
    Console,
    held,
    held_runs,
    infeasible_ones,
    minimal_for,
    proof_told,
    say,
    shortened,
    show_dead_end,
    show_next_steps,
    show_open_ends,
    told_steps,
)
from chaincover.report.console_replay import show_replays
from chaincover.report.console_requirements import requirements_found, show_open_rulings, show_rulings
from chaincover.report.findings import FINDING, Finding, show_findings, table_of
from chaincover.result import ChainResult, Requirements
from chaincover.subject import Subject
from chaincover.verdicts import infeasible
from properties.durations import timed
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from chaincover.result import SeveralChains
    from chaincover.target.judge import JudgedRun


LEAST_CHAIN = LEAST_ROWS + 4
"""Lines that the table of a chain gets, with its head, however many findings come before it."""

MORE_EFFORT = 4
"""So many times the effort or the time that was not enough is proposed next."""


@dataclass(frozen=True)
class Asked:
    """What was asked for, and what is told besides the chains.

    ``no_step``: why no run goes on after some step, if that was found; ``written``: the files that were;
    ``violated``: the replays of the runs that violate a requirement, by their goals; ``unplayed``: the files whose
    replay was left out, as the run was called off; ``stage``: where the search ended; ``stopped_by``: what ended all.
    """

    subject: Subject
    options: Options
    folder: Path
    no_step: DeadEnd | None
    written: str
    violated: Mapping[str, JudgedRun]
    unplayed: Sequence[str] = ()
    stage: str = ""
    stopped_by: str = ""


def show_result(out: Console, asked: Asked, result: ChainResult, played: JudgedRun | None) -> None:
    """A generated chain with its replay, or why there is none."""
    subject, chain = asked.subject, result.chain
    top, head, rest = out.part(), out.part(), out.part()
    show_dead_end(top, asked.no_step)
    findings = [
        *requirements_found(subject, asked.violated, result.requirements, violation_file),
        *_findings(subject, chain, result.requirements),
    ]
    told = _no_chain(subject, result) if chain is None else _headline(subject, result, chain, out.everything)
    _show_head(top, subject, told, findings)
    _show_library(head, subject, covered=chain is not None)
    _show_read(head, asked, result.stopped_by if chain is None else "")
    show_criteria(head, subject.goals, result.verdicts, [chain] if chain else [])
    show_rulings(head, result.requirements.rulings, result.verdicts)
    if out.everything:
        _show_goals(rest, subject, result)
    show_next_steps(rest, zip(subject.goals, result.verdicts, strict=True), asked.options, asked.no_step)
    show_open_rulings(rest, subject, result.requirements.rulings, asked.options)
    _show_what_is_left(rest, asked, result)
    _show_as_found(rest, [chain] if chain else [])
    _show_command(rest, asked, result, several=False)
    show_replays(rest, [played], asked.unplayed)
    show_written(rest, asked)
    room = MOST_LINES - len(top.kept) - len(head.kept) - len(rest.kept)
    show_findings(top, findings, room - (0 if chain is None else LEAST_CHAIN), "chain.json has all")
    out.show(top, head)
    if chain is not None:
        room = MOST_LINES if out.everything else MOST_LINES - len(top.kept) - len(head.kept) - len(rest.kept)
        table_of(subject, chain).show(out, room, "chain.csv")
    out.show(rest)


def show_written(out: Console, asked: Asked) -> None:
    """What the result rests on, and which files were written."""
    for text in asked.subject.model.unproved_ends:
        say(out, f"rests on this, which is not proved: {text}")
    if asked.written:
        say(out, f"written to {asked.folder}/: {asked.written}")


def _limited(out: Console, texts: Sequence[str], most: int, rest: str, style: str = "") -> None:
    """``texts``, in at most so many lines; ``rest`` says where there are more. All where everything is to be told."""
    part = out.part()
    for text in texts:
        say(part, text, "" if text.startswith(" ") else style)
    out.show(part.cut(most, rest))


def _show_library(out: Console, subject: Subject, covered: bool) -> None:
    """What is said of the program itself, where something is ``covered``, and what of the system that is approximated
    from above."""
    known = subject.library
    if known is None:
        return
    if covered:
        say(out, f"covered: what the compiled original does with {known.version}")
    what, facts = "bounds of lengths, and that no run covers a goal", counted(len(known.facts), "value")
    if known.closed:
        text = f"a run that needs more than {facts} of functions of the C library counts as one that covers every goal"
    else:
        text = f"but for {facts}, functions of the C library may have any value in the bounds of the project"
    say(out, f"{what}: {text}; assumed are the bounds {known.bounds}")


def _show_read(out: Console, asked: Asked, stopped_by: str) -> None:
    """Where a run that has no chain yet was ``stopped_by`` something, and what it had read by then."""
    if not stopped_by:
        return
    system, goals = asked.subject.system, counted(len(asked.subject.goals), "goal")
    state = f"{counted(len(system.state), 'state variable')} of {counted(sum(map(_bits, system.state)), 'bit')}"
    inputs = f"{counted(len(system.inputs), 'input')} of {counted(sum(map(_bits, system.inputs)), 'bit')}"
    say(out, f"it ended in the stage '{asked.stage}'; what was read: {goals}, {state}, {inputs}")


def _bits(variable: StateVariable | InputVariable) -> int:
    return variable.type.bits or 1


def _show_head(out: Console, subject: Subject, told: str, findings: Sequence[Finding]) -> None:
    """The headline with the number of findings."""
    number = sum(1 for finding in findings if finding.lines[0].startswith(FINDING))
    said = f"{counted(number, 'finding')}; " if number else ""
    say(out, f"{subject.system.name}: {said}{told}", "bold red" if number else "bold")


def _findings(subject: Subject, chain: Chain | None, found: Requirements, where: str = "") -> list[Finding]:
    """The consequents and assertions that fail on a chain, whose table shows them; ``where`` says which one it is."""
    if chain is None:
        return []
    known = {failure.goal for failure in found.failures}
    steps: dict[str, list[int]] = {}
    for hit in chain.failures:
        steps.setdefault(hit.goal, []).append(hit.step)
    texts: list[Finding] = []
    for name, failed in steps.items():
        begin = "on the chain" if name in known else FINDING
        lines = [f"{begin} the consequent of {name} fails{where} at {told_steps(failed)}"]
        note = next((subject.note_of(goal) for goal in subject.goals if goal.name == name), "")
        texts.append(Finding([*lines, *([f"  note: {note}"] if note and name not in known else [])]))
    return texts + [Finding([f"{FINDING} {each.name} fails{where} in step {each.step}"]) for each in chain.violations]


def show_criteria(out: Console, goals: Sequence[Goal], verdicts: Sequence[Verdict], chains: Sequence[Chain]) -> None:
    """How many goals of each criterion are covered, a line each; first the properties that were written."""
    judged: dict[str, list[Verdict]] = {}
    for goal, verdict in zip(goals, verdicts, strict=True):
        judged.setdefault(goal.generated, []).append(verdict)
    texts = []
    for criterion in sorted(judged, key=bool):
        own = judged[criterion]
        count = Counter(verdict.status for verdict in own)
        reachable = " reachable" if count[UNREACHABLE] else ""
        parts = [f"{count[COVERED]} of {len(own) - count[UNREACHABLE]}{reachable} covered"]
        parts += [f"{count[status]} {status}" for status in STATUSES if status != COVERED and count[status]]
        parts += [] if criterion else _consequents(own, chains)
        texts.append(f"{criterion.removesuffix('()') or 'properties'}: {', '.join(parts)}")
    _limited(out, texts, FEW_LINES, "-v tells all criteria")


def _consequents(verdicts: Sequence[Verdict], chains: Sequence[Chain]) -> list[str]:
    """How many consequents held on the chains, and how many failed."""
    names = {verdict.goal for verdict in verdicts}
    judged = {hit.goal for chain in chains for hit in chain.hits if hit.consequent_held is not None} & names
    failed = {hit.goal for chain in chains for hit in chain.failures} & names
    told = [f"{counted(len(judged - failed), 'consequent')} held"] if judged - failed else []
    return told + ([f"{len(failed)} FAILED"] if failed else [])


def show_several(out: Console, asked: Asked, found: SeveralChains, played: Sequence[JudgedRun | None]) -> None:
    """Several chains: each with its steps where there is room for all, else a line each."""
    subject = asked.subject
    parts = [part_of(subject, result) for result in found.results]
    chains = [result.chain for result in found.results if result.chain is not None]
    top, head, rest = out.part(), out.part(), out.part()
    show_dead_end(top, asked.no_step)
    findings = requirements_found(subject, asked.violated, found.requirements, violation_file)
    for number, (part, chain) in enumerate(zip(parts, chains, strict=True), 1):
        findings += _findings(part, chain, found.requirements, f" in chain {number}")
    _show_head(top, subject, _several_headline(subject, found), findings)
    _show_read(head, asked, "" if chains else found.stopped_by)
    show_criteria(head, subject.goals, found.verdicts, chains)
    show_rulings(head, found.requirements.rulings, found.verdicts)
    conflicts = [f"conflict: {', '.join(conflict.goals)}: {conflict.reason}" for conflict in found.conflicts]
    _limited(rest, conflicts, 3, "chains.json has all conflicts")
    judged = zip(subject.goals, found.verdicts, strict=True)
    show_next_steps(rest, judged, asked.options, asked.no_step)
    show_open_rulings(rest, subject, found.requirements.rulings, asked.options)
    show_open_ends(rest, _open_ends(found), asked.stopped_by, asked.options.effort if found.used_up else None)
    _show_as_found(rest, chains)
    _show_command(rest, asked, found, several=True)
    show_replays(rest, played, asked.unplayed)
    show_written(rest, asked)
    tables = out.part()
    for number, (part, chain, result) in enumerate(zip(parts, chains, found.results, strict=True), 1):
        say(tables, _chain_line(subject, number, chain, result), "bold")
        table_of(part, chain).show(tables, 0, f"chain-{number}.csv")
    room = MOST_LINES - len(top.kept) - len(head.kept) - len(rest.kept)
    show_findings(top, findings, room - min(len(tables.kept), LEAST_CHAIN), "chains.json has all")
    out.show(top, head)
    if out.everything or len(top.kept) + len(head.kept) + len(tables.kept) + len(rest.kept) <= MOST_LINES:
        out.show(tables)
    else:
        both = enumerate(zip(chains, found.results, strict=True), 1)
        texts = [_chain_line(subject, number, chain, result) for number, (chain, result) in both]
        _limited(out, [shortened(text, out.width) for text in texts], MANY_LINES, f"{asked.folder}/ has a file of each")
    out.show(rest)


def part_of(subject: Subject, result: ChainResult) -> Subject:
    """The controller with the goals of one chain."""
    names = {verdict.goal for verdict in result.verdicts}
    return replace(subject, goals=tuple(goal for goal in subject.goals if goal.name in names))


def _chain_line(subject: Subject, number: int, chain: Chain, result: ChainResult) -> str:
    """One of several chains: its length, whether it is minimal, and its goals in the order of their steps."""
    proof = proof_told(result.bounds)
    goals = " ".join(hit.goal for hit in sorted(chain.hits, key=lambda hit: hit.step))
    steps = timed(chain.length, subject.settings.period)
    return f"chain {number}: {steps} ({proof}), {counted(len(chain.hits), 'goal')}: {goals}"


def _several_headline(subject: Subject, found: SeveralChains) -> str:
    if found.stopped_by and not found.results:
        return f"no chain yet that covers one of {counted(len(subject.goals), 'goal')}"
    covered = sum(1 for v in found.verdicts if v.status == COVERED)
    chains = counted(len(found.results), "chain")
    minimal = ""
    if found.number_minimal_within_k and len(found.results) > 1:
        minimal = ", the minimal number" if found.number_minimal else ", the minimal number within the K reached"
    goals = f"{covered} of {len(subject.goals)} goals{infeasible_ones(subject.goals, found.verdicts)}"
    proof = _proof_of_several(found, held_runs(subject.hold))
    time = timed(found.length, subject.settings.period)
    steps = f"{time} in all ({proof})" if found.results else "0 steps in all"
    return f"{chains}{minimal}, {steps}, cover{'s' * (len(found.results) == 1)} {goals}"


def _open_ends(found: SeveralChains) -> list[str]:
    """What the search for several chains has left open."""
    undecided = sum(1 for verdict in found.verdicts if verdict.status == UNDECIDED)
    open_ends = [counted(undecided, "undecided goal")] if undecided else []
    through = " for the goals covered so far" if undecided else ""
    if len(found.results) > 1 and not found.number_minimal_within_k:
        open_ends.append(f"whether fewer chains are enough{through}")
    if found.results and not found.bounds.minimal:
        open_ends.append(f"whether fewer steps in all are enough{through}")
    return open_ends


def _proof_of_several(found: SeveralChains, held: str) -> str:
    if found.bounds.minimal:
        minimal = minimal_for(found.verdicts)
        number = " and this number of chains" if "for" in minimal else " for this number of chains"
        return f"{minimal}{number if len(found.results) > 1 else ''}{held}, proved"
    return f"proved: none below {found.bounds.lower}{held}" if found.bounds.lower else "no lower bound yet"


def _show_what_is_left(out: Console, asked: Asked, result: ChainResult) -> None:
    """What ended the run before everything was settled, and what more of it might settle."""
    bounds, length = result.bounds, result.bounds.length or 0
    undecided = sum(1 for verdict in result.verdicts if verdict.status == UNDECIDED)
    open_ends = []
    if undecided:
        open_ends.append(counted(undecided, "undecided goal"))
    if result.chain is not None and not bounds.minimal:
        open_ends.append(_shorter(bounds.lower, length) + (" through the goals covered so far" if undecided else ""))
    show_open_ends(out, open_ends, asked.stopped_by, result.options.effort if result.used_up else None)
    for told in result.answered.gave_up:
        say(out, f"gave up for want of memory: {told}")


def _show_as_found(out: Console, chains: Sequence[Chain]) -> None:
    """Which inputs were not made simpler."""
    for number, chain in enumerate(chains, 1):
        if chain.as_found is not None:
            steps = f"{chain.as_found} to {chain.length - 1}" + (f" of chain {number}" if len(chains) > 1 else "")
            told = f"the inputs of steps {steps} are as the search found them"
            say(out, f"{told}: simpler ones would have taken too long")


def _show_command(out: Console, asked: Asked, found: ChainResult | SeveralChains, several: bool) -> None:
    """The one command to try next, where goals are not covered."""
    replaced, more = _next_options(asked, found, several)
    if replaced or more:
        say(out, f"try: {shlex.join(['chaincover', *_typed_without(replaced), *more])}", "bold")


def _typed_without(options: Sequence[str]) -> list[str]:
    """What was typed, without these options and their values."""
    words, value = [], False
    for word in sys.argv[1:]:
        name, equals, _ = word.partition("=")
        drop = value or name in options
        value = not value and name in options and not equals and name != "--most"
        if not drop:
            words.append(word)
    return words


Change = tuple[tuple[str, ...], tuple[str, ...]]
"""Options to take from a command, and words to add to it."""


def _next_options(asked: Asked, found: ChainResult | SeveralChains, several: bool) -> Change:
    """What to change in the command; nothing where no command helps."""
    goals, options = asked.subject.goals, asked.options
    aside = infeasible(goals, found.verdicts)
    missed = [verdict for verdict in found.verdicts if verdict.status != COVERED and verdict.goal not in aside]
    if asked.no_step is not None or not missed:
        return (), ()
    status = Counter(verdict.status for verdict in missed)
    return (
        _longer(options, status)
        or _another_question(found, status, several)
        or _more_effort(options, found, status)
        or _without_unreachable(missed, len(goals))
    )


def _longer(options: Options, status: Counter[str]) -> Change | None:
    """Longer chains or sub-paths, where a bound that the user chose excludes a goal."""
    if options.max_length is not None and (status[NOT_WITHIN_BOUND] or status[EXCLUDED]):
        return ("--max-length",), ()
    if status[NOT_WITHIN_BOUND] and options.bound is not None:
        return ("-K", "--bound"), ("-K", str(max(1, options.bound) * MORE_EFFORT))
    return None


def _another_question(found: ChainResult | SeveralChains, status: Counter[str], several: bool) -> Change | None:
    """Several chains, or chains that end anywhere, where no one chain of the kind in question covers the goals."""
    limited = bool(found.stopped_by or found.used_up)
    no_chain = isinstance(found, ChainResult) and bool(found.no_chain)
    alone = bool(found.tests) and not limited and not status[NO_WAY_TO_FINAL]
    if (status[EXCLUDED] or (no_chain and status[UNDECIDED]) or alone) and not several:
        return ("--most",), ("--several",)
    if status[NO_WAY_TO_FINAL]:
        return ("--final",), ("--final", "none")
    return None


def _more_effort(options: Options, found: ChainResult | SeveralChains, status: Counter[str]) -> Change | None:
    """More time or effort, where that limit left a goal undecided."""
    if not status[UNDECIDED]:
        return None
    if found.stopped_by and options.time_limit:
        return ("--time-limit",), ("--time-limit", f"{options.time_limit * MORE_EFFORT:g}")
    if found.used_up and options.effort:
        layers = found.answered.layers if isinstance(found, ChainResult) else None
        enough = layers.effort if layers is not None and layers.possible else options.effort * MORE_EFFORT
        return ("--effort",), ("--effort", f"{enough:g}")
    return None


def _without_unreachable(missed: Sequence[Verdict], count: int) -> Change:
    """The goals without those that cannot be reached, where they are few of ``count``."""
    unreachable = [verdict.goal for verdict in missed if verdict.status == UNREACHABLE]
    if len(unreachable) > min(FEW, count - 1):
        return (), ()
    return (), tuple(word for goal in unreachable for word in ("--exclude", goal))


def _shorter(lower: int, length: int) -> str:
    """The question that a bound below the length leaves open."""
    if lower == length - 1:
        return f"whether a chain of {counted(lower, 'step')} exists"
    if not lower:
        return f"whether a chain of fewer than {counted(length, 'step')} exists (no lower bound yet)"
    return f"whether a chain of {lower} to {length - 1} steps exists"


def _no_chain(subject: Subject, result: ChainResult) -> str:
    """That no chain covers the goals, where it is proved, else that none was found."""
    count = len(subject.goals)
    if count and all(verdict.proved for verdict in result.verdicts):
        return f"no chain covers any of the {count} goals" if count > 1 else "no chain covers its goal"
    covers = f"covers all {count} goals" if count else "reaches the final condition"
    most, lower = result.options.max_length, result.bounds.lower
    if most is not None and lower > most:
        return f"no chain of at most {counted(most, 'step')} {covers}: none is shorter than {lower}, proved"
    found = "exists" if result.no_chain else "yet" if result.stopped_by else "was found"
    return f"no chain {found} that {covers}{result.no_chain and ': '}{result.no_chain}"


def _headline(subject: Subject, result: ChainResult, chain: Chain, everything: bool) -> str:
    missing = sum(1 for v in result.verdicts if v.status != COVERED)
    count = len(subject.goals)
    goals = f"{len(chain.hits)} of {count} goals" if missing else "its goal" if count == 1 else f"all {count} goals"
    goals += infeasible_ones(subject.goals, result.verdicts)
    end = f" and ends in {_final_name(subject)}" if subject.final_text else ""
    steps = timed(chain.length, subject.settings.period) + ("," if subject.settings.period else "")
    proof = _proof(result, subject.hold)
    bound = f"; K = {chain.k_met}" if everything or result.options.bound is not None else ""
    return f"one chain of {steps} covers {goals}{end} ({proof}{bound})"


def _final_name(subject: Subject) -> str:
    return "a state like init" if subject.final_text == "init" else f"'{subject.final_text}'"


def _proof(result: ChainResult, hold: int) -> str:
    bounds, held = result.bounds, held_runs(hold)
    shorter = f"proved: none shorter than {bounds.lower}{held}" if bounds.lower else "no lower bound yet"
    return f"{minimal_for(result.verdicts)}{held}, proved" if bounds.minimal else shorter


def _show_goals(out: Console, subject: Subject, result: ChainResult) -> None:
    hits = {hit.goal: hit for hit in result.chain.hits} if result.chain else {}
    rows = []
    for goal, verdict in zip(subject.goals, result.verdicts, strict=True):
        hit = hits.get(goal.name)
        row = (
            goal.name,
            verdict.status + (f": {verdict.detail}" if verdict.detail and not goal.generated else ""),
            "" if verdict.step is None else str(verdict.step),
            held(hit.consequent_held) if hit else "",
            " ".join(goal.text.split()) + (f"  [{goal.requirement}]" if goal.requirement else ""),
        )
        rows.append(row)
    out.table(("goal", "verdict", "step", "consequent", "property"), rows)
