"""A lock that opens after many steps beside bits that another input mixes, and the stages that search for its goals."""

from __future__ import annotations

from boards import Kept
from problems import problem_of
from pysmt.shortcuts import TRUE, And, Ite

from bmc.engines import choose
from bmc.formulas.unroll import at
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.known import Board, Known
from chaincover.limits import UNITS, Limits
from chaincover.options import Options
from chaincover.pipeline import STAGES
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from chaincover.stages import take_turns
from properties.goal import Goal

FLAG, TIME, WIDE = ValueType("flag", 1), ValueType("time", 10), ValueType("wide", 20)
DEPTH = 700
"""Steps in a row in which an input has to alternate: no random run does that."""


def searched(problem: Problem, *names: str, units: float = 30.0) -> Board:
    """The board on which the stages ``names`` have worked, for so many units of work."""
    limits, engine = Limits(effort=units / UNITS), choose("auto")
    limits.watch(engine)
    options = Options(overlap=problem.overlap)
    board = Board(Known(problem), options, engine, limits, Kept(), Judge(problem))
    take_turns([stage for stage in STAGES if stage.name in names], board)
    return board


def lock_and_mixer() -> TransitionSystem:
    """A lock opens after ``DEPTH`` steps in which an input alternates; beside it 20 bits are mixed by another input."""
    key, mix = FLAG.symbol("alone_key"), FLAG.symbol("alone_mix")
    before, count, mixed = FLAG.symbol("alone_before"), TIME.symbol("alone_count"), WIDE.symbol("alone_mixed")
    turned = Ite(count.BVULT(TIME.constant(DEPTH)), count + TIME.constant(1), count)
    stirred = mixed * WIDE.constant(5) + Ite(mix.Equals(FLAG.constant(1)), WIDE.constant(7919), WIDE.constant(3))
    state = (
        StateVariable("alone_before", FLAG, FLAG.constant(0), key),
        StateVariable("alone_count", TIME, TIME.constant(0), Ite(key.Equals(before), TIME.constant(0), turned)),
        StateVariable("alone_mixed", WIDE, WIDE.constant(0), stirred),
    )
    inputs = tuple(InputVariable(name, FLAG, ((0, 1),)) for name in ("alone_key", "alone_mix"))
    return TransitionSystem("lock and mixer", state, inputs, TRUE())


def lock_and_mixer_problem() -> Problem:
    """The open lock is far away; the other goal takes two steps and reads the 20 bits."""
    count, mixed, mix = TIME.symbol("alone_count"), WIDE.symbol("alone_mixed"), FLAG.symbol("alone_mix")
    low = mixed.BVExtract(0, 1).Equals(WIDE.constant(3).BVExtract(0, 1))
    twice = And(at(mix.Equals(FLAG.constant(1)), 0), at(mix.Equals(FLAG.constant(1)), 1), at(low, 0))
    goals = [Goal("open", at(count.Equals(TIME.constant(DEPTH)), 0), None, 0), Goal("stirred", twice, None, 2)]
    problem = problem_of(lock_and_mixer(), goals, None)
    return problem.in_one_step(problem.names)[0]
