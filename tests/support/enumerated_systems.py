"""Small random systems for enumeration, and the slow, plain check that a graph of states is right."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Iff, Implies, Ite, Not, Or

from bmc.explicit.state_graph import StateGraph
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import framed
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    ValueType,
)

WORD = ValueType("word", 2)


def random_system(seed: int, open_values: bool) -> tuple[TransitionSystem, list[FNode]]:
    """A system of five state variables and four inputs that are compared with constants, the state and each other.

    Formulas over plain symbols to be told apart come with it. With ``open_values`` init leaves some variables open;
    most of what is read of these is guarded by a flag.
    """
    rng = random.Random(seed)
    kinds = {"es_first": BOOLEAN, "es_a": WORD, "es_b": WORD, "es_old": WORD, "es_kept": WORD}
    given = {"ei_x": WORD, "ei_y": WORD, "ei_z": WORD, "ei_f": BOOLEAN}
    symbols = [kind.symbol(name) for name, kind in (kinds | given).items()]
    made = _Maker(rng, symbols, guarded=("es_old", "es_kept") if open_values else ())
    first, old, kept = (kinds[name].symbol(name) for name in ("es_first", "es_old", "es_kept"))
    nexts = {
        "es_first": FALSE() if rng.random() < 0.8 else made.condition(2),
        "es_a": made.number(3),
        "es_b": Ite(made.condition(2), made.number(1), BV(rng.randrange(4), 2)),
        "es_old": Ite(first, made.number(2), old)
        if rng.random() < 0.7
        else Ite(made.condition(1), old, made.number(2)),
        "es_kept": Ite(made.condition(2), rng.choice([kept, old, made.number(1)]), kept),
    }
    state = []
    for name, kind in kinds.items():
        is_open = open_values and name in ("es_old", "es_kept")
        start = None if is_open else kind.constant(1 if name == "es_first" else rng.randrange(4))
        state.append(StateVariable(name, kind, start, nexts[name]))
    inputs = []
    for name, kind in given.items():
        low = rng.randrange(3)
        values = ((low, rng.randrange(low, 4)),) if kind is WORD and rng.random() < 0.5 else ()
        inputs.append(InputVariable(name, kind, values))
    system = TransitionSystem(
        f"enumerated {seed}",
        tuple(state),
        tuple(inputs),
        input_constraint=made.condition(2) if rng.random() < 0.4 else TRUE(),
        defined=made.condition(2) if rng.random() < 0.2 else TRUE(),
    )
    return system, [made.condition(2) for _ in range(rng.randint(0, 2))]


class _Maker:
    """Random terms; the symbols called ``guarded`` are mostly read where the first step is over."""

    def __init__(self, rng: random.Random, symbols: Sequence[FNode], guarded: Sequence[str]) -> None:
        self._rng = rng
        self._first = symbols[0]
        self._guarded = [s for s in symbols if s.symbol_name() in guarded]
        self._words = [s for s in symbols if s.get_type().is_bv_type() and s not in self._guarded]
        self._flags = [s for s in symbols if s.get_type().is_bool_type()]

    def number(self, depth: int) -> FNode:
        rng = self._rng
        if self._guarded and rng.random() < 0.15:
            return Ite(self._first, self.number(0), rng.choice(self._guarded))
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self._words, BV(rng.randrange(4), 2)])
        left, right = self.number(depth - 1), self.number(depth - 1)
        return rng.choice([left + right, left & right, Ite(self.condition(depth - 1), left, right)])

    def condition(self, depth: int) -> FNode:
        rng = self._rng
        if self._guarded and rng.random() < 0.1:
            return And(Not(self._first), rng.choice(self._guarded).BVULT(self.number(0)))
        if depth == 0 or rng.random() < 0.3:
            left, right = self.number(0), self.number(0)
            return rng.choice([left.BVULT(right), left.Equals(right), rng.choice(self._flags)])
        left, right = self.condition(depth - 1), self.condition(depth - 1)
        return rng.choice([And(left, right), Or(left, right), Iff(left, right), Implies(left, right), Not(left)])


def placed(formulas: Sequence[FNode]) -> list[FNode]:
    """``formulas`` at step 0."""
    return [f.substitute({s: framed(s, 0) for s in f.get_free_variables()}) for f in formulas]


def check_graph(
    system: TransitionSystem, formulas: Sequence[FNode], graph: StateGraph, framed_formulas: Sequence[FNode] = ()
) -> None:
    """The runs of ``system`` and those of ``graph`` are the same, but for inputs that nothing tells apart.

    Each reachable state of the system, with all its values, goes with one of the graph: what ``formulas`` say is the
    same in both, every allowed input leads to states that go together, and so does every step of the graph.
    ``formulas`` are over plain symbols of one step; where they read an input, they count only where a step is allowed.
    ``framed_formulas`` read the state at steps 0 and 1, and the input at step 0.
    """
    simulator = Simulator(system)
    told = compile_formulas(formulas)
    over_step = compile_formulas(framed_formulas)
    inputs = {var.name for var in system.inputs}
    on_states = [
        place for place, f in enumerate(formulas) if not inputs & {s.symbol_name() for s in f.get_free_variables()}
    ]
    every = [dict(zip(names, values, strict=True)) for names, values in [_domain(system)] for values in values]
    nothing = dict.fromkeys(inputs, 0)
    shown = list(graph.states.columns)
    known = [
        {name: row[name] for name in shown if name not in graph.states.open or not graph.states.open[name][place]}
        for place, row in enumerate(graph.states)
    ]
    assert len({tuple(sorted(state.items())) for state in known}) == len(known)
    plain_inputs = [{name: row[name] for name in inputs} for row in graph.inputs]

    def matches(state: Valuation, number: int) -> bool:
        return all(state[name] == value for name, value in known[number].items())

    def seen(state: Valuation, values: Valuation) -> tuple[int, ...]:
        return tuple(told({**state, **values}))

    starts = [(state, [n for n in graph.starts if matches(state, n)]) for state in _starts(system, simulator)]
    assert all(len(numbers) == 1 for _, numbers in starts)
    todo = [(state, numbers[0]) for state, numbers in starts]
    done = {(tuple(state.values()), number) for state, number in todo}
    while todo:
        state, number = todo.pop()
        shadow = {**state, **{name: graph.states[number][name] for name in shown}}
        one, other = seen(state, nothing), seen(shadow, nothing)
        assert [one[place] for place in on_states] == [other[place] for place in on_states]
        steps = graph.steps[number]
        effects: dict[tuple[tuple[int, ...], int], list[Valuation]] = {}
        for choice, after in steps:
            values = plain_inputs[choice]
            assert simulator.allowed(state, values)
            assert matches(simulator.step(state, values), after)
            assert seen(state, values) == seen(shadow, values)
            following = simulator.step(state, values)
            other_after = {**following, **{name: graph.states[after][name] for name in shown}}
            runs = [_framed(state, values, following), _framed(shadow, values, other_after)]
            assert over_step(runs[0]) == over_step(runs[1])
            effects.setdefault((seen(state, values), after), []).append(values)
        for values in every:
            if simulator.allowed(state, values):
                following = simulator.step(state, values)
                fitting = [
                    after for (effect, after) in effects if effect == seen(state, values) and matches(following, after)
                ]
                assert fitting, (state, values)
                fresh = [after for after in fitting if (tuple(following.values()), after) not in done]
                done.update((tuple(following.values()), after) for after in fresh)
                todo += [(following, after) for after in fresh]
    assert {number for _, number in done} == set(range(len(graph.states)))


def _framed(state: Valuation, inputs: Valuation, after: Valuation) -> Valuation:
    at_step = {f"{name}@0": value for part in (state, inputs) for name, value in part.items()}
    return {**at_step, **{f"{name}@1": value for name, value in after.items()}}


def _domain(system: TransitionSystem) -> tuple[list[str], list[tuple[int, ...]]]:
    ranges = []
    for var in system.inputs:
        spans = var.values or ((var.type.least, var.type.greatest),)
        ranges.append([value % (1 << max(var.type.bits, 1)) for low, high in spans for value in range(low, high + 1)])
    return [var.name for var in system.inputs], list(product(*ranges))


def _starts(system: TransitionSystem, simulator: Simulator) -> list[Valuation]:
    left = [var for var in system.state if var.init is None]
    values = product(*(range(1 << max(var.type.bits, 1)) for var in left))
    return [simulator.initial({var.name: v for var, v in zip(left, row, strict=True)}) for row in values]
