"""Replaying inputs on the compiled original (or, without a compiler, on the model) and judging goals on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from bmc.errors import NAMED, NoOriginal
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.value_sets import Ranges
from bmc.models.model import Model
from bmc.system.constraints import Rule
from bmc.system.names import DEFINED
from bmc.system.original import Original
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation, ValueType, symbols_of
from chaincover.chain import Failure
from chaincover.formats.chain_file import Stimulus
from chaincover.project.values import show_ranges, show_value
from chaincover.subject import Subject
from chaincover.target.comparison import Difference, Observed, Value, differences
from chaincover.target.judge import Claims, JudgedGoal, JudgedRun, failing, judge_goals
from chaincover.target.sight import WholeRun
from chaincover.verdicts import OPEN_REQUIREMENTS

AS_THE_CHAIN_SAYS = "as the chain says"
"""Where the values are from that the file of a chain has after its steps."""


def replay(
    subject: Subject,
    stimulus: Stimulus,
    infeasible: Collection[str] = (),
    built: Original | None = None,
    kept: bool = False,
) -> JudgedRun:
    """Run ``stimulus`` on the compiled original and judge every goal of ``subject`` on what it did.

    Goals said to be ``infeasible`` need not be covered, and must not. ``built`` is the original where it is compiled
    already; ``kept``: one that an earlier run has built may serve. OriginalCrashed or OriginalTimeout if the program
    does not survive the run.
    """
    system = subject.system
    simulator = Simulator(system)
    expected = simulator.run(simulator.initial(stimulus.initial), stimulus.inputs)
    try:
        with subject.model.original(kept) if built is None else nullcontext(built) as original:
            run, different = _on_original(system, original, stimulus, expected)
            on, why, remarks = original.name, "", (*_unreadable(original.unreadable), *original.notes)
    except NoOriginal as error:
        run, different, on, why = expected, [], "model", error.message
        remarks = (f"replayed on the model: {why}",)
    where = "in the model" if on == "model" else "in the compiled original"
    known = {(each.variable, each.step, each.expected) for each in different}
    from_file = differences(system, _against_file(stimulus, run), where, AS_THE_CHAIN_SAYS)
    different += [each for each in from_file if (each.variable, each.step, each.expected) not in known]
    refused = tuple(refused_steps(subject, simulator, expected, stimulus))
    violations = tuple(
        f"{condition.where}: assertion fails in step {step}" for step, condition in simulator.all_violated(run)
    )
    claims = Claims(stimulus.claimed, stimulus.asked, frozenset(infeasible))
    judged = tuple(judge_goals(system, subject.goals, WholeRun(system, run), claims))
    if built is not None or stimulus.states:
        judged = tuple(beside_chain(subject, judged, chain_run(system, stimulus, expected)))
    disagreements = [each.told for each in different]
    disagreements += [
        f"{g.goal} is covered at step {g.step}, though it is said to be unreachable"
        for g in judged
        if g.infeasible and g.step is not None
    ]
    return JudgedRun(
        on,
        run,
        judged,
        _final(subject, stimulus, run),
        tuple(disagreements),
        refused,
        violations,
        remarks,
        differences=tuple(different),
        why=why,
        original=subject.model.original_is,
        steps=run.length,
        observed=_observed(run, expected, stimulus) if different else None,
    )


def _final(subject: Subject, stimulus: Stimulus, run: Run) -> bool | None:
    """Whether ``run`` ends in the final condition; None where it need not."""
    if subject.final is None or not subject.final_text or not stimulus.to_final:
        return None
    return bool(compile_formulas([subject.final])(run.states[-1])[0])


def _observed(run: Run, expected: Run, stimulus: Stimulus) -> Observed:
    """The ``run`` beside the values that the file of the chain has, and beside those of the model where it has none."""
    return Observed(run.inputs, run.states, Run(_claimed(stimulus, expected), stimulus.inputs))


def _claimed(stimulus: Stimulus, expected: Run) -> tuple[Valuation, ...]:
    """The states of ``expected``, the run of the model, with the values that the file of the chain has of them."""
    claimed = [{}, *stimulus.states, *({} for _ in expected.states[len(stimulus.states) + 1 :])]
    return tuple({**model, **own} for model, own in zip(expected.states, claimed, strict=False))


def chain_run(system: TransitionSystem, stimulus: Stimulus, expected: Run) -> Run | None:
    """The run of the chain, as far as ``expected`` goes, the run of the model: by the values in the file of the chain
    where that has any. None where it has none of some variable, which the program did not have then."""
    if stimulus.states and not {var.name for var in system.visible_state} <= stimulus.states[0].keys():
        return None
    return Run(remembered(system, _claimed(stimulus, expected), expected), expected.inputs)


def beside_chain(subject: Subject, judged: Sequence[JudgedGoal], chain: Run | None) -> Iterator[JudgedGoal]:
    """What was ``judged`` of each goal of ``subject``, with whether and where its requirement fails on the ``chain``
    too, where it fails on this run or is open there."""
    for own, goal in zip(judged, subject.goals, strict=True):
        if chain is None or not (own.failed_at is not None or own.requirement in OPEN_REQUIREMENTS):
            yield own
            continue
        before = min(failing(subject.system, goal, chain), default=None)
        new = before is None and own.failed_at is not None
        yield replace(own, failed_on_chain=before, newly_failed=new)


@contextmanager
def built_once(model: Model, kept: bool) -> Iterator[Callable[[], Original | None]]:
    """A function that gives the original of ``model``, built when it is first called; None where there is none.

    ``kept``: one that an earlier run has built may serve. The function raises InputRefused where the original cannot be
    built.
    """
    with ExitStack() as stack:

        @cache
        def original() -> Original | None:
            with suppress(NoOriginal):
                return stack.enter_context(model.original(kept))
            return None

        yield original


def replay_each(
    subject: Subject, failures: Sequence[Failure], original: Callable[[], Original | None]
) -> Iterator[JudgedRun]:
    """The replay of each run that violates a property, on the one build that ``original`` gives.

    That the property does not fail there is a disagreement.
    """
    for failure in failures:
        chosen = {name: failure.run.states[0][name] for name in subject.system.chosen}
        stimulus = Stimulus(f"violation of {failure.goal}", failure.run.inputs, chosen, {}, (), None, False)
        yield replay_violation(subject, stimulus, failure.goal, failure.step, original())


def replay_violation(subject: Subject, stimulus: Stimulus, goal: str, step: int, built: Original | None) -> JudgedRun:
    """The replay of a run that is said to violate the property of ``goal`` from ``step`` on; it may end within a held
    step. That the property does not fail there is a disagreement."""
    part = replace(subject, goals=tuple(each for each in subject.goals if each.name == goal))
    played = replay(part, stimulus, built=built)
    fails = step in failing(subject.system, part.goals[0], played.run)
    refused = tuple(text for text in played.refused if text != ends_within(subject.hold))
    differs = () if fails else (f"the property of {goal} does not fail at step {step}",)
    return replace(played, refused=refused, disagreements=(*played.disagreements, *differs))


def _on_original(
    system: TransitionSystem, original: Original, stimulus: Stimulus, expected: Run
) -> tuple[Run, list[Difference]]:
    states = original.run(stimulus.inputs, Simulator(system).chosen(stimulus.initial) or None)
    merged = tuple(_merged(model, _state_part(system, own)) for model, own in zip(expected.states, states, strict=True))
    merged = remembered(system, merged, expected)
    found = (
        (var.name, step, model[var.name], own[var.name])
        for step, (model, own) in enumerate(zip(expected.states, merged, strict=True))
        if model is not own
        for var in system.visible_state
        if model.get(f"{var.name}{DEFINED}", 1) and model[var.name] != own[var.name]
    )
    return Run(merged, stimulus.inputs), differences(system, found, "in the compiled original", "in the model")


def _merged(model: Valuation, own: Valuation) -> Valuation:
    """The state of the model with the values of the original, where these differ; else the same object."""
    return model if all(model[name] == value for name, value in own.items()) else {**model, **own}


def remembered(system: TransitionSystem, states: tuple[Valuation, ...], expected: Run) -> tuple[Valuation, ...]:
    """``states`` under the inputs of ``expected``, the run of the model, with what the tool remembers of them.

    Of other values than those of the model it remembers other things.
    """
    memory = [v for v in system.state if v.role == "internal" and not v.name.endswith(DEFINED)]
    first = next((step for step, own in enumerate(states) if own is not expected.states[step]), len(states))
    if not memory or first == len(states):
        return states
    compute, found = compile_formulas([var.next for var in memory]), [*states[: first + 1]]
    for step in range(first, len(states) - 1):
        after = compute({**found[step], **expected.inputs[step]})
        found.append({**states[step + 1], **dict(zip((var.name for var in memory), after, strict=True))})
    return tuple(found)


def _state_part(system: TransitionSystem, values: Valuation) -> Valuation:
    return {var.name: values[var.name] for var in system.state if var.name in values}


def _unreadable(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"'{name}' cannot be read in the compiled original; the model's value is used" for name in names)


def _against_file(stimulus: Stimulus, run: Run) -> Iterator[Value]:
    """Where ``run`` differs from the states that the file of the chain has."""
    for step, claimed in enumerate(stimulus.states, 1):
        for name, value in claimed.items():
            if run.states[step][name] != value:
                yield name, step, value, run.states[step][name]


def ends_within(hold: int) -> str:
    """What is said of a run that ends while its inputs are still held for ``hold`` steps."""
    return f"the run ends within a held step of {hold} steps"


def refused_steps(subject: Subject, simulator: Simulator, run: Run, stimulus: Stimulus) -> list[str]:
    """What of ``run`` is not allowed: values that a variable may not have, and what a step breaks by its name."""
    system = simulator.system
    starts = [
        f"'{v.name}' may not start with {show_value(v.type, run.states[0][v.name])}{_allowed(v.starts, v.type)}"
        for v in system.state
        if not compile_formulas([v.start])(run.states[0])[0]
    ]
    ended = [ends_within(subject.hold)] if run.length % subject.hold else []
    told, texts = _broken(subject.rules, run, system), []
    for step, inputs in enumerate(run.inputs):
        outside, broken = "; ".join(_outside(system, inputs)), told.get(step, "")
        if not (outside or broken or simulator.allowed(run.states[step], inputs)):
            changed = step % subject.hold and inputs != run.inputs[step - 1]
            held = f"changes the inputs within a held step of {subject.hold} steps"
            broken = held if changed else _cause(subject, {**run.states[step], **inputs})
        if outside or broken:
            line = f" (line {stimulus.lines[step]} of {Path(stimulus.source).name})" if stimulus.lines else ""
            said = f": {'; it '.join(filter(None, (outside, broken)))}" if outside else f" {broken}"
            texts.append(f"step {step}{said}{line}")
    return [*starts, *ended, *texts]


def _outside(system: TransitionSystem, inputs: Valuation) -> Iterator[str]:
    """The inputs whose value is none of those that they may have, whatever else is."""
    for var in system.inputs:
        value = inputs[var.name] if var.type.floating else var.type.value(inputs[var.name])
        if var.values and not any(low <= value <= high for low, high in var.values):
            yield f"{var.name} is {show_value(var.type, inputs[var.name])}{_allowed(var.values, var.type)}"


def _allowed(ranges: Ranges, vtype: ValueType) -> str:
    """The values of ``ranges``, as the end of a sentence: labels where each has one; '' for none."""
    labels = {number: label for label, number in vtype.labels}
    few = sum(high - low + 1 for low, high in ranges) <= len(labels)
    values = [value for low, high in ranges for value in range(low, high + 1)] if few else []
    if values and all(value in labels for value in values):
        return f", allowed {', '.join(labels[value] for value in values)}"
    more = ", ..." if len(ranges) > NAMED else ""
    return f", allowed {show_ranges(ranges[:NAMED], vtype)}{more}" if ranges else ""


def _cause(subject: Subject, values: Valuation) -> str:
    """What a step of these ``values`` breaks, each of which is allowed by itself, with its place."""
    system = subject.system
    for stated in subject.constraints:
        if compile_formulas([stated.formula])(values)[0]:
            continue
        if stated.where is not None:
            return f"breaks the input constraint {stated.name} ({stated.where})"
        read = {symbol.symbol_name() for symbol in symbols_of(stated.formula)}
        given = [var for var in system.inputs if var.name in read]
        on = [var for var in given if values[var.name]] or given
        shown = ", ".join(f"{var.name} {show_value(var.type, values[var.name])}" for var in on)
        return f"breaks the input constraint {stated.name} ({shown})"
    for assumed in system.assumptions:
        if not compile_formulas([assumed.formula])(values)[0]:
            return f"breaks the assumption in the code at {assumed.where}"
    for place in system.undefined_behaviour:
        if compile_formulas([place.formula])(values)[0]:
            return f"relies on undefined behaviour: {place.name} at {place.where}"
    return "breaks the input constraint, an assumption in the code or relies on undefined behaviour"


def _broken(rules: Sequence[Rule], run: Run, system: TransitionSystem) -> dict[int, str]:
    """The steps of ``run`` that break ``rules``, by what these say alone, and what is told of each."""
    found: dict[int, list[str]] = {}
    for rule in rules:
        for step in rule.broken(run):
            values = rule.shown(run, step, lambda name, raw: show_value(system.variable(name).type, raw))
            found.setdefault(step, []).append(f"'{rule.text}' ({values})")
    return {step: f"breaks the constraint {' and '.join(texts)}" for step, texts in found.items()}
