"""Small random transition systems and goals, made from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Iff, Implies, Ite, Not, Or

from bmc.formulas.unroll import framed
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from properties.goal import Goal, goal_length

TWO_BITS = ValueType("two_bits", 2)
TYPES = {"rs_flag": BOOLEAN, "rs_a": TWO_BITS, "rs_b": TWO_BITS}
INPUT_TYPES = {"ri_push": BOOLEAN, "ri_dial": ValueType("bit", 1)}


@dataclass(frozen=True)
class RandomCase:
    """A system with goals and a final condition (None: anywhere)."""

    system: TransitionSystem
    goals: tuple[Goal, ...]
    final: FNode | None


def random_case(seed: int, goals: int = 4, longest: int = 3, inputs: int = 2) -> RandomCase:
    """Up to ``goals`` goals of length at most ``longest``; constraints may lead into dead ends."""
    rng = random.Random(seed)
    inputs_used = list(INPUT_TYPES)[: rng.randint(1, inputs)]
    state = [TYPES[name].symbol(name) for name in TYPES]
    given = [INPUT_TYPES[name].symbol(name) for name in inputs_used]
    system = TransitionSystem(
        name=f"random {seed}",
        state=tuple(
            StateVariable(name, kind, kind.constant(rng.randint(0, 3)), _term(rng, kind, [*state, *given], 3))
            for name, kind in TYPES.items()
        ),
        inputs=tuple(InputVariable(name, INPUT_TYPES[name]) for name in inputs_used),
        input_constraint=_condition(rng, [*state, *given], 2) if rng.random() < 0.4 else TRUE(),
        defined=_condition(rng, [*state, *given], 2) if rng.random() < 0.2 else TRUE(),
    )
    made = tuple(_goal(rng, f"g{n}", state, given, longest) for n in range(rng.randint(1, goals)))
    return RandomCase(system, made, _condition(rng, state, 2) if rng.random() < 0.5 else None)


def _goal(rng: random.Random, name: str, state: list[FNode], given: list[FNode], longest: int) -> Goal:
    length = rng.randint(0, longest)
    symbols = [framed(s, step) for s in state for step in range(length + 1)]
    symbols += [framed(s, step) for s in given for step in range(length)]
    formula = And([_condition(rng, symbols, 1) for _ in range(rng.randint(1, 2))])
    consequent = _condition(rng, symbols, 1) if rng.random() < 0.5 else None
    used = [formula] if consequent is None else [formula, consequent]
    return Goal(name, formula, consequent, goal_length(used, set(INPUT_TYPES)))


def _term(rng: random.Random, kind: ValueType, symbols: list[FNode], depth: int) -> FNode:
    if kind is BOOLEAN:
        return _condition(rng, symbols, depth)
    return _number(rng, symbols, depth)


def _condition(rng: random.Random, symbols: list[FNode], depth: int) -> FNode:
    flags = [s for s in symbols if s.get_type().is_bool_type()]
    numbers = [s for s in symbols if s.get_type().is_bv_type(2)]
    bits = [s for s in symbols if s.get_type().is_bv_type(1)]
    if depth == 0 or rng.random() < 0.15:
        kinds = [k for k, there in (("flag", flags), ("number", numbers), ("bit", bits)) if there]
        chosen = rng.choice(kinds)
        if chosen == "flag":
            return rng.choice([rng.choice(flags), Not(rng.choice(flags))])
        if chosen == "bit":
            return rng.choice(bits).Equals(BV(rng.randint(0, 1), 1))
        return rng.choice(numbers).Equals(BV(rng.randint(0, 3), 2))
    left, right = (_condition(rng, symbols, depth - 1) for _ in range(2))
    if numbers and rng.random() < 0.3:
        return rng.choice(numbers).BVULT(_number(rng, symbols, depth - 1))
    return rng.choice([And, Or, Iff, Implies])(left, right)


def _number(rng: random.Random, symbols: list[FNode], depth: int) -> FNode:
    numbers = [s for s in symbols if s.get_type().is_bv_type(2)]
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([*numbers, BV(rng.randint(0, 3), 2)])
    left, right = (_number(rng, symbols, depth - 1) for _ in range(2))
    choice = rng.randint(0, 3)
    if choice == 0:
        return left + right
    if choice == 1:
        return left ^ right
    return Ite(_condition(rng, symbols, depth - 1), left, right)
