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
from math import inf

from bmc import ending, footprint
from bmc.engines import choose as choose_engine
from bmc.engines import listen
from bmc.errors import LimitReached, MemoryLimitReached, StepTooLarge
from bmc.explicit.vectors import node_count
from chaincover.concretise.canonical import canonical_inputs
from chaincover.concretise.tidy import tidy
from chaincover.graph.enumerated import AT_ONCE, STATES_PER_UNIT, STATES_PORTION, enumerate_states, exact_graph
from chaincover.known import Board, Known
from chaincover.limits import Limits
from chaincover.minimality.claims import result_of
from chaincover.minimality.explicit_sub_paths import find_tests
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.reductions.reduction import Reduction, distinct_goals, in_turn
from chaincover.reductions.slicing import sliced_problem
from chaincover.replay.judge import Judge
from chaincover.result import INTERRUPT, ChainResult, Listener, Silent
from chaincover.stages import FIRST_TURN, Profiler, Stage, later, take_turns

SHORTEST = "shortest chain"
IMPLIED, INDUCTION = "chaincover.minimality.implied", "chaincover.minimality.induction"
RUNS, NORMAL_FORM = later("chaincover.runs.random:random_runs"), later("chaincover.reductions.slicing:to_normal_form")
ACCELERATE = later("chaincover.minimality.acceleration:accelerate")
LISTING = (AT_ONCE - 0.5) * STATES_PORTION / STATES_PER_UNIT
"""Units of work after which the turn is over in which most states are listed."""

NODES_PER_UNIT = 5_000
"""Operations of a step for each unit of work of the first random runs, where the states are not listed by then: about
so many are read in a second. With twice as many, the first chain comes sooner, with fewer goals."""


def as_long_as_reading(board: Board) -> float:
    """Units of work that are about as long as the step took to be read."""
    return node_count([var.next for var in board.known.problem.system.state]) / NODES_PER_UNIT


def unlisted(board: Board) -> bool:
    """Whether the reachable states are not enumerated, or not yet."""
    return board.known.enumerated is None


def form_undecided(board: Board) -> bool:
    """Whether they are not, and it is not decided either if they have a normal form."""
    return unlisted(board) and board.restore is None


LONG = 4.0
"""Units of work in the long turn of random runs. With twice as many, a first chain has more goals, and all that comes
after waits for it."""


def rest_of_listing(board: Board) -> float:
    """Units of work that it takes to list what follows the states known so far; infinite where that is not known."""
    return inf if board.enumeration is None else board.enumeration.rest / STATES_PER_UNIT


def nearly_listed(board: Board) -> bool:
    """Whether the states are not enumerated, but may be in less work than the long turn of random runs takes.

    If so again after a turn of that work, as many states wait as before: a counter goes on.
    """
    return unlisted(board) and rest_of_listing(board) <= LONG


def while_counting(board: Board) -> float:
    """Units of work for distances: few where a counter goes on, for jumps over its values may tell all of them."""
    return FIRST_TURN if nearly_listed(board) else 1.0


STAGES = (
    Stage("enumerate", enumerate_states, LISTING, for_targets=False, early=unlisted),
    Stage("simulate", RUNS, as_long_as_reading, for_targets=False, early=unlisted),
    Stage("normal form", NORMAL_FORM, 0.5, for_targets=False, early=unlisted),
    Stage("simulate", RUNS, first_turn=0.45, for_targets=False, early=form_undecided),
    Stage("normal form", NORMAL_FORM, inf, for_targets=False, early=form_undecided),
    Stage("enumerate", enumerate_states, first_turn=0.4, for_targets=False),
    Stage("simulate", RUNS, for_targets=False, early=unlisted),
    Stage("enumerate", enumerate_states, rest_of_listing, for_targets=False, early=nearly_listed),
    Stage("implied goals", later(f"{IMPLIED}:represent_implied_on_states"), 4.0, for_targets=False),
    Stage("exact graph", exact_graph, first_turn=while_counting),
    Stage("tour", later("chaincover.minimality.path_weights:shortest_tour"), first_turn=5.0),
    Stage("product search", later("chaincover.minimality.product:search_product"), 0.5, question=SHORTEST),
    Stage("covering flow", later("chaincover.minimality.covering_flow:cover_by_flow"), question=SHORTEST),
    Stage("path weights", later("chaincover.minimality.path_weights:learn_path_weights"), first_turn=1.0),
    Stage("accelerate", ACCELERATE, first_turn=1.0, early=nearly_listed),
    Stage("simulate", RUNS, LONG, for_targets=False),
    Stage("leave out", later("chaincover.runs.leave_out:leave_out_steps"), first_turn=4.0),
    Stage("each goal alone", later("chaincover.reductions.alone:each_alone"), first_turn=1.0),
    Stage("simulate from tests", later("chaincover.runs.random:runs_from_tests"), for_targets=False),
    Stage("accelerate", ACCELERATE, first_turn=2.5),
    Stage("invariants", later(f"{INDUCTION}:find_invariants"), first_turn=4.0, for_targets=False),
    Stage("trial runs", later("chaincover.runs.nearest:trial_runs"), first_turn=5.0, for_targets=False),
    Stage("whole lengths", later("chaincover.minimality.windows:refute_lengths"), first_turn=4.0),
    Stage("implied goals", later(f"{IMPLIED}:represent_implied"), 4.0, for_targets=False),
    Stage("graph", later("chaincover.graph.reachability:grow"), for_targets=False),
    Stage("get chain", later("chaincover.concretise.get_chain:get_chain")),
    Stage("nearest goal first", later("chaincover.runs.nearest:nearest_goal_first")),
    Stage("windows", later("chaincover.minimality.windows:shorten_windows")),
    Stage("other orders", later("chaincover.concretise.get_chain:other_orders")),
    Stage("unreachable goals", later(f"{INDUCTION}:prove_unreachable")),
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
            reduction = in_turn(problem, (distinct_goals, monitored, sliced_problem))
    except LimitReached as error:
        reduction, stopped_by = Reduction(problem, lambda result: result), error.limit
    except KeyboardInterrupt as error:
        reduction, stopped_by = Reduction(problem, lambda result: result), str(error) or INTERRUPT

    def whole(result: ChainResult, normal: Callable[[ChainResult], ChainResult] | None) -> ChainResult:
        return reduction.restore(result if normal is None else normal(result))

    def improved(known: Known) -> None:
        normal = board.restore
        listener.improved(lambda: whole(replace(result_of(board, known, ""), finished=False), normal))

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
            if any(not goal.length for goal in board.problem.goals):
                board.offer(board.judge.empty_run())
            take_turns(stages, board)
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
        board.known = replace(board.known, chain=tidy(board.known, board.limits.after()))
    return stopped_by
