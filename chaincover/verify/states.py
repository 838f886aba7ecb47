"""All reachable states of a small system with every step between them, confirmed on the compiled original."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from pysmt.fnode import FNode

from bmc.analysis.idle import idle_inputs, without_inputs
from bmc.analysis.validity import without_impossible
from bmc.errors import CheckDisagreed, InputRefused, LimitReached
from bmc.formulas.unroll import plain
from bmc.native.original import CompiledOriginal, NoCompiler, compiled
from bmc.system.hold import held_values, hold, released
from bmc.system.original import NativeInterface
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation, symbols_of
from chaincover.project.values import Variable, show_value, shown
from chaincover.verify.limits import Clock

MODEL = "the model"


@dataclass(frozen=True)
class Table:
    """The reachable part of a system: ``moves`` holds for each state its allowed (number of inputs, next state).

    ``states`` are valuations of ``variables``, ``choices`` of ``inputs``; ``starts`` are numbers of states.
    ``every_input``: whether ``choices`` vary all the inputs that the goals read, not only those on which a next state
    depends.
    """

    variables: tuple[StateVariable, ...]
    inputs: tuple[InputVariable, ...]
    states: tuple[Valuation, ...]
    starts: tuple[int, ...]
    choices: tuple[Valuation, ...]
    moves: tuple[tuple[tuple[int, int], ...], ...]
    every_input: bool

    @property
    def steps(self) -> int:
        """How many allowed steps there are."""
        return sum(len(row) for row in self.moves)

    def distinct(self, variables: Iterable[StateVariable]) -> int:
        """How many of the states differ in ``variables``."""
        names = {var.name for var in variables} & {var.name for var in self.variables}
        return len({tuple(state[name] for name in sorted(names)) for state in self.states})

    def knows(self, formula: FNode) -> bool:
        """Whether ``formula`` (plain) speaks of the table's variables only."""
        return {s.symbol_name() for s in symbols_of(formula)} <= {var.name for var in self.variables}

    def counts(self, claimed: int, variables: Iterable[StateVariable]) -> bool:
        """Whether so many states may have been counted, on at least ``variables`` and at most those of the table."""
        return self.distinct(variables) <= claimed <= len(self.states)


def tabulate(system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> Table | None:
    """The table on the variables that the framed ``formulas`` depend on; None above the limit of simulated steps."""
    return _explored(system, formulas, clock, True) or _explored(system, formulas, clock, False)


def _explored(system: TransitionSystem, formulas: Sequence[FNode], clock: Clock, every_input: bool) -> Table | None:
    limit = clock.limits.explored
    read = sorted({plain(s) for formula in formulas for s in symbols_of(formula)}, key=str)
    inputs = system.inputs
    system, spare = _lean(system, read, every_input)
    cone = system.cone(read)
    small = replace(system, state=cone)
    free = released(system)
    moving = [var.next for var in free.state if var in cone]
    needed = [free.input_constraint, system.defined, *moving, *(read if every_input else ())]
    names = {s.symbol_name() for formula in needed for s in symbols_of(formula)}
    varied = [var for var in system.inputs if var.name in names]
    loose = [var for var in cone if var.init is None]
    if max(_count(varied), _count(loose)) > limit:
        return None
    simulator = Simulator(small)
    fixed = {**spare, **{var.name: 0 for var in system.inputs if var.name not in names}}
    choices = tuple({**fixed, **values} for values in _combinations(varied))
    every = list(enumerate(choices))
    places = {tuple(c[var.name] for var in system.inputs): [(n, c)] for n, c in every}
    numbers: dict[tuple[int, ...], int] = {}
    states: list[Valuation] = []

    def number(state: Valuation) -> int:
        key = tuple(state[var.name] for var in cone)
        if key not in numbers:
            numbers[key] = len(states)
            states.append(state)
        return numbers[key]

    starts = tuple(number(simulator.initial(values)) for values in _combinations(loose))
    moves: list[tuple[tuple[int, int], ...]] = []
    tried = 0
    while len(moves) < len(states):
        here = states[len(moves)]
        held = held_values(system, here)
        possible = every if held is None else places[tuple(held.values())]
        tried += len(possible)
        if tried > limit or clock.over:
            return None
        allowed = ((n, c) for n, c in possible if simulator.allowed(here, c))
        moves.append(tuple((n, number(simulator.step(here, c))) for n, c in allowed))
    return Table(cone, inputs, tuple(states), tuple(dict.fromkeys(starts)), choices, tuple(moves), every_input)


def _lean(system: TransitionSystem, read: Sequence[FNode], every_input: bool) -> tuple[TransitionSystem, Valuation]:
    """``system`` without undefined behaviour that ranges of its state exclude, and without the inputs that neither a
    step of what ``read`` depends on nor (``every_input``) ``read`` itself reads; and allowed values for these."""
    free = replace(released(system), asserts=(), suspects=(), invariants=())
    free = without_impossible(free, read)
    steps = [free.defined, *(var.next for var in free.cone(read))]
    spare = idle_inputs(free, [*steps, *read] if every_input else steps)
    return hold(without_inputs(free, spare), system.hold), spare


def _count(variables: Sequence[StateVariable | InputVariable]) -> int:
    return prod(sum(high - low + 1 for low, high in _ranges(var)) for var in variables)


def _ranges(var: StateVariable | InputVariable) -> tuple[tuple[int, int], ...]:
    declared = var.values if isinstance(var, InputVariable) else ()
    return declared or ((var.type.least, var.type.greatest),)


def _combinations(variables: Sequence[StateVariable | InputVariable]) -> Iterator[dict[str, int]]:
    """Every combination of allowed values, as raw patterns."""
    columns = []
    for var in variables:
        mask = (1 << max(var.type.bits, 1)) - 1
        columns.append([value & mask for low, high in _ranges(var) for value in range(low, high + 1)])
    for values in product(*columns):
        yield dict(zip((var.name for var in variables), values, strict=True))


@dataclass(frozen=True, slots=True)
class Confirmation:
    """``on``: the compiler of the original that every step was run on, or ``MODEL``; ``why`` it was not, if not.

    ``differences`` tell where the original goes another way than the table.
    """

    on: str
    why: str = ""
    differences: tuple[str, ...] = ()


def confirm(table: Table, native: NativeInterface, clock: Clock) -> Confirmation:
    """Run every step of ``table`` on the compiled original. If none differs the table is the original's own: it holds
    the state after init and is closed under all allowed steps."""
    if table.steps > clock.limits.original:
        return Confirmation(MODEL, f"more than {clock.limits.original} steps")
    if clock.over:
        return Confirmation(MODEL, "no time was left")
    try:
        with compiled(native) as original:
            return Confirmation(original.compiler, differences=tuple(_differences(table, original, clock)))
    except NoCompiler:
        return Confirmation(MODEL, "no C compiler was found")
    except (InputRefused, LimitReached) as error:
        return Confirmation(MODEL, error.message)
    except CheckDisagreed as error:
        return Confirmation("the compiled original", differences=(error.message,))


def _differences(table: Table, original: CompiledOriginal, clock: Clock) -> Iterator[str]:
    left = clock.left
    seconds = 600.0 if left is None else left
    begin = table.states[table.starts[0]]
    fixed = [var for var in table.variables if var.init is not None]
    for name, theirs, ours in _unequal(fixed, original.run([], None, seconds)[0], begin):
        yield f"after init '{name}' is {theirs} in the compiled original, {ours} in the model"
    pairs = [(number, move) for number, row in enumerate(table.moves) for move in row]
    work = [(table.states[number], table.choices[choice]) for number, (choice, _) in pairs]
    for (number, (choice, target)), after in zip(pairs, original.steps(work, seconds) if work else [], strict=True):
        for name, theirs, ours in _unequal(table.variables, after, table.states[target]):
            state, inputs = told(table.variables, table.states[number]), told(table.inputs, table.choices[choice])
            yield f"from {state} under {inputs} '{name}' becomes {theirs} in the compiled original, {ours} in the model"


def told(variables: Iterable[Variable], values: Valuation) -> dict[str, int | float | str]:
    """Raw values, but floating ones as numbers."""
    return {**values, **shown([var for var in variables if var.type.floating], values)}


def _unequal(variables: Iterable[StateVariable], theirs: Valuation, ours: Valuation) -> Iterator[tuple[str, str, str]]:
    """The variables that differ, of those that the original can tell and that are set, with both values as text."""
    for var in variables:
        if var.name in theirs and ours.get(f"{var.name}#defined", 1) and theirs[var.name] != ours[var.name]:
            yield var.name, show_value(var.type, theirs[var.name]), show_value(var.type, ours[var.name])
