"""Random systems with further variables of which it is known whether they can make a difference."""

from __future__ import annotations

import random
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Ite, Not, Or
from random_systems import TWO_BITS, RandomCase, random_case

from bmc.system.transition import BOOLEAN, StateVariable, TransitionSystem

CONSTANT = ("lx_fixed", "lx_kept", "lx_follows")
DEAD = ("lx_signal", "lx_delay", "lx_held", "lx_local", "lx_flag")


def padded_case(seed: int, **more: int) -> RandomCase:
    """A random case whose variables also read constants and locals, with block signals that nothing else reads.

    Its behaviour is that of ``random_case`` with another next-state function.
    """
    case = random_case(seed, **more)
    rng = random.Random(1000 + seed)
    system = case.system
    flags = [v.symbol for v in system.state if v.type is BOOLEAN]
    cond = rng.choice(flags)
    numbers = [v.symbol for v in system.state if v.type is TWO_BITS]
    fixed, kept, follows, signal, delay, held, local = (
        TWO_BITS.symbol(name) for name in (*CONSTANT, *DEAD[:5]) if name != "lx_flag"
    )
    flag = BOOLEAN.symbol("lx_flag")
    values = {name: BV(rng.randint(0, 3), 2) for name in ("lx_fixed", "lx_kept", *DEAD[:4])}
    extra = [
        _var("lx_fixed", values["lx_fixed"], fixed),
        _var("lx_kept", values["lx_kept"], Ite(cond, kept, values["lx_kept"])),
        _var("lx_follows", values["lx_fixed"], Ite(kept.Equals(values["lx_kept"]), fixed, rng.choice(numbers))),
        _var("lx_signal", values["lx_signal"], rng.choice(numbers) + delay),
        _var("lx_delay", values["lx_delay"], Ite(flag, signal ^ delay, rng.choice(numbers))),
        _var("lx_held", values["lx_held"], Ite(cond, rng.choice(numbers), held)),
        _var("lx_local", values["lx_local"], Ite(cond, numbers[0], local)),
        StateVariable("lx_flag", BOOLEAN, None, And(Or(flag, cond), Not(flag))),
    ]
    state = [replace(var, next=_padded(rng, var.next, cond, local, follows, values)) for var in system.state]
    mixed = [*state, *extra]
    rng.shuffle(mixed)
    return replace(case, system=replace(system, state=tuple(mixed)))


def _var(name: str, init: FNode, following: FNode) -> StateVariable:
    return StateVariable(name, TWO_BITS, init, following)


def _padded(
    rng: random.Random, term: FNode, cond: FNode, local: FNode, follows: FNode, values: dict[str, FNode]
) -> FNode:
    """``term``, with a constant read along, and a local that is set before it is used."""
    if term.get_type().is_bool_type():
        return Ite(follows.Equals(values["lx_fixed"]), term, local.Equals(values["lx_held"]))
    used = Ite(cond, term, local) + BV(1, 2)
    moved = Ite(cond, used - BV(1, 2), term)
    return rng.choice([moved, moved ^ follows ^ values["lx_fixed"], term])


def start_states(system: TransitionSystem, rng: random.Random, count: int) -> list[dict[str, int]]:
    """``count`` arbitrary states."""
    return [{v.name: rng.randrange(1 << max(v.type.bits, 1)) for v in system.state} for _ in range(count)]
