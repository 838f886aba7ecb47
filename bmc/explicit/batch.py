"""Many runs of a system side by side: random inputs, arrays over all of them at once.

For upper bounds and first chains: what a run shows is certain, what no run shows says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column, Columns, Program, column, node_count
from bmc.explicit.columns_in_c import LEAST, evaluation, nominal
from bmc.explicit.drawing import NEAR, Drawer, Meeting, compared, following, read_with
from bmc.explicit.draws import Draws
from bmc.floats.values import ATTEMPTS
from bmc.formulas.evaluate import unseen
from bmc.records import dataclass
from bmc.system.constraints import remembers
from bmc.system.simulation import Simulator
from bmc.system.ties import tied_values, ties
from bmc.system.transition import (
    Run,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
)

RATES = (1.0, 0.5, 0.15, 0.03)
"""How often an input changes, by the number of the run: code that waits needs inputs that stay."""

RESTS = (0.0, 0.5, 0.875, 0.97)
"""How many of the values of a run are those at rest: what one input brings about needs others that do not interfere."""


@dataclass(frozen=True)
class Runs:
    """``states`` and ``inputs`` by variable name: arrays of (step, run) over ``steps`` steps, states one more.

    ``valid[number]`` is the number of steps until the first one that is not allowed.
    """

    states: Mapping[str, Column]
    inputs: Mapping[str, Column]
    steps: int
    valid: Column

    def run_inputs(self, number: int, steps: int) -> list[dict[str, int]]:
        """The inputs of the first ``steps`` steps of the run ``number``."""
        return [{name: int(values[step, number]) for name, values in self.inputs.items()} for step in range(steps)]

    def then(self, others: Runs) -> Runs:
        """These runs, all steps of which are allowed, with ``others`` that go on from their ends."""
        states = {name: np.concatenate([values[:-1], others.states[name]]) for name, values in self.states.items()}
        inputs = {name: np.concatenate([values, others.inputs[name]]) for name, values in self.inputs.items()}
        return Runs(states, inputs, self.steps + others.steps, self.steps + others.valid)

    def last(self, steps: int) -> Runs:
        """Their last ``steps`` steps."""
        states = {name: values[self.steps - steps :] for name, values in self.states.items()}
        inputs = {name: values[self.steps - steps :] for name, values in self.inputs.items()}
        return Runs(states, inputs, steps, np.maximum(self.valid - self.steps + steps, 0))

    def of(self, chosen: Column) -> Runs:
        """The runs with the numbers ``chosen``."""
        states = {name: values[:, chosen] for name, values in self.states.items()}
        inputs = {name: values[:, chosen] for name, values in self.inputs.items()}
        return Runs(states, inputs, self.steps, self.valid[chosen])


@dataclass(frozen=True)
class Manner:
    """How ``count`` runs draw each input: how often it changes, by run, and its ``last`` value if there was a step.

    ``rests``: which part of the values of each run is that at rest. ``falls``: in which runs an input whose values
    follow from the last one goes down rather than up. ``meets``: the number of what an input is always equal to, by
    run, or ``FREE`` where it is now and then.
    """

    count: int
    rates: Mapping[str, Column]
    rests: Column
    last: Mapping[str, Column] = field(default_factory=dict)
    falls: Mapping[str, Column] = field(default_factory=dict)
    meets: Mapping[str, Column] = field(default_factory=dict)

    def of(self, chosen: Column, last: Mapping[str, Column]) -> Manner:
        """That of the runs ``chosen``, whose last inputs were ``last``."""
        rates = {name: values[chosen] for name, values in self.rates.items()}
        falls = {name: values[chosen] for name, values in self.falls.items()}
        meets = {name: values[chosen] for name, values in self.meets.items()}
        return Manner(len(chosen), rates, self.rests[chosen], last, falls, meets)

    def still(self) -> Manner:
        """The same, but that inputs stay as they are in one half of the runs, and are all at rest in the other half."""
        resting = np.arange(self.count) % 2
        rates = resting.astype(float)
        return replace(self, rates=dict.fromkeys(self.rates, rates), rests=np.where(resting == 1, 1.0, self.rests))


_Step = tuple[Mapping[str, Column], Sequence[Column], Column]
"""One step of many runs: the inputs, the state after it, and in which runs it is allowed."""


class Batch:
    """Draws runs of ``system``. Repeatable: ``seed`` decides all draws, in the order of the calls."""

    def __init__(
        self, system: TransitionSystem, formulas: Iterable[FNode] = (), seed: int = 1, least: int = LEAST
    ) -> None:
        """``formulas`` (framed or not) are what will be looked for: their constants are values worth trying. A step of
        at least so many operations is interpreted by compiled code."""
        self.system = system
        self._simulator = Simulator(system)
        nexts = [var.next for var in system.state]
        valid = conjunction([system.input_constraint, system.defined])
        self._step, self._least = evaluation([*nexts, valid], least), least
        self._allowed = Program([valid])
        self._ties = [(tie, Program([tie.free, tie.value])) for tie in ties(system)]
        self._random = Draws(seed)
        asked = [*nexts, valid, *formulas]
        beside = compared(asked)
        self._drawers = [
            Drawer(var, asked if var.type.floating else beside.get(var.name, asked), self._random)
            for var in system.inputs
        ]
        names = {drawer.name for drawer in self._drawers}
        self._apart = read_with(conjuncts(system.input_constraint), names)
        read = ((v.name, v.next.symbol_name()) for v in system.state if remembers(v.name) and v.next.is_symbol())
        self._remembered = {name: before for before, name in read if name in names}
        follow = following(conjuncts(system.input_constraint))
        self._grows = {
            drawer.name: drawer.after(self._apart[drawer.name][0])
            for drawer in self._drawers
            if drawer.name in self._remembered and drawer.name in follow and len(self._apart[drawer.name]) == 1
        }
        self._meeting = Meeting([*nexts, valid], names - follow)
        self.nodes = node_count([*nexts, valid])

    def cost(self, count: int) -> int:
        """Operations on values that a step of ``count`` runs takes."""
        return nominal(self.nodes, count, self._least)

    def initial(self) -> Valuation:
        """The start state; variables that init leaves open are 0."""
        return self._simulator.initial()

    def draw(self, start: Valuation, count: int, steps: int, check: Callable[[], None] = lambda: None) -> Runs:
        """``count`` runs of ``steps`` steps from one state.

        ``check`` is called before each evaluation of the step over all runs; what it raises ends them.
        """
        starts = self.repeated(start, count)
        rates = np.array([RATES[number % len(RATES)] for number in range(count)])
        rests = np.array([RESTS[number // len(RATES) % len(RESTS)] for number in range(count)])
        rated = {drawer.name: rates for drawer in self._drawers}
        manner = Manner(count, rated, rests, falls=self._falls(count), meets=self._meeting.drawn(self._random, count))
        return self.go_on(starts, manner, steps, check)

    def repeated(self, state: Valuation, count: int) -> dict[str, Column]:
        """``state`` in ``count`` runs."""
        return {v.name: np.repeat(column([state[v.name]], v.type.bits), count) for v in self.system.state}

    def manner(self, count: int) -> Manner:
        """How ``count`` runs draw their inputs, drawn for each run and input by itself."""
        rates = np.array(RATES)
        drawn = {d.name: rates[self._random.below(len(rates), count)] for d in self._drawers}
        rests = np.array(RESTS)[self._random.below(len(RESTS), count)]
        meets = self._meeting.drawn(self._random, count)
        return Manner(count, drawn, rests, falls=self._falls(count), meets=meets)

    def _falls(self, count: int) -> dict[str, Column]:
        return {name: self._random.below(2, count) == 1 for name in self._remembered}

    def changed(self, manner: Manner, part: float) -> Manner:
        """``manner``, with another rate, or direction, for about ``part`` of the inputs of each run.

        In as many runs another part of the values is at rest.
        """
        rates, falls, fresh = dict(manner.rates), dict(manner.falls), self.manner(manner.count)
        meets = dict(manner.meets)
        for own, other in ((rates, fresh.rates), (falls, fresh.falls), (meets, fresh.meets)):
            for name, values in own.items():
                own[name] = np.where(self._random.parts(manner.count) < part, other[name], values)
        rests = np.where(self._random.parts(manner.count) < part, fresh.rests, manner.rests)
        return replace(manner, rates=rates, rests=rests, falls=falls, meets=meets)

    def go_on(self, starts: Columns, manner: Manner, steps: int, check: Callable[[], None] = lambda: None) -> Runs:
        """Runs of ``steps`` steps, each from a state of its own, that draw inputs in their ``manner``; see ``draw``."""
        count = manner.count
        inputs = {drawer.name: drawer.draw(steps, count) for drawer in self._drawers}
        kept = {}
        for drawer in self._drawers:
            part, rate = self._random.parts((steps, count)), manner.rates[drawer.name]
            kept[drawer.name] = part >= rate
            inputs[drawer.name][part < rate * manner.rests] = drawer.rest

        def take(step: int, now: Columns, alive: Column) -> _Step:
            last = {name: values[step - 1] for name, values in inputs.items()} if step else manner.last
            for name, before in last.items():
                np.copyto(inputs[name][step], before, where=kept[name][step])
            for name, by in self._grows.items():
                inputs[name][step] = by(now[self._remembered[name]])
            drawn = {name: values[step] for name, values in inputs.items()}
            self._meeting.meet(
                now, drawn, manner.meets, lambda name: ~kept[name][step] & (self._random.below(2, count) == 1)
            )
            return self._one_step(now, drawn, (alive, manner.falls), check)

        return self._simulated(starts, inputs, (steps, count), take)

    def follow(self, starts: Columns, inputs: Columns, check: Callable[[], None] = lambda: None) -> Runs:
        """The runs from ``starts`` under ``inputs``, arrays of (step, run), as they are; ``check`` as in ``draw``."""

        def take(step: int, now: Columns, alive: Column) -> _Step:
            check()
            chosen = self._tied(now, {name: values[step] for name, values in inputs.items()})
            *after, allowed = self._step({**now, **chosen})
            return chosen, after, allowed

        steps, count = next(iter(inputs.values())).shape
        taken = {name: np.empty_like(values) for name, values in inputs.items()}
        return self._simulated(starts, taken, (steps, count), take)

    @staticmethod
    def _simulated(
        starts: Columns, inputs: Columns, shape: tuple[int, int], take: Callable[[int, Columns, Column], _Step]
    ) -> Runs:
        """Runs from ``starts``, each of which ends where no step is allowed; ``shape`` is steps and runs.

        ``take`` makes a step: of its number, the states before it, and the runs that have not ended. The inputs that it
        chooses are written into ``inputs``.
        """
        steps, count = shape
        states = {name: np.empty((steps + 1, count), values.dtype) for name, values in starts.items()}
        for name, values in starts.items():
            states[name][0] = values
        valid, alive = np.full(count, steps), np.full(count, True)
        for step in range(steps):
            now = {name: values[step] for name, values in states.items()}
            chosen, after, allowed = take(step, now, alive)
            for name, values in chosen.items():
                inputs[name][step] = values
            for name, values in zip(states, after, strict=True):
                states[name][step + 1] = values
            valid[alive & ~allowed] = step
            alive &= allowed
        return Runs(states, inputs, steps, valid)

    def run(self, start: Valuation, inputs: Sequence[Valuation]) -> Run:
        """The run from ``start`` under ``inputs``, with all variables, simulated one step after the other."""
        return self._simulator.run(start, inputs)

    def rest(self, start: Valuation, steps: int) -> Runs:
        """The run from one state with all inputs at rest, but for those that are tied or follow from the last one.

        It has so many steps, or ends before one that is not allowed, or where the state does not change any more.
        """
        resting = {drawer.name: int(drawer.rest) for drawer in self._drawers}
        states, inputs, tied = [start], list[Valuation](), tied_values([tie for tie, _ in self._ties])
        while len(inputs) < steps:
            now = states[-1]
            grown = {
                name: int(by(np.array([now[self._remembered[name]]], np.uint64))[0]) for name, by in self._grows.items()
            }
            values = {**resting, **grown, **tied(now)}
            if not self._simulator.allowed(now, values):
                break
            states.append(self._simulator.step(now, values))
            inputs.append(values)
            if states[-1] == now:
                break
        return self.taken(Run(tuple(states), tuple(inputs)))

    def taken(self, run: Run) -> Runs:
        """One run, all steps of which are allowed."""
        states = {v.name: column([s[v.name] for s in run.states], v.type.bits)[:, None] for v in self.system.state}
        inputs = {v.name: column([i[v.name] for i in run.inputs], v.type.bits)[:, None] for v in self.system.inputs}
        return Runs(states, inputs, run.length, np.array([run.length]))

    def _one_step(
        self,
        now: Mapping[str, Column],
        drawn: Mapping[str, Column],
        runs: tuple[Column, Mapping[str, Column]],
        check: Callable[[], None],
    ) -> _Step:
        """The inputs, the state after, and in which runs the step is allowed: others are tried where it is not.

        Of ``runs`` only those that are alive count; and in which of them inputs fall.
        """
        check()
        alive, falls = runs
        chosen: Mapping[str, Column] = self._tied(now, drawn)
        *after, allowed = self._step({**now, **chosen})
        lost = np.flatnonzero(alive & ~allowed)
        if len(lost) and drawn:
            check()
            chosen = self._redrawn(now, chosen, lost, falls)
            again = self._step({name: values[lost] for name, values in {**now, **chosen}.items()})
            *after, allowed = (np.broadcast_to(values, alive.shape).copy() for values in (*after, allowed))
            for values, fresh in zip((*after, allowed), again, strict=True):
                values[lost] = fresh
        return chosen, after, allowed

    def _redrawn(
        self, now: Mapping[str, Column], chosen: Mapping[str, Column], lost: Column, falls: Mapping[str, Column]
    ) -> dict[str, Column]:
        """``chosen``, with the first of ``ATTEMPTS`` draws that is allowed in each of the runs that are ``lost``.

        Inputs that no constraint ties to something else stay as they are in the first ``NEAR`` draws. Those whose last
        value is remembered, because it matters to the next one, lie near it in these.
        """
        found = {name: values.copy() for name, values in chosen.items()}
        for count in (NEAR, ATTEMPTS - NEAR):
            here = {name: values[lost] for name, values in now.items()}
            drawn = {}
            for drawer in self._drawers:
                name, first = drawer.name, count == NEAR
                if first and name in self._remembered:
                    last = here[self._remembered[name]]
                    drawn[name] = drawer.near(last, falls[name][lost], self._apart.get(name, ()))
                elif first and self._apart and name not in self._apart:
                    drawn[name] = np.broadcast_to(chosen[name][lost], (count, len(lost)))
                else:
                    drawn[name] = drawer.draw(count, len(lost))
            others = self._tied(here, drawn)
            (allowed,) = self._allowed({**here, **others})
            allowed = np.broadcast_to(allowed, (count, len(lost)))
            ways, at = np.flatnonzero(allowed.any(axis=0)), allowed.argmax(axis=0)
            for name, values in others.items():
                found[name][lost[ways]] = values[at[ways], ways]
            lost = lost[~allowed.any(axis=0)]
            if not len(lost):
                break
        return found

    def _tied(self, now: Mapping[str, Column], drawn: Mapping[str, Column]) -> dict[str, Column]:
        """``drawn``, but where the states tie inputs to something these."""
        values = dict(drawn)
        for tie, program in self._ties:
            free, own = program(now)
            values[tie.name] = np.where(free, values[tie.name], own)
        return values


RUNS, STEPS = 64, 96
"""Random runs, and their steps, that show which values variables take, and which differences these keep: twice as many
cost twice the time, and show values that are taken more rarely."""

NEVER = 1 << 30
"""The step of what no run has shown; twice of it fits into 32 bits."""


class EventFinder:
    """Finds where events occur in runs, which are conditions on one state, or on one step.

    ``events`` has for each name the condition (framed), and whether it is one on a step.
    """

    def __init__(self, events: Mapping[str, tuple[FNode, bool]]) -> None:
        self._names = list(events)
        self._tests: list[tuple[bool, list[str], Any, list[tuple[str, str, int]]]] = []
        for of_step in sorted({of_step for _, of_step in events.values()}):
            names = [name for name, (_, own) in events.items() if own == of_step]
            parts = [events[name][0] for name in names]
            symbols = sorted({s.symbol_name() for s in unseen(parts, set()) if s.is_symbol()})
            places = [(symbol, *_parted(symbol)) for symbol in symbols]
            self._tests.append((of_step, names, Program(parts), places))

    def hits(self, runs: Runs) -> dict[str, Column]:
        """For each name where (number of a state, run) the event occurs in that state, or in the step to it, all steps
        up to there being allowed."""
        shape = runs.steps + 1, len(runs.valid)
        found: dict[str, Column] = {name: np.zeros(shape, bool) for name in self._names}
        allowed = np.arange(runs.steps + 1)[:, None] <= runs.valid[None, :]
        for of_step, names, test, places in self._tests:
            first, count = (1, runs.steps) if of_step else (0, runs.steps + 1)
            if not count:
                continue
            columns = {
                symbol: (runs.states if name in runs.states else runs.inputs)[name][step : step + count]
                for symbol, name, step in places
            }
            for name, holds in zip(names, test(columns), strict=True):
                found[name][first:] = holds & allowed[first:]
        return found


def _parted(symbol: str) -> tuple[str, int]:
    name, _, step = symbol.rpartition("@")
    return name, int(step)


def earliest(rows: Column) -> tuple[int, int] | None:
    """The first step at which something holds, and the first number where it does."""
    steps = np.flatnonzero(rows.any(axis=1))
    return (int(steps[0]), int(np.argmax(rows[steps[0]]))) if len(steps) else None


def gaps(hits: Mapping[str, Column], least: Mapping[str, int], targets: Iterable[str]) -> dict[tuple[str, str], int]:
    """The least number of steps seen from the start of each name in ``least`` to the start of each of ``targets``.

    ``least[a]`` is what must lie between a and another one. Pairs never seen are left out.
    """
    wanted = [name for name in targets if hits[name].any()]
    steps = max((len(rows) for rows in hits.values()), default=0)
    if not wanted:
        return {}
    to_next = np.full((len(wanted), steps + 1, hits[wanted[0]].shape[1]), NEVER, np.int32)
    for place, name in enumerate(wanted):
        rows = hits[name]
        for step in range(len(rows) - 1, -1, -1):
            to_next[place, step] = np.where(rows[step], 0, to_next[place, step + 1] + 1)
    found: dict[tuple[str, str], int] = {}
    for a, apart in least.items():
        at, number = np.nonzero(hits[a])
        if not len(at):
            continue
        nearest = to_next[:, np.minimum(at + apart, steps), number].min(axis=1)
        for b, distance in zip(wanted, nearest.tolist(), strict=True):
            if a != b and distance < steps:
                found[a, b] = distance + apart
    return found
