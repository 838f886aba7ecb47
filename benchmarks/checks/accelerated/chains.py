"""Long chains over wide counters: what the stage *accelerate* alone finds and proves, and what verify says of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, BVZExt, Ite, Not

from benchmarks.checks.accelerated.compare import verdicts
from bmc.engines.sat import SatEngine
from bmc.formulas.unroll import framed
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.known import Board, Known
from chaincover.limits import Limits
from chaincover.minimality.acceleration import accelerate
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from chaincover.result import Silent
from properties.goal import Goal

MODE = ValueType("long#phase", 2)
NOW = MODE.symbol("long#phase")
GO, STOP = BOOLEAN.symbol("long#go"), BOOLEAN.symbol("long#stop")
FLOW = ValueType("flow", 2)
INFLOW = FLOW.symbol("long#inflow")
# Symbols are made when this is imported, so their names are those of no other program.
IDLE, BUSY, DONE = (BV(number, 2) for number in range(3))


@dataclass(frozen=True)
class Row:
    """What came out for one program: the ``length`` of the chain (None: none) and the bound ``lower``."""

    name: str
    length: int | None
    lower: int
    seconds: float
    verified: str


def rows() -> Iterator[Row]:
    """All programs, one after the other."""
    for name, problem in _programs():
        begin = time.process_time()
        board = Board(Known(problem), Options(), SatEngine(), Limits(), Silent(), Judge(problem))
        accelerate(board)
        seconds, claim = time.process_time() - begin, board.known.proof.acceleration
        verified = "-" if claim is None else verdicts(problem, claim, False)[0]
        yield Row(name, board.known.length, board.known.lower, seconds, verified)


def _programs() -> Iterator[tuple[str, Problem]]:
    for bits, limit in ((16, 100), (32, 5_000)):
        yield f"timer of {bits} bits to {limit:,}", _timed(bits, limit, 1)
    for bits, limit, rate in ((16, 100, 5), (32, 900, 5), (32, 2_500, 2)):
        yield f"timer of {bits} bits to {limit:,}, counts in one of {rate} steps", _timed(bits, limit, rate)
    for limit in (50, 4_000):
        yield f"encoder of 16 bits, {limit:,} up and down", _encoder(limit)
    for inner, outer in ((20, 8), (60, 40), (100, 90)):
        yield f"nested timers of 16 bits, {inner} and {outer}", _nested(inner, outer)
    for limit in (1_000, 12_000):
        yield f"sum of 32 bits up to {limit:,}, 0 to 3 in a step", _sum(limit)


def _machine(
    busy: FNode, counters: dict[FNode, tuple[FNode, FNode]], inputs: tuple[FNode, ...] = ()
) -> TransitionSystem:
    """IDLE until GO, then BUSY until ``busy`` leads to DONE, or STOP to IDLE."""
    going = Ite(NOW.Equals(BUSY), Ite(busy, DONE, BUSY), Ite(NOW.Equals(IDLE), Ite(GO, BUSY, IDLE), DONE))
    state = [StateVariable("long#phase", MODE, IDLE, Ite(STOP, IDLE, going))]
    for symbol, (here, else_) in counters.items():
        kind = ValueType(symbol.symbol_name(), symbol.bv_width())
        following = Ite(NOW.Equals(BUSY), here, else_)
        state.append(StateVariable(symbol.symbol_name(), kind, BV(0, symbol.bv_width()), following))
    variables = [InputVariable(symbol.symbol_name(), BOOLEAN) for symbol in (GO, STOP)]
    variables += [InputVariable(symbol.symbol_name(), FLOW) for symbol in inputs]
    return TransitionSystem("program", tuple(state), tuple(variables))


def _goal(name: str, *parts: FNode) -> Goal:
    """Of one step, BUSY at its begin."""
    plain = {symbol: framed(symbol, 0) for part in parts for symbol in part.get_free_variables()}
    whole = And(NOW.Equals(BUSY), *parts)
    return Goal(name, whole.substitute({**plain, NOW: framed(NOW, 0)}), None, 1)


def _timed(bits: int, limit: int, rate: int) -> Problem:
    timer, divider = ValueType("timer", bits).symbol(f"timer{bits}"), ValueType("divider", 3).symbol("divider")
    tick = divider.Equals(BV(rate - 1, 3))
    zero, last = BV(0, bits), And(timer.Equals(BV(limit - 1, bits)), tick)
    counters = {timer: (Ite(tick, timer.BVAdd(BV(1, bits)), timer), zero)}
    if rate > 1:
        onward = Ite(tick, BV(0, 3), divider.BVAdd(BV(1, 3)))
        counters[divider] = onward, onward
    else:
        counters, last = {timer: (timer.BVAdd(BV(1, bits)), zero)}, timer.Equals(BV(limit - 1, bits))
    goals = _goal("ends", last, Not(STOP)), _goal("in time", last, STOP), _goal("early", Not(last), STOP)
    return Problem(_machine(last, counters), goals, NOW.Equals(IDLE))


def _encoder(limit: int) -> Problem:
    place = ValueType("place", 16).symbol("place")
    up, down = place.BVAdd(BV(1, 16)), place.BVSub(BV(1, 16))
    moved = Ite(INFLOW.Equals(BV(1, 2)), up, Ite(INFLOW.Equals(BV(2, 2)), down, place))
    far, low = place.Equals(BV(limit, 16)), place.Equals(BV(-limit // 2 & 0xFFFF, 16))
    goals = _goal("far", far, STOP), _goal("low", low, STOP), _goal("back", place.Equals(BV(limit // 3, 16)), STOP)
    home = And(NOW.Equals(IDLE), place.Equals(BV(0, 16)))
    return Problem(_machine(far, {place: (moved, moved)}, (INFLOW,)), goals, home)


def _nested(inner: int, outer: int) -> Problem:
    seconds, minutes = (ValueType(name, 16).symbol(name) for name in ("seconds", "minutes"))
    full = seconds.Equals(BV(inner - 1, 16))
    last, zero, one = And(full, minutes.Equals(BV(outer - 1, 16))), BV(0, 16), BV(1, 16)
    counters = {
        seconds: (Ite(full, zero, seconds.BVAdd(one)), zero),
        minutes: (Ite(full, minutes.BVAdd(one), minutes), zero),
    }
    goals = _goal("ends", last, Not(STOP)), _goal("half", minutes.BVUGE(BV(outer // 2, 16)), STOP)
    return Problem(_machine(last, counters), goals, NOW.Equals(IDLE))


def _sum(limit: int) -> Problem:
    level = ValueType("level", 32).symbol("level")
    most, total = BV(limit, 32), level.BVAdd(BVZExt(INFLOW, 30))
    drained = Ite(level.BVULT(BV(2, 32)), BV(0, 32), level.BVSub(BV(2, 32)))
    full = level.Equals(most)
    counters = {level: (Ite(total.BVULT(most), total, most), drained)}
    goals = _goal("full", full), _goal("half", level.BVUGE(BV(limit // 2, 32)), Not(full), STOP)
    return Problem(_machine(full, counters, (INFLOW,)), goals, And(NOW.Equals(IDLE), level.Equals(BV(0, 32))))
