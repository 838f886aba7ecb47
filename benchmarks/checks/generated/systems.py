"""Generated systems with goals and a final condition, each made from a seed alone.

Three kinds: ``table`` (a random machine with one-way parts and dead ends, its next state looked up by state and input),
``formulas`` (modes, a counter with reset, latches) and, where it is asked for, ``levels`` (modes, and a level in
floating point that they change and that changes them). A symbol has the same type in all systems.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, BVExtract, Iff, Implies, Ite, Not, Or

from benchmarks.checks.generated import levels
from benchmarks.checks.generated.parts import parts_table
from bmc.floats import format as floats
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    ValueType,
    conjunction,
    equal,
)
from properties.goal import Goal, goal_length

PLACE, MODE, COUNT, COMMAND = (ValueType(f"bits{n}", n) for n in (6, 2, 3, 2))
TYPES = {
    "gs_place": PLACE,
    "gs_flag": BOOLEAN,
    "gs_mode": MODE,
    "gs_count": COUNT,
    "gs_latch": BOOLEAN,
    "gs_phase": BOOLEAN,
    "gs_command": COMMAND,
    "gs_level": ValueType("float", 32, floating=True),
}
COMMAND_VALUES = (1, 2, 2, 2, 3, 3, 4, 4)
KINDS = ("table", "formulas", "levels")

ATTEMPTS = 12
"""Systems made until one has as many reachable states as wanted."""


@dataclass(frozen=True)
class Case:
    """``final`` is over plain state symbols, None: a chain may end anywhere."""

    seed: int
    kind: str
    system: TransitionSystem
    goals: tuple[Goal, ...]
    final: FNode | None


def generated_case(
    seed: int, states: int = 64, goals: int = 7, longest: int = 3, kind: str | None = None, open_start: bool = False
) -> Case:
    """The case of ``seed``: at most ``states`` reachable states (16 to 64) and ``goals`` goals of J <= ``longest``.

    ``kind``: that of the system, else it is drawn. ``open_start``: what some variables start with is left open; the
    states are then those that are reachable from one of the starts.
    """
    rng = random.Random(seed)
    kind = kind or rng.choice(("table", "table", "formulas"))
    least = rng.randint(2, states * 3 // 4)
    maker = {"table": _table_system, "formulas": _formula_system, "levels": _level_system}[kind]
    for attempt in count(1):
        made = _opened(rng, maker(rng, states)) if open_start else maker(rng, states)
        walker = _Walker(rng, made, states)
        if (least if attempt < ATTEMPTS else 1) <= len(walker.reachable) <= states:
            break
    final = None if rng.random() < 0.45 else walker.final()
    found: list[Goal] = []
    for number in range(max(rng.randint(1, goals), rng.randint(1, goals))):
        antecedent = walker.antecedent([g.antecedent for g in found], final, longest)
        consequent = walker.antecedent([], None, longest) if rng.random() < 0.3 else None
        used = [antecedent] if consequent is None else [antecedent, consequent]
        found.append(Goal(f"g{number}", antecedent, consequent, goal_length(used, {"gs_command"})))
    return Case(seed, kind, made, tuple(found), final)


def _opened(rng: random.Random, system: TransitionSystem) -> TransitionSystem:
    """``system`` with one or two variables of few values that may start with each of them."""
    small = [var.name for var in system.state if var.name != "gs_place"]
    chosen = rng.sample(small, min(len(small), rng.randint(1, 2)))
    return replace(system, state=tuple(replace(v, init=None) if v.name in chosen else v for v in system.state))


def _symbol(name: str) -> FNode:
    return TYPES[name].symbol(name)


def _is(name: str, value: int) -> FNode:
    return equal(_symbol(name), TYPES[name].constant(value))


def _one_of(name: str, values: Sequence[int]) -> FNode:
    return Or([_is(name, value) for value in values])


def _variable(name: str, init: int, after: FNode) -> StateVariable:
    return StateVariable(name, TYPES[name], TYPES[name].constant(init), after)


def _system(rng: random.Random, name: str, state: Sequence[StateVariable], commands: int) -> TransitionSystem:
    """With ``commands`` allowed inputs, seldom fewer in some states (none: a dead end)."""
    allowed = TRUE() if commands == 4 else _one_of("gs_command", range(commands))
    defined = TRUE()
    if rng.random() < 0.12:
        allowed = And(allowed, Implies(_cube(rng, state), _is("gs_command", rng.randrange(commands))))
    if rng.random() < 0.12:
        defined = Not(And(_cube(rng, state), _is("gs_command", rng.randrange(commands))))
    return TransitionSystem(
        name=name,
        state=tuple(state),
        inputs=(InputVariable("gs_command", COMMAND, ((0, commands - 1),)),),
        input_constraint=allowed,
        defined=defined,
    )


def _cube(rng: random.Random, state: Sequence[StateVariable]) -> FNode:
    """Values for some variables of ``state``."""
    chosen = [var for var in state if rng.random() < 0.6] or [rng.choice(state)]
    return And([_is(var.name, rng.randint(0, var.type.greatest)) for var in chosen])


def _table_system(rng: random.Random, states: int) -> TransitionSystem:
    """A machine over numbered places, in parts that are left for good; a flag may change some of its ways."""
    flagged = rng.random() < 0.35
    number = rng.randint(4, states // 2 if flagged else states)
    commands = rng.choice(COMMAND_VALUES)
    codes = rng.sample(range(64), number)
    rows = {codes[row]: [codes[t] for t in targets] for row, targets in enumerate(parts_table(rng, number, commands))}
    for code in range(64):
        rows.setdefault(code, [rng.randrange(64) for _ in range(commands)])
    after = _looked_up(rows, commands)
    init = codes[0] if rng.random() < 0.8 else rng.choice(codes)
    if not flagged:
        return _system(rng, "table", [_variable("gs_place", init, after)], commands)
    other = dict(rows)
    for code in rng.sample(codes, rng.randint(1, min(4, number))):
        other[code] = [rng.choice((code, *rows[code])) for _ in range(commands)]
    flag = _symbol("gs_flag")
    setting, clearing = (
        And(_one_of("gs_place", rng.sample(codes, rng.randint(1, 3))), _is("gs_command", rng.randrange(commands)))
        for _ in range(2)
    )
    kept = flag if rng.random() < 0.5 else And(flag, Not(clearing))
    places = Ite(flag, _looked_up(other, commands), after)
    state = [_variable("gs_place", init, places), _variable("gs_flag", 0, Or(kept, setting))]
    return _system(rng, "table", state, commands)


def _looked_up(rows: dict[int, list[int]], commands: int) -> FNode:
    """The next place as a decision tree over the bits of the place, for each command."""
    result = _tree([rows[code][0] for code in range(64)], 5)
    for command in range(1, commands):
        result = Ite(_is("gs_command", command), _tree([rows[code][command] for code in range(64)], 5), result)
    return result


def _tree(values: Sequence[int], bit: int) -> FNode:
    if len(set(values)) == 1:
        return BV(values[0], 6)
    half = len(values) // 2
    high, low = _tree(values[half:], bit - 1), _tree(values[:half], bit - 1)
    return Ite(BVExtract(_symbol("gs_place"), bit, bit).Equals(BV(1, 1)), high, low)


def _formula_system(rng: random.Random, states: int) -> TransitionSystem:
    """Modes with guarded changes, a counter with reset, latches; as many variables as ``states`` allows."""
    names = ["gs_mode"] + (["gs_count"] if states >= 32 else [])
    names += ["gs_latch"] if states >= 64 or "gs_count" not in names else []
    names += ["gs_phase"] if states == 16 else []
    commands = rng.choice(COMMAND_VALUES[1:])
    top = rng.randint(2, 7)
    guard = _Guards(rng, names, commands, top)
    afters = {
        "gs_mode": guard.modes(one_way=rng.random() < 0.75),
        "gs_count": guard.counter(top),
        "gs_latch": guard.latch(),
        "gs_phase": Iff(_symbol("gs_phase"), Not(guard.some())),
    }
    state = [_variable(name, rng.choice((0, 0, 0, 1)), afters[name]) for name in names]
    return _system(rng, "formulas", state, commands)


def _level_system(rng: random.Random, states: int) -> TransitionSystem:
    """Modes with guarded changes, and a level that is changed by one operation in some modes, seldom off its grid."""
    names, commands = ["gs_mode", "gs_level"], rng.choice(COMMAND_VALUES[1:])
    guard, level, grid = _Guards(rng, names, commands, 0), _symbol("gs_level"), rng.random() < 0.8
    after = level
    for _ in range(rng.randint(2, 4)):
        after = Ite(
            guard.some() if rng.random() < 0.5 else _is("gs_command", rng.randrange(commands)),
            levels.changed(rng, level),
            after,
        )
    start = int(levels.known(rng.choice((0.0, 0.0, levels.number(rng)))).constant_value())
    state = [
        _variable("gs_mode", rng.choice((0, 0, 1)), guard.modes(one_way=rng.random() < 0.75)),
        _variable("gs_level", start, levels.held(rng, after, grid)),
    ]
    return _system(rng, "levels", state, commands)


class _Guards:
    """Random next-state functions over the state variables ``names`` and the commands."""

    def __init__(self, rng: random.Random, names: Sequence[str], commands: int, top: int) -> None:
        self._rng, self._names, self._commands, self._top = rng, names, commands, top

    def some(self) -> FNode:
        """A command, or a condition on the state, or both."""
        parts = [self._atom()] if self._rng.random() < 0.6 else []
        if not parts or self._rng.random() < 0.7:
            parts.append(_is("gs_command", self._rng.randrange(self._commands)))
        return And(parts)

    def _atom(self) -> FNode:
        name = self._rng.choice(self._names)
        if name == "gs_count":
            edge = BV(self._rng.randint(1, self._top), 3)
            return self._rng.choice((_symbol(name).Equals(edge), edge.BVULE(_symbol(name))))
        if name == "gs_level":
            return levels.compared(self._rng, _symbol(name), levels.number(self._rng))
        return _is(name, self._rng.randint(0, TYPES[name].greatest))

    def modes(self, one_way: bool) -> FNode:
        result = _symbol("gs_mode")
        for _ in range(self._rng.randint(3, 7)):
            here, there = self._rng.sample(range(4), 2)
            if one_way and self._rng.random() < 0.92:
                here, there = sorted((here, there))
            result = Ite(And(_is("gs_mode", here), self.some()), BV(there, 2), result)
        return result

    def counter(self, top: int) -> FNode:
        count = _symbol("gs_count")
        full = BV(top if self._rng.random() < 0.6 else 0, 3)
        more = Ite(count.Equals(BV(top, 3)), full, count + BV(1, 3))
        return Ite(self.some(), BV(0, 3), Ite(self.some() if self._rng.random() < 0.7 else TRUE(), more, count))

    def latch(self) -> FNode:
        kept = _symbol("gs_latch")
        if self._rng.random() < 0.4:
            kept = And(kept, Not(self.some()))
        return Or(kept, self.some())


class _Walker:
    """Makes goals and final conditions, most of them true of something that the system can do."""

    def __init__(self, rng: random.Random, system: TransitionSystem, states: int) -> None:
        self._rng, self._system = rng, system
        self._simulator = Simulator(system)
        self._init = self._simulator.initial()
        self._inputs: list[Valuation] = [{"gs_command": value} for value in range(4)]
        self.reachable = list(islice(self._explore(), states + 1))

    def final(self) -> FNode:
        """One state, the start, a few states, or seldom an arbitrary condition."""
        choice = self._rng.random()
        if choice < 0.25:
            return self._exactly(self._init)
        if choice < 0.9:
            return Or([self._partly(self._rng.choice(self.reachable)) for _ in range(self._rng.choice((2, 4, 8, 16)))])
        return _cube(self._rng, self._system.state)

    def antecedent(self, earlier: Sequence[FNode], final: FNode | None, longest: int) -> FNode:
        """A new one, the start, final, or one that implies an earlier goal or is implied by one."""
        choice = self._rng.random()
        if choice < 0.05:
            return at(self._exactly(self._init), 0)
        if choice < 0.09 and final is not None:
            return at(final, 0)
        fresh = self._fresh(self._rng.randint(0, longest))
        if choice < 0.22 and earlier:
            joined = self._rng.choice((And, Or))
            return joined(self._rng.choice(earlier), fresh)
        return fresh

    def _fresh(self, steps: int) -> FNode:
        """What a walk of ``steps`` steps does, and more; now and then no walk at all but random values."""
        states, inputs = self._walk(steps) if self._rng.random() < 0.92 else self._noise(steps)
        last = len(inputs)
        parts = [at(self._around(states[0]), 0)] if self._rng.random() < 0.8 or not last else []
        for step, values in enumerate(inputs):
            if step and self._rng.random() < 0.25:
                parts.append(at(self._around(states[step]), step))
            if step == last - 1 or self._rng.random() < 0.6:
                others = [value for value in range(4) if self._rng.random() < 0.2]
                parts.append(at(_one_of("gs_command", sorted({values["gs_command"], *others})), step))
        if last and self._rng.random() < 0.3:
            parts.append(at(self._around(states[last]), last))
        return conjunction(parts)

    def _around(self, state: Valuation) -> FNode:
        """``state`` and up to four others, anywhere."""
        extra = self._rng.choice((0, 0, 0, 1, 1, 2, 4))
        return Or([self._partly(state), *(self._partly(self._rng.choice(self.reachable)) for _ in range(extra))])

    def _exactly(self, state: Valuation) -> FNode:
        return And([_is(name, value) for name, value in state.items()])

    def _partly(self, state: Valuation) -> FNode:
        """The values of ``state`` for all or, seldom, some variables; a level is compared with its value."""
        names = [name for name in state if name == "gs_place" or self._rng.random() < 0.85]
        parts = {name: state[name] for name in names or list(state)[:1]}
        level = parts.pop("gs_level", None)
        if level is None:
            return self._exactly(parts)
        edge = levels.compared(self._rng, _symbol("gs_level"), floats.number(level, floats.FLOAT32))
        return And(self._exactly(parts), edge)

    def _walk(self, steps: int) -> tuple[list[Valuation], list[Valuation]]:
        states, inputs = [self._rng.choice(self.reachable)], list[Valuation]()
        while len(inputs) < steps:
            ways = [values for values in self._inputs if self._simulator.allowed(states[-1], values)]
            if not ways:
                break
            inputs.append(self._rng.choice(ways))
            states.append(self._simulator.step(states[-1], inputs[-1]))
        return states, inputs

    def _noise(self, steps: int) -> tuple[list[Valuation], list[Valuation]]:
        def values() -> Valuation:
            return {var.name: self._rng.randint(0, var.type.greatest) for var in self._system.state}

        return [values() for _ in range(steps + 1)], [self._rng.choice(self._inputs) for _ in range(steps)]

    def _explore(self) -> Iterator[Valuation]:
        """Every reachable state once, breadth first."""
        todo, seen = [self._init], {tuple(self._init.values())}
        while todo:
            yield (state := todo.pop(0))
            for values in self._inputs:
                if self._simulator.allowed(state, values):
                    after = self._simulator.step(state, values)
                    if tuple(after.values()) not in seen:
                        seen.add(tuple(after.values()))
                        todo.append(after)
