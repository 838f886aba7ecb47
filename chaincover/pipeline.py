"""Algorithm 1: from a transition system and goals to the best chain, and a bound on how short any chain can be.

Algorithms are numbered as in P. Schrammel, T. Melham, D. Kroening: Generating test case chains for reactive systems,
2014; docs/development/architecture.md says where each one is.

The stages below work in turns on what is known (``chaincover.stages``), in the order of ``STAGES``. First come the
reachable states, where they can be enumerated: they give the exact K-reachability graph (Algorithms 2, 3 and 10),
bounds and shortest chains. A first chain is found by simulation. Where the states are not enumerated, or K is bound,
the graph is grown by queries, and a covering path is made concrete (Algorithms 4, 8, 9, 11 and 12), or another one
where that fails (Algorithm 5); then shorter chains and higher bounds are sought until they meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import inf

from bmc import ending, footprint
from bmc.ending import INTERRUPT
from bmc.engines import choose as choose_engine
from bmc.engines import listen
from bmc.errors import LimitReached, MemoryLimitReached, StepTooLarge
from bmc.evaluation.vectors import node_count
from chaincover.concretise.canonical import canonical_inputs
from chaincover.concretise.tidy import tidy
from chaincover.facts import (
    ASKING,
    BETTER,
    CHAIN,
    COMPLETE,
    COUNTED,
    DECIDED,
    DISTANCES,
    EXACT,
    FLOATING,
    FORM,
    LISTED,
    NEAR,
    OBSERVED,
    PRICES,
    SHORT,
    STATES,
    STUCK,
    TARGETS,
    WALKS,
    WHOLE,
    Fact,
)
from chaincover.graph.enumerated import LISTING, enumerate_states, exact_graph
from chaincover.known import Board, Known
from chaincover.limits import PER_UNIT, Limits
from chaincover.minimality.claims import result_of
from chaincover.minimality.explicit_sub_paths import find_tests
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.reductions.reduction import Reduction, distinct_goals, in_turn
from chaincover.reductions.slicing import first_slice
from chaincover.reductions.starts import few_starts
from chaincover.replaying.judge import Judge
from chaincover.result import ChainResult, Listener, Silent
from chaincover.stages import FIRST_TURN, PARTS, Profiler, Stage, later, take_turns

SHORTEST = "shortest chain"


def as_long_as_reading(board: Board) -> float:
    """Units of work that are about as long as the step took to be read."""
    return node_count([var.next for var in board.known.problem.system.state]) / PER_UNIT.read_nodes


EXPLORED = 64
"""Units of work for the first exploration, for each one that reading takes. With twice as many, bounds for small
programs with goals that cannot be covered come later."""

LONG = 4.0
"""Units of work in the long turn of random runs. With twice as many, a first chain has more goals, and all that comes
after waits for it."""


def as_long_as_exploring(board: Board) -> float:
    """Units of work for the first exploration: less where the step is small."""
    return min(2 * LONG, EXPLORED * as_long_as_reading(board))


def once_complete(board: Board) -> float:
    """Units of work for smaller systems beside the search for a chain: brief while goals are missing, whose runs they
    do not bring; then long, as what bounds the chain leads to a shorter one, too."""
    return 2 * LONG if board.known.complete else 1.5


def rest_of_listing(board: Board) -> float:
    """Units of work that it takes to list what follows the states known so far; infinite where that is not known."""
    return inf if board.enumeration is None else board.enumeration.rest / PER_UNIT.values


def _nearly_listed(board: Board) -> bool:
    """Whether the states may be enumerated in less work than the long turn of random runs takes.

    If so again after a turn of that work, as many states wait as before: a counter goes on.
    """
    return board.known.enumerated is None and rest_of_listing(board) <= LONG


NEARLY_LISTED = Fact("states that are soon enumerated", _nearly_listed)


def as_long_as_a_program(board: Board) -> float:
    """Units of work that the first linear program of the covering flow takes, about: as many iterations as there are
    states; no less than a part of a turn. For so long the product search goes on alone, with its own estimate: often
    that is all it takes."""
    states = board.known.enumerated
    assert states is not None
    nodes = len(states.states)
    return max(FIRST_TURN / PARTS, nodes * (nodes + len(states.moves.ends)) / PER_UNIT.simplex)


ENUMERATE = Stage("enumerate", enumerate_states, for_targets=False, gives=(STATES, LISTED, NEARLY_LISTED))
SIMULATE = Stage(
    "simulate", later("chaincover.runs.random:random_runs"), for_targets=False, gives=(CHAIN, COMPLETE, OBSERVED)
)
NORMAL_FORM = Stage(
    "normal form", later("chaincover.reductions.slicing:to_normal_form"), for_targets=False, gives=(FORM,)
)
# without it seat with branches() takes 1.8 times the work
IMPLIED = Stage(
    "implied goals",
    later("chaincover.minimality.implied:represent_implied"),
    4.0,
    for_targets=False,
    gives=(TARGETS, BETTER),
)
PRODUCT = Stage(
    "product search",
    later("chaincover.minimality.product:search_product"),
    needs=(STATES, DISTANCES),
    gives=(CHAIN, COMPLETE, BETTER),
)
ACCELERATE = Stage(
    "accelerate",
    later("chaincover.minimality.acceleration:accelerate"),
    gives=(CHAIN, COMPLETE, TARGETS, BETTER),
)
LOCALISE = Stage("localise", later("chaincover.reductions.localise:localise"), gives=(CHAIN, COMPLETE, BETTER))

STAGES = (
    replace(ENUMERATE, first_turn=LISTING, once=True),
    replace(SIMULATE, first_turn=as_long_as_reading, until=(STATES,), once=True),
    replace(NORMAL_FORM, first_turn=0.5, until=(STATES,), once=True),
    replace(SIMULATE, first_turn=0.45, until=(STATES, FORM), once=True),
    replace(NORMAL_FORM, first_turn=inf, until=(STATES,), once=True),
    replace(ENUMERATE, first_turn=0.4, put_off=FLOATING),
    replace(SIMULATE, until=(STATES,), once=True),
    replace(ENUMERATE, first_turn=rest_of_listing, needs=(NEARLY_LISTED,), once=True),
    replace(IMPLIED, needs=(STATES,)),
    Stage("exact graph", exact_graph, 1.0, gives=(DISTANCES, EXACT, NEAR, TARGETS)),
    # without it grid_80_30 of benchmarks/families ends with twice the steps, and no proof
    Stage(
        "tour",
        later("chaincover.minimality.path_weights:shortest_tour"),
        5.0,
        needs=(STATES, DISTANCES),
        gives=(CHAIN, COMPLETE, BETTER),
    ),
    replace(PRODUCT, first_turn=as_long_as_a_program, once=True),
    Stage(
        "covering flow",
        later("chaincover.minimality.covering_flow:cover_by_flow"),
        question=SHORTEST,
        needs=(STATES, DISTANCES),
        gives=(PRICES, CHAIN, COMPLETE, BETTER),
    ),
    replace(PRODUCT, question=SHORTEST),
    Stage(
        "path weights",
        later("chaincover.minimality.path_weights:learn_path_weights"),
        1.0,
        needs=(DISTANCES, STATES | EXACT | COMPLETE),
        gives=(CHAIN, COMPLETE, ASKING, NEAR, BETTER),
    ),
    Stage(
        "covering search",
        later("chaincover.minimality.covering_search:search_covering_runs"),
        2.0,
        needs=(EXACT,),
        gives=(CHAIN, COMPLETE, BETTER),
    ),
    replace(ACCELERATE, first_turn=1.0, needs=(NEARLY_LISTED,), once=True),
    replace(LOCALISE, first_turn=1.0, once=True),
    replace(SIMULATE, first_turn=LONG),
    Stage(
        "explore",
        later("chaincover.runs.explore:explore"),
        as_long_as_exploring,
        for_targets=False,
        needs=(ASKING,),
        gives=(CHAIN, COMPLETE),
        until=(WALKS,),
    ),
    replace(LOCALISE, first_turn=once_complete),
    Stage(
        "recombine",
        later("chaincover.runs.joining:recombine"),
        2.0,
        needs=(CHAIN,),
        gives=(COMPLETE, BETTER),
        until=(WALKS,),
    ),
    Stage(
        "each goal alone",
        later("chaincover.reductions.alone:each_alone"),
        2.5,
        gives=(CHAIN, COMPLETE, TARGETS, BETTER),
    ),
    replace(ACCELERATE, first_turn=2.5),
    # without it mode of benchmarks/floats takes 1.2 times the work
    Stage(
        "invariants",
        later("chaincover.minimality.induction:find_invariants"),
        4.0,
        for_targets=False,
        gives=(BETTER,),
    ),
    Stage(
        "whole lengths",
        later("chaincover.minimality.windows:refute_lengths"),
        4.0,
        needs=(STATES | WHOLE, NEAR, SHORT),
        gives=(CHAIN, COMPLETE, BETTER),
        put_off=COUNTED,
    ),
    replace(IMPLIED, put_off=COUNTED),
    Stage(
        "graph",
        later("chaincover.graph.reachability:grow"),
        for_targets=False,
        gives=(DISTANCES, WHOLE, CHAIN, TARGETS, BETTER),
    ),
    Stage(
        "get chain",
        later("chaincover.concretise.get_chain:get_chain"),
        needs=(ASKING,),
        gives=(CHAIN, COMPLETE, STUCK, BETTER),
        until=(WALKS,),
    ),
    Stage(
        "nearest goal first",
        later("chaincover.runs.nearest:nearest_goal_first"),
        needs=(ASKING,),
        gives=(CHAIN, COMPLETE),
        until=(WALKS,),
    ),
    Stage(
        "windows",
        later("chaincover.minimality.windows:shorten_windows"),
        needs=(COMPLETE,),
        gives=(BETTER,),
    ),
    # no row needs it; it is Algorithm 5, which the option repair chooses
    Stage(
        "other orders",
        later("chaincover.concretise.get_chain:other_orders"),
        needs=(STUCK,),
        gives=(CHAIN, COMPLETE),
    ),
    # without it two goals of complement of benchmarks/hard/programs stay undecided
    Stage(
        "unreachable goals",
        later("chaincover.minimality.induction:prove_unreachable"),
        needs=(DISTANCES, NEAR),
        gives=(DECIDED, TARGETS),
        until=(STATES,),
    ),
)


def generate(
    problem: Problem,
    options: Options | None = None,
    listener: Listener | None = None,
    stages: Sequence[Stage] = (),
) -> ChainResult:
    """Algorithm 1: the best chain from init through the goals of ``problem`` to its final condition.

    ``listener`` is told of every improvement as it is found. A time limit, an interrupt or a termination gives the
    result so far, with ``stopped_by`` set. UsageError for a wrong option, InputRefused for bad names of goals,
    CheckDisagreed if a result fails its own check. ``stages`` are asked in place of ``STAGES`` if there are any.
    """
    options = options or Options()
    options.check()
    footprint.allow(options.memory_limit)
    problem = replace(problem, overlap=options.overlap)
    problem.check_names()
    with ending.uninterrupted():
        return _generate(problem, options, listener or Silent(), stages or STAGES)


def _generate(problem: Problem, options: Options, listener: Listener, stages: Sequence[Stage]) -> ChainResult:
    """``generate``, of which only the reduction and the search themselves can be interrupted."""
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    stopped_by = ""
    try:
        with ending.interruptible():
            reduction = in_turn(problem, (distinct_goals, monitored, first_slice, few_starts))
    except LimitReached as error:
        reduction, stopped_by = Reduction(problem, lambda result: result), error.limit
    except KeyboardInterrupt as error:
        reduction, stopped_by = Reduction(problem, lambda result: result), str(error) or INTERRUPT

    def whole(result: ChainResult, normal: Callable[[ChainResult], ChainResult] | None) -> ChainResult:
        return reduction.restore(result if normal is None else normal(result))

    def improved(known: Known) -> None:
        normal = board.restore
        listener.improved(cache(lambda: whole(replace(result_of(board, known, ""), finished=False), normal)))

    profiler = Profiler(listener, improved)
    engine = profiler.watch(choose_engine(options.engine, options.memory_limit))
    listen(engine, profiler)
    limits.watch(engine)
    board = Board(Known(reduction.problem), options, engine, limits, profiler, Judge(reduction.problem))
    stopped_by = stopped_by or _search(board, stages)
    result = whole(result_of(board, board.known, stopped_by), board.restore)
    return replace(result, answered=replace(result.answered, profile=profiler.stages()))


def not_begun(problem: Problem, options: Options, stopped_by: str) -> ChainResult:
    """The result of a run that ``stopped_by`` has ended before anything was found out."""
    problem = replace(problem, overlap=options.overlap)
    engine = choose_engine(options.engine, options.memory_limit)
    board = Board(Known(problem), options, engine, Limits(), Silent(), Judge(problem))
    return result_of(board, board.known, stopped_by)


def _search(board: Board, stages: Sequence[Stage]) -> str:
    """Let ``stages`` work; what stopped them early, or ''. The best chain then gets readable inputs.

    Goals that hold after init are covered before any stage, by the run of no step.
    """
    stopped_by = ""
    try:
        with ending.interruptible():
            if not all(goal.takes_step for goal in board.problem.goals):
                board.offer(board.judge.empty_run())
            take_turns(stages, board)
            if board.limits.used_up and not board.known.complete:
                later("chaincover.runs.joining:join_tests")(board)
            find_tests(board)
            board.known = replace(board.known, chain=canonical_inputs(board))
    except StepTooLarge:
        board.known = replace(board.known, chain=tidy(board.known, board.limits.after()))
    except LimitReached as error:
        stopped_by = error.limit
    except MemoryError:
        stopped_by = MemoryLimitReached.limit
    except KeyboardInterrupt as error:
        stopped_by = str(error) or INTERRUPT
    if board.known.gave_up and not (stopped_by or board.settled or board.limits.used_up or board.proved_impossible):
        stopped_by = MemoryLimitReached.limit
    if stopped_by:
        footprint.unlimit_data()
        board.known = replace(board.known, chain=tidy(board.known, board.limits.after(), freely=True))
    return stopped_by
