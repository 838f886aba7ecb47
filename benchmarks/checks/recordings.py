"""Drawn recordings of bundled models, judged: ``python -m benchmarks recordings``.

A judge that sees everything says what the verdict on a run is. What is judged is a file of a part of the variables,
with noise within tolerance and jitter: its verdict on a requirement is that one, or open; a value that was changed
beyond tolerance is the first deviation, at its step; a target that does not work has no goal as seen that it did not
meet, and a prediction says nothing beyond its first deviation.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import click

from bmc.system.simulation import Simulator
from bmc.system.transition import Run, Valuation
from chaincover import verdicts
from chaincover.chain import COVERED
from chaincover.exporters.columns import Column, Value
from chaincover.exporters.waveform import waveform
from chaincover.formats.chain_file import Stimulus
from chaincover.project.bench import Signal
from chaincover.project.load import Request, load_request
from chaincover.project.values import show_value
from chaincover.subject import Subject
from chaincover.target.judge import Claims, JudgedGoal, JudgedRun, judge_goals
from chaincover.target.recorded import judge_recording, read_recording
from chaincover.target.sight import WholeRun
from chaincover.target.table import Layout

MODELS = Path(__file__).resolve().parents[1] / "models"
NAMES = ("window", "oven", "latch", "cruise", "crossing", "elevator", "heater", "turnsignal")
STEPS = (5, 40)
"""The steps of a drawn run, at least and at most: twice as many take twice the time."""
OPEN = verdicts.OPEN_REQUIREMENTS


@cache
def subject_of(name: str) -> Subject:
    """A bundled model."""
    return load_request(Request(str(MODELS / name)))


@dataclass(frozen=True)
class Drawn:
    """A run of a model, which is the chain, what a target did instead, and which variables were recorded, how, and in a
    file of which format."""

    subject: Subject
    chain: Run
    target: Run
    signals: Mapping[str, Signal]
    form: str


def drawn_run(draw: random.Random, subject: Subject) -> Run:
    """A run from init under inputs that are allowed."""
    simulator, system = Simulator(subject.system), subject.system
    states, inputs = [simulator.initial()], list[Valuation]()
    for _ in range(draw.randint(*STEPS)):
        for _ in range(20):
            values = {var.name: _value(draw, var.values, var.type.bits) for var in system.inputs}
            if simulator.allowed(states[-1], values):
                break
        else:
            break
        inputs.append(
            inputs[-1] if inputs and draw.random() < 0.4 and simulator.allowed(states[-1], inputs[-1]) else values
        )
        states.append(simulator.step(states[-1], inputs[-1]))
    return Run(tuple(states), tuple(inputs))


def _value(draw: random.Random, ranges: Sequence[tuple[int, int]], bits: int) -> int:
    low, high = draw.choice(ranges) if ranges else (0, (1 << max(bits, 1)) - 1)
    return draw.randint(low, high) % (1 << max(bits, 1))


def changed(draw: random.Random, subject: Subject, run: Run, names: Sequence[str], share: float) -> Run:
    """``run`` with other values of some of the variables ``names`` in some states, in their types."""
    types = {var.name: var.type for var in subject.system.state}
    states = list(run.states)
    for step in range(1, len(states)):
        for name in names:
            if draw.random() < share:
                kind = types[name]
                size = 1 << max(kind.bits, 1)
                other = draw.choice([(states[step][name] + draw.randint(1, 3)) % size, draw.randrange(size)])
                states[step] = {**states[step], name: other % 2 if kind.truth else other}
    return _remembered(subject, Run(tuple(states), run.inputs))


def _remembered(subject: Subject, run: Run) -> Run:
    """``run`` with what the tool remembers of it."""
    own = [var.name for var in subject.system.state if var.role == "internal" and "#defined" not in var.name]
    if not own:
        return run
    simulator, states = Simulator(subject.system), [run.states[0]]
    for step, inputs in enumerate(run.inputs):
        after = simulator.step(states[-1], inputs)
        states.append({**run.states[step + 1], **{name: after[name] for name in own}})
    return Run(tuple(states), run.inputs)


def signals_of(draw: random.Random, subject: Subject, names: Sequence[str], exact: bool) -> dict[str, Signal]:
    """How the variables ``names`` are recorded: exactly, or scaled, with tolerance and jitter."""
    found: dict[str, Signal] = {}
    types = {var.name: var.type for var in subject.system.inputs}
    types |= {var.name: var.type for var in subject.system.visible_state}
    for number, name in enumerate(names):
        kind, signal = types[name], Signal(f"sig{number}")
        plain = exact or kind.labels or kind.floating or kind.truth or kind.bits < 2
        if not plain and draw.random() < 0.5:
            factor = Fraction(draw.choice([1, 2, -3]), draw.choice([1, 10]))
            absolute = Fraction(draw.randint(0, 1), 20) + abs(factor) * draw.randint(0, 1)
            signal = Signal(signal.name, "u", factor, Fraction(draw.randint(-5, 5)), absolute)
        if not exact and draw.random() < 0.3:
            signal = replace(signal, jitter=1)
        found[name] = signal
    return found


def recorded(draw: random.Random, drawn: Drawn, noise: bool) -> list[Column]:
    """What is recorded of the target, with ``noise`` within tolerance and jitter: a column for each signal."""
    subject, run = drawn.subject, drawn.target
    inputs = {var.name: var for var in subject.system.inputs}
    variables = inputs | {var.name: var for var in subject.system.visible_state}
    late = {name: draw.randint(-each.jitter, each.jitter) if noise else 0 for name, each in drawn.signals.items()}
    values: dict[str, list[Value]] = {name: [] for name in drawn.signals}
    for step in range(run.length):
        for name, signal in drawn.signals.items():
            at = step + late[name]
            rows = run.inputs if name in inputs else run.states[1:]
            raw = rows[min(max(at, 0), run.length - 1)][name]
            if not (signal.scaled or signal.tolerant):
                values[name].append(raw)
                continue
            number = signal.number(raw, variables[name].type)
            assert number is not None
            by = signal.absolute * Fraction(draw.randint(-100, 100), 100) if noise else 0
            values[name].append(number + by)
    signals = drawn.signals.items()
    return [Column(each.name, variables[name], name in inputs, values[name]) for name, each in signals]


def write_table(found: Sequence[Column], place: Path) -> None:
    """Write columns as a table."""
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["step", *(each.title for each in found)])
        for step in range(len(found[0].values)):
            cells = [(each.variable.type, each.values[step]) for each in found]
            writer.writerow(
                [
                    step,
                    *(_decimal(v) if isinstance(v, Fraction) else show_value(kind, int(v or 0)) for kind, v in cells),
                ]
            )


def _decimal(number: Fraction) -> str:
    """``number`` as text, exactly: its denominator is a product of twos and fives."""
    scaled = number * 10**9
    assert scaled.denominator == 1
    sign, digits = "-" if scaled < 0 else "", f"{abs(scaled.numerator):010}"
    return f"{sign}{digits[:-9]}.{digits[-9:]}"


def judged(draw: random.Random, drawn: Drawn, noise: bool) -> JudgedRun:
    """The judgement of the recording, read from its file."""
    with tempfile.TemporaryDirectory() as folder:
        place, found = Path(folder) / f"run.{drawn.form}", recorded(draw, drawn, noise)
        if drawn.form == "vcd":
            place.write_bytes(waveform(drawn.subject.system.name, found, None, {}))
        else:
            write_table(found, place)
        layout = Layout.of(drawn.subject.system, drawn.signals, None, None)
        recording = read_recording(str(place), layout)
    hits = {g.goal: g.step for g in whole(drawn.subject, drawn.chain) if g.step is not None}
    stimulus = Stimulus("drawn", drawn.chain.inputs, {}, hits, (), None, False)
    return judge_recording(drawn.subject, stimulus, recording)


def whole(subject: Subject, run: Run) -> list[JudgedGoal]:
    """The verdicts of a judge that sees everything."""
    return [*judge_goals(subject.system, subject.goals, WholeRun(subject.system, run), Claims())]


def wrong_verdicts(drawn: Drawn, found: JudgedRun) -> Iterator[str]:
    """What is said of goals and requirements that a judge of the whole run does not say."""
    for own, true in zip(found.goals, whole(drawn.subject, drawn.target), strict=True):
        if own.requirement not in OPEN and own.requirement != true.requirement:
            yield f"{own.goal} is {own.requirement}, and {true.requirement} on the whole run"
        if own.verdict == COVERED and own.how == verdicts.AS_SEEN and true.step is None:
            yield f"{own.goal} is covered {own.how}, and not on the whole run"
        if own.verdict == verdicts.MISSED and true.step is not None:
            yield f"{own.goal} is missed, and covered on the whole run"


def check_changed(draw: random.Random, subject: Subject, form: str) -> Iterator[str]:
    """One value beyond tolerance: it is the first deviation."""
    chain = drawn_run(draw, subject)
    if not chain.length:
        return
    state = [var.name for var in subject.system.visible_state]
    signals = signals_of(draw, subject, [*(v.name for v in subject.system.inputs), *state], exact=draw.random() < 0.3)
    signals = {name: replace(signal, jitter=0) for name, signal in signals.items()}
    name, step = draw.choice(state), draw.randint(1, chain.length)
    kind = next(var.type for var in subject.system.state if var.name == name)
    most = signals[name].absolute / abs(signals[name].factor)
    size = 1 << max(kind.bits, 1)
    others = [
        raw for raw in range(min(size, 512)) if abs(kind.value(raw) - kind.value(chain.states[step][name])) > most
    ]
    if kind.truth or kind.floating:
        others = [raw for raw in (0, 1) if raw != chain.states[step][name]]
    if not others:
        return
    states = list(chain.states)
    states[step] = {**states[step], name: draw.choice(others)}
    drawn = Drawn(subject, chain, _remembered(subject, Run(tuple(states), chain.inputs)), signals, form)
    first = judged(draw, drawn, noise=False).comparison
    if first is None or first.first is None or (first.first.variable, first.first.step) != (name, step):
        yield f"{name} was changed after {step} steps, and the first deviation is {first and first.first}"


def check_parts(draw: random.Random, subject: Subject, form: str) -> Iterator[str]:
    """A run with other values of which a part is seen: no false verdict."""
    chain = drawn_run(draw, subject)
    if not chain.length:
        return
    state = [var.name for var in subject.system.visible_state]
    target = changed(draw, subject, chain, state, draw.choice([0.02, 0.1, 0.3]))
    seen = [name for name in state if draw.random() < draw.choice([0.5, 0.8])]
    inputs = [var.name for var in subject.system.inputs if draw.random() < 0.9]
    names = [*inputs, *seen] or state[:1]
    drawn = Drawn(subject, chain, target, signals_of(draw, subject, names, exact=draw.random() < 0.5), form)
    yield from wrong_verdicts(drawn, judged(draw, drawn, noise=True))


def check_clean(draw: random.Random, subject: Subject, form: str) -> Iterator[str]:
    """A run as the model does it, with noise within tolerance and jitter: nothing deviates, and no false verdict."""
    chain = drawn_run(draw, subject)
    if not chain.length:
        return
    names = [*(v.name for v in subject.system.inputs), *(v.name for v in subject.system.visible_state)]
    drawn = Drawn(subject, chain, chain, signals_of(draw, subject, names, exact=False), form)
    plain = {
        name: replace(drawn.signals[name], jitter=0)
        for name in names
        if name in {v.name for v in subject.system.inputs}
    }
    drawn = replace(drawn, signals={**drawn.signals, **plain})
    found = judged(draw, drawn, noise=True)
    if found.comparison is not None and found.comparison.first is not None:
        yield f"a clean recording deviates: {found.comparison.first}"
    yield from wrong_verdicts(drawn, found)


def check_targets(draw: random.Random, subject: Subject, form: str) -> Iterator[str]:
    """A target with constant outputs, with a wrong hidden state, or one that does nothing."""
    chain = drawn_run(draw, subject)
    if not chain.length:
        return
    outputs = [var.name for var in subject.system.state if var.role == "output"]
    hidden = [var.name for var in subject.system.visible_state if var.name not in outputs]
    kind = draw.choice(["constant", "hidden", "nothing"])
    if kind == "hidden":
        target = changed(draw, subject, chain, hidden, 0.3)
    else:
        first = chain.states[0] if kind == "nothing" else draw.choice(chain.states)
        states = tuple({**state, **{name: first[name] for name in (*outputs, *hidden)}} for state in chain.states)
        target = _remembered(subject, Run(states, chain.inputs))
    seen = outputs or hidden[:1]
    names = [*(var.name for var in subject.system.inputs), *seen]
    drawn = Drawn(subject, chain, target, signals_of(draw, subject, names, exact=True), form)
    found = judged(draw, drawn, noise=False)
    yield from wrong_verdicts(drawn, found)
    lengths = {goal.name: goal.length for goal in subject.goals}
    first_step = found.comparison.first.step if found.comparison and found.comparison.first else None
    for goal in found.goals:
        if goal.how == verdicts.AS_PREDICTED and first_step is not None:
            assert goal.step is not None
            if goal.step + lengths[goal.goal] >= first_step:
                yield f"{goal.goal} is predicted at {goal.step}, beyond the first deviation after {first_step} steps"


CHECKS: Mapping[str, Callable[[random.Random, Subject, str], Iterator[str]]] = {
    "changed": check_changed,
    "parts": check_parts,
    "clean": check_clean,
    "targets": check_targets,
}


def faults(kind: str, seed: int, form: str = "csv") -> list[str]:
    """What is wrong with the judgement of the recording number ``seed``, written in a format."""
    draw = random.Random(f"{kind} {seed}")
    return [*CHECKS[kind](draw, subject_of(NAMES[seed % len(NAMES)]), form)]


@click.command()
@click.option("--kind", "kinds", type=click.Choice([*CHECKS]), multiple=True, help="Only recordings of this kind.")
@click.option("--count", type=int, default=500, show_default=True, help="How many of each kind.")
@click.option("--first", type=int, default=0, show_default=True, help="The first seed.")
@click.option("--format", "form", type=click.Choice(["csv", "vcd"]), default="csv", show_default=True)
def main(kinds: tuple[str, ...], count: int, first: int, form: str) -> None:
    """Judge drawn recordings, and compare with a judge that sees everything."""
    wrong = 0
    for kind in kinds or CHECKS:
        found = [(seed, text) for seed in range(first, first + count) for text in faults(kind, seed, form)]
        wrong += len(found)
        for seed, text in found[:20]:
            click.echo(f"{kind} {seed}: {text}")
        click.echo(f"{kind}: {count} recordings, {len({seed for seed, _ in found})} judged wrong")
    sys.exit(1 if wrong else 0)
