"""A chain on a target, on line: step by step, each answer beside what the model does; and the stop that is safe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from bmc import ending
from bmc.errors import InputRefused, Location
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Valuation
from chaincover.formats.chain_file import Stimulus
from chaincover.project.bench import Signal
from chaincover.subject import Subject
from chaincover.target.drivers import Driver, TargetLost, Value, Values
from chaincover.target.drivers.values import numbers_of
from chaincover.target.log import Log
from chaincover.target.recording import Cell, Recording, Variable, cell, deviating

SLICE = 0.05
"""Seconds between two looks whether the run was called off, while it waits for the next step."""

ALL, DEVIATED, LOST, STOPPED = "the chain has ended", "a deviation", "the target was lost", "stopped"
"""How a run ends."""


@dataclass(frozen=True)
class Pace:
    """How fast steps are made: one each ``period`` seconds (None: as fast as the target answers). A step that begins
    more than ``lateness`` seconds late is late (None: none is)."""

    period: float | None = None
    lateness: float | None = None


@dataclass(frozen=True)
class OnLine:
    """A run that has ended: as it was recorded, how it ``ended`` and why, how late its latest step was (seconds).

    ``last_inputs`` are those that were applied last; ``stopped_safely``: the steps that were made after the end.
    """

    recording: Recording
    ended: str
    why: str = ""
    latest: float = 0.0
    last_inputs: Values = field(default_factory=dict)
    stopped_safely: int = 0


@dataclass
class _Made:
    """What was made of a run so far: rows of inputs and of what followed them, the steps that were ``late``.

    ``latest``: how late the latest step was (seconds); ``last_inputs``: those that were applied last.
    """

    inputs: list[dict[str, Cell]] = field(default_factory=list)
    states: list[dict[str, Cell]] = field(default_factory=lambda: [{}])
    late: list[int] = field(default_factory=list)
    latest: float = 0.0
    last_inputs: dict[str, Value] = field(default_factory=dict)


class Bench:
    """One run of a chain on a target."""

    def __init__(
        self, subject: Subject, stimulus: Stimulus, driver: Driver, signals: Mapping[str, Signal], log: Log, name: str
    ) -> None:
        system = self._system = subject.system
        self._driver, self._log, self._name = driver, log, name
        simulator = Simulator(system)
        self.expected = simulator.run(simulator.initial(stimulus.initial), stimulus.inputs)
        self._stimulus, self._final = stimulus, bool(subject.final_text and stimulus.to_final)
        self._signals = {name: signal.of_variable(name) for name, signal in signals.items()}
        self._inputs = {var.name: var for var in system.inputs}
        self._state = {var.name: var for var in system.visible_state}
        self._input_types = {name: var.type for name, var in self._inputs.items()}
        self._made = _Made()

    def run(self, pace: Pace, safe: Sequence[Valuation], told: Callable[[int], None]) -> OnLine:
        """Make the steps of the chain, and stop; ``told`` is told of each step. Never raises what the target does."""
        ended, why = ALL, ""
        try:
            first = self._driver.reset()
            self._log({"reset": dict(first)})
            self._take(first, self._made.states[0], self._state)
            why = self._deviation(0)
            for step in self._paced(pace) if not why else ():
                told(step)
                self._step(self._stimulus.inputs[step])
                why = self._deviation(step + 1)
                if why:
                    break
            if why:
                ended = DEVIATED
            elif len(self._made.inputs) < len(self._stimulus.inputs):
                ended, why = STOPPED, ending.called_off()
        except TargetLost as error:
            ended, why = LOST, f"{error.message} ({error.hint})" if error.hint else error.message
        done = len(self._made.inputs)
        after = self._stop(ended, safe)
        self._log({"end": ended, "why": why, "steps": done, "after": after, "last_inputs": self._made.last_inputs})
        inputs, states = self._made.inputs, self._made.states
        recorded = frozenset(name for row in (*inputs[:done], *states[: done + 1]) for name in row)
        recording = Recording(
            self._name,
            (*inputs[:done],),
            (*states[: done + 1],),
            recorded,
            self._signals,
            (),
            frozenset(self._made.late),
        )
        return OnLine(recording, ended, why, self._made.latest, self._made.last_inputs, after)

    def _paced(self, pace: Pace) -> Iterator[int]:
        """The steps, each when it is due; none from where the run was called off."""
        begin = time.monotonic()
        for step in range(len(self._stimulus.inputs)):
            due = begin + step * (pace.period or 0.0)
            while pace.period is not None and (left := due - time.monotonic()) > 0 and not ending.called_off():
                time.sleep(min(left, SLICE))
            if ending.called_off():
                return
            late = time.monotonic() - due if pace.period is not None else 0.0
            self._made.latest = max(self._made.latest, late)
            if pace.lateness is not None and late > pace.lateness:
                self._made.late.append(step)
            yield step

    def _step(self, raw: Valuation) -> None:
        """One step; what comes back is recorded, answers of the environment as inputs."""
        inputs = numbers_of(self._input_types, raw)
        self._made.last_inputs = {**inputs}
        row: dict[str, Cell] = {name: raw[name] for name in self._inputs}
        after: dict[str, Cell] = {}
        answer = self._driver.step(inputs)
        self._take(answer, after, self._state)
        self._take(answer, row, self._inputs)
        step = len(self._made.inputs)
        self._made.inputs.append(row)
        self._made.states.append(after)
        late = {"late": True} if self._made.late[-1:] == [step] else {}
        self._log({"step": step, "inputs": inputs, "outputs": dict(answer), **late})

    def _take(self, answer: Values, row: dict[str, Cell], variables: Mapping[str, Variable]) -> None:
        """Put the values of ``variables`` into ``row``. TargetLost for what is neither, or no value."""
        for name, value in answer.items():
            if name in variables:
                try:
                    row[name] = cell(str(value), variables[name], self._signals.get(name), Location("the target"))
                except InputRefused as error:
                    raise TargetLost(f"the target answered with what is no value: {error.message}") from None
            elif name not in self._inputs and name not in self._state:
                hint = f"it may answer {', '.join([*self._state][:5])}, ..."
                raise TargetLost(f"the target answered with '{name}', which the program does not have", hint=hint)

    def _deviation(self, step: int) -> str:
        """What deviates before a step; '' for nothing."""
        if step and self._made.inputs[step - 1] != {
            name: self._stimulus.inputs[step - 1][name] for name in self._inputs
        }:
            return f"the inputs of step {step - 1} were not those of the chain"
        wrong = deviating(self._made.states[step], step, self.expected, self._system, self._signals)
        return f"'{wrong[0]}' before step {step}" if wrong else ""

    def _stop(self, ended: str, safe: Sequence[Valuation]) -> int:
        """The steps made after the end: the chain's way to the final condition where the run was called off and all
        agreed, else the safe inputs, where it did not end by itself."""
        if ended == ALL:
            return 0
        way = self._way_to_final() if ended == STOPPED else None
        made = 0
        try:
            for raw in safe if way is None else way:
                inputs = numbers_of(self._input_types, raw)
                self._made.last_inputs = {**inputs}
                answer = self._driver.step(inputs)
                self._log({"after_end": made, "inputs": inputs, "outputs": dict(answer)})
                made += 1
        except TargetLost as error:
            self._log({"after_end": made, "lost": error.message})
        return made

    def _way_to_final(self) -> Sequence[Valuation] | None:
        """The rest of the chain; None where it does not end in a final condition."""
        return self._stimulus.inputs[len(self._made.inputs) :] if self._final else None
