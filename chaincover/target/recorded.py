"""The judge of recordings, which may hold a part of the variables only, and the readers of their files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from bmc.errors import InputRefused, Location, counted
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.formats.chain_file import Stimulus
from chaincover.subject import Subject
from chaincover.target.comparison import Observed
from chaincover.target.judge import BEFORE_FIRST, Claims, JudgedGoal, JudgedRun, Prediction, judge_goals
from chaincover.target.observation import PartialSight
from chaincover.target.original import beside_chain, chain_run, ends_within, refused_steps
from chaincover.target.recording import Recording, compared, differing_inputs, like_start_row, observed
from chaincover.target.table import Layout
from properties.goal import Goal

READERS = {
    ".csv": "chaincover.target.table:read_table",
    ".vcd": "chaincover.target.vcd:read_vcd",
    ".jsonl": "chaincover.target.log:read_log",
}
"""Where the reader of each format is, ``module:function``, by the ending of its files."""


def read_recording(path: str, layout: Layout) -> Recording:
    """The recording in a file. InputRefused, with its place, if it cannot be read."""
    module, _, function = READERS.get(Path(path).suffix.lower(), "").partition(":")
    if not module:
        raise InputRefused("this is no recording", Location(path), f"its name must end in {', '.join(READERS)}")
    found = getattr(import_module(module), function)(path, layout)
    assert isinstance(found, Recording)
    return found


def _known_until(
    steps: int, seen: Sequence[Mapping[str, int]], inputs: Sequence[Mapping[str, int]], names: Sequence[str]
) -> bool:
    """Whether all ``inputs`` of the first ``steps`` steps, called so, were seen as they are."""
    pairs = zip(seen[:steps], inputs, strict=False)
    return all(own.items() >= {name: raw[name] for name in names}.items() for own, raw in pairs)


NOT_COMPARED = "neither state nor outputs were recorded: nothing is compared, and no goal is covered as predicted"
"""What is told of a recording of inputs alone."""


def judge_recording(
    subject: Subject, stimulus: Stimulus, recording: Recording, infeasible: Collection[str] = (), shift: int = 0
) -> JudgedRun:
    """The judgement of a recording of a run under the inputs of ``stimulus``; it may begin up to ``shift`` steps late.

    Where the recorded inputs are others, what follows is compared with the model under those, not with the chain.
    InputRefused where two shifts fit the inputs equally well.
    """
    system, simulator = subject.system, Simulator(subject.system)
    recording = _aligned(recording, stimulus.inputs, system, shift)
    differing = [*differing_inputs(recording, stimulus.inputs, system)]
    inputs = _applied(recording, stimulus.inputs, system)
    expected = simulator.run(simulator.initial(stimulus.initial), inputs)
    comparison = compared(recording, expected, system, _served(subject, stimulus))
    seen = observed(recording, system)
    known = _known_until(comparison.agrees, seen.inputs, stimulus.inputs, [var.name for var in system.inputs])
    prediction = Prediction(expected, comparison.agrees) if known and not differing else None
    sight = PartialSight(system, seen)
    claims = Claims({}, stimulus.asked, frozenset(infeasible))
    judged = tuple(
        _as_claimed(each, goal, stimulus.claimed.get(each.goal), recording.length)
        for goal, each in zip(subject.goals, judge_goals(system, subject.goals, sight, claims, prediction), strict=True)
    )
    chain = None if differing else chain_run(system, stimulus, expected)
    judged = tuple(beside_chain(subject, judged, chain))
    final, cut_short = None, recording.length < len(stimulus.inputs)
    if subject.final_text and stimulus.to_final and not cut_short:
        final = _final(subject, sight, prediction)
    remarks = [*recording.notes, *_on_start(recording, judged, expected.states[0], system)]
    remarks += [NOT_COMPARED] if not comparison.signals else []
    if cut_short:
        ends = f"the recording ends after {counted(recording.length, 'step')}"
        remarks.append(f"{ends}, the chain has {len(stimulus.inputs)}")
    agrees = bool(comparison.signals) and comparison.first is None
    if agrees and chain is not None and chain.states == expected.states:
        remarks += _failing_on_chain(judged)
    return JudgedRun(
        recording.source,
        expected,
        judged,
        final,
        (),
        tuple(_not_allowed(subject, expected, stimulus)),
        (),
        tuple(remarks),
        comparison=comparison,
        other_inputs=tuple(differing),
        cut_short=cut_short,
        steps=recording.length,
        observed=Observed(recording.inputs, recording.states, Run(expected.states, stimulus.inputs), recording.signals),
    )


def _on_start(
    recording: Recording, judged: Sequence[JudgedGoal], state: Valuation, system: TransitionSystem
) -> Iterator[str]:
    """How a row with the values before the first step looks, where something is open for the table has none; the
    ``state`` is that of the model, which says nothing of what was not seen."""
    row = recording.start_row
    if row is None or not any(BEFORE_FIRST in each.detail + each.why for each in judged):
        return
    column = " under a further first title 'step', with 0, 1, 2, ... below it" if row.added else ""
    told = like_start_row(row, state, system, recording.signals)
    yield f"a row 'init' looks as follows{column}; write what the bench read in place of the model's values: {told}"


def _failing_on_chain(judged: Sequence[JudgedGoal]) -> Iterator[str]:
    """What is said of requirements that fail on the chain, where nothing that was recorded deviates from that run, and
    too little was recorded to see them fail."""
    for goal in judged:
        if goal.failed_on_chain is not None and goal.failed_at is None:
            failure = f"{goal.goal} fails on the chain (step {goal.failed_on_chain})"
            yield f"{failure}; the recording agrees with that run as far as it was seen"


def _served(subject: Subject, stimulus: Stimulus) -> Callable[[int], Sequence[str]]:
    """Which goals the chain has under way in a step, or else the one that it covers next."""
    goals = {goal.name: goal for goal in subject.goals}
    claimed = sorted((step, name) for name, step in stimulus.claimed.items() if name in goals)

    def serves(step: int) -> Sequence[str]:
        under_way = [name for begin, name in claimed if begin <= step < goals[name].over(begin)]
        return under_way or [name for begin, name in claimed if begin > step][:1]

    return serves


def _not_allowed(subject: Subject, run: Run, stimulus: Stimulus) -> Iterator[str]:
    """What of a run under the recorded inputs is not allowed: of such steps the model says nothing. A recording may end
    within a held step."""
    simulator = Simulator(subject.system)
    for text in refused_steps(subject, simulator, run, replace(stimulus, inputs=run.inputs, lines=())):
        if text != ends_within(subject.hold):
            yield text


def _final(subject: Subject, sight: PartialSight, prediction: Prediction | None) -> bool | None:
    """Whether the run ends in the final condition, as seen or as predicted; None where that is not known."""
    if subject.final is None:
        return None
    final = sight.value(at(subject.final, 0), sight.length)
    if final is None and prediction is not None and prediction.agrees >= sight.length:
        return bool(compile_formulas([subject.final])(prediction.run.states[-1])[0])
    return final


def _as_claimed(judged: JudgedGoal, goal: Goal, claimed: int | None, steps: int) -> JudgedGoal:
    """What became of ``goal``, which the chain covers at the step ``claimed``, in a recording of so many ``steps``."""
    ends = claimed is not None and goal.over(claimed) > steps and judged.step is None
    detail = f"the recording ends before step {claimed}, where the chain covers it" if ends else judged.detail
    return replace(judged, claimed=claimed, detail=detail)


def _aligned(recording: Recording, inputs: Sequence[Valuation], system: TransitionSystem, shift: int) -> Recording:
    """The recording from the step on from which its inputs fit those of the chain best: a late output is no reason."""
    if not shift:
        return recording
    later = [recording, *(_from_reset(recording, by) for by in range(1, shift + 1))]
    later = [each for each in later if each.length]
    wrong = [sum(1 for _ in differing_inputs(each, inputs, system)) for each in later]
    best = [by for by, number in enumerate(wrong) if number == min(wrong)]
    if len(best) > 1:
        text = f"the recorded inputs fit those of the chain equally well {best[0]} and {best[1]} steps late"
        hint = "say where it begins: --start ROW, and leave out target.shift"
        raise InputRefused(text, Location(recording.source), hint)
    if not best[0]:
        return recording
    note = f"the recording begins {counted(best[0], 'step')} before the reset, by its inputs"
    return replace(later[best[0]], notes=(*recording.notes, note))


def _from_reset(recording: Recording, by: int) -> Recording:
    """The recording from a reset after so many steps on: what was there before is not the start state."""
    return replace(recording, inputs=recording.inputs[by:], states=({}, *recording.states[by + 1 :]), start_row=None)


def _applied(recording: Recording, inputs: Sequence[Valuation], system: TransitionSystem) -> list[Valuation]:
    """The inputs of each recorded step: as recorded, where that is certain or the chain has another value, else as in
    the chain. They end where neither tells an input.

    InputRefused where that is the first step.
    """
    seen, found = observed(recording, system), list[Valuation]()
    for step, recorded in enumerate(seen.inputs):
        values = {**(inputs[step] if step < len(inputs) else {}), **recorded}
        for name, ranges in seen.sets.get(step, {}).items():
            if name in recorded or name not in {var.name for var in system.inputs}:
                continue
            if not any(low <= values.get(name, -1) <= high for low, high in ranges):
                values[name] = ranges[0][0]
        missing = [var.name for var in system.inputs if var.name not in values]
        if missing and not found:
            text = f"neither the chain nor the recording has a value of the input '{missing[0]}'"
            raise InputRefused(text, Location(recording.source))
        if missing:
            break
        found.append(values)
    return found
