"""Chains and bounds in jumps over the steps that only move a counter, on the graph of ``chaincover.graph.accelerated``.

The lightest path from the start through all events of the goals to an end bounds all chains from below; where its arcs
are those of a run, this is a shortest chain. The searches are those of ``jump_paths``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from itertools import chain
from math import ceil, inf

import numpy as np

from bmc.evaluation.vectors import WORD
from bmc.explicit.input_classes import TooManyValues
from bmc.explicit.rows import groups_of
from bmc.explicit.scope import Inputs
from bmc.footprint import MB
from bmc.invariants.counters import Cells, Starts, candidates, find_counters
from bmc.invariants.induction import Prover
from chaincover.certificate import Acceleration
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE, LongTest
from chaincover.graph.accelerated import Arc, JumpGraph, Jumps, long_test, scope_of, seen_by
from chaincover.graph.counter_steps import MOST_EVENTS
from chaincover.graph.enumerated import ENUMERATING, analysed
from chaincover.known import Board, Reason
from chaincover.limits import PER_UNIT
from chaincover.minimality.induction import with_value_facts
from chaincover.minimality.jump_paths import Distances, LightestPath, NearestRun, PathSearch, ShortestRun, distances
from chaincover.options import STEP_BYTES
from chaincover.orderings.bound import ACCELERATED
from chaincover.problem import Problem
from properties.goal import Events, Goal

KEPT = (0, 2, 8, 32, 128)
"""For how many steps a counter's value is kept that something else moves too: more where a bound leaves a gap."""

DEARER = 6
"""A node of jumps costs as much as so many enumerated states: where it does not stand for more, nothing is gained."""


def accelerate(board: Board) -> None:
    """Jump over what counters do between the values that matter: chains, bounds and verdicts without all values."""
    if board.options.engine != ENUMERATING or board.options.bound is not None or board.known.no_chain:
        return
    cells = _cells(board)
    if cells is None:
        return
    claim, problem, put_off = Acceleration(dict(cells.starts), 0, 0), board.problem, False
    number = min(Events.of(problem.goals, problem.system).number, MOST_EVENTS)
    for kept in KEPT:
        claim = replace(claim, kept=kept)
        chosen = _chosen(board, problem, claim)
        if chosen is None:
            break
        claim, jumps = chosen
        assert jumps.graph is not None
        board.accelerated = claim
        _offer_nearest(board, problem, jumps.graph, (1 << number) - 1)
        graph, ahead = jumps.graph, _ahead(board, jumps.graph, number, runs=False)
        put_off = _too_far(board, problem, graph, ahead) and kept < KEPT[-1]
        if not put_off and board.known.targets == problem.names:
            _search(board, problem, graph, claim, ahead)
        if board.settled or board.known.no_chain or board.known.targets != problem.names:
            return  # for other targets the stage begins anew
        claim = replace(claim, slow=jumps.slow)
    if put_off and board.accelerated is not None:
        _search(board, problem, graph, board.accelerated, ahead)


def _cells(board: Board) -> Cells | None:
    """The counters with their cells, of all goals: verdicts on some rest on them too. None where targets read none."""
    problem = board.problem
    limits = board.limits
    limits.spend(2 * analysed(problem.system))  # scopes are slices
    if any(var.type.bits > WORD for var in problem.system.state) or not candidates(scope_of(problem).system):
        return None
    board.say("accelerate: cells of counters")
    problem = with_value_facts(board)
    prover = Prover(board.engine, limits.for_query, limits.question())
    system = scope_of(problem).system
    return find_counters(system, seen_by(problem), prover, _worthwhile(board, [var.name for var in system.state]))


def _worthwhile(board: Board, variables: Sequence[str]) -> Callable[[Starts], bool]:
    """Tells of cells whether jumps over them may have few enough nodes; looked at again for a quarter more cells.
    Every enumerated state has a node that differs from it within cells only."""
    next_look = 0

    def worthwhile(starts: Starts) -> bool:
        nonlocal next_look
        board.limits.check()
        states, cells = board.known.enumerated, sum(map(len, starts.values()))
        if states is None or cells < next_look:
            return True
        next_look = 5 * cells // 4
        columns = ((name, column) for name, column in states.states.columns.items() if name in variables)
        rows = [np.searchsorted(starts[n], part, "right") if n in starts else part for n, part in columns]
        board.limits.spend(len(rows) * len(states.states) / PER_UNIT.values)
        return len(groups_of(rows, len(states.states))[0]) <= _most_nodes(board)

    return worthwhile


def _most_nodes(board: Board) -> float:
    """More nodes than this take longer than the enumerated states."""
    known = board.known
    states = known.reachable if known.enumerated is None else len(known.enumerated.states)
    return states / DEARER if states else inf


def _chosen(board: Board, problem: Problem, claim: Acceleration) -> tuple[Acceleration, Jumps] | None:
    """The graph of jumps, and ``claim`` with the counters that are jumped over; None where there is none.

    Where not all are, the graph with the fewest nodes is taken: without those that are not, or without another one. A
    timer behind a divider of the step's rate is only jumped over where the values of the divider are walked through.
    """
    jumps = _built(board, problem, claim, _most_nodes(board))
    if jumps is None:
        return None
    if jumps.jumped == claim.cells.keys():
        return claim, jumps
    best = _over_all(board, problem, claim, jumps.jumped, None)
    for name in sorted(jumps.jumped):
        best = _over_all(board, problem, claim, claim.cells.keys() - {name}, best) or best
    return best


def _over_all(
    board: Board, problem: Problem, claim: Acceleration, names: Set[str], best: tuple[Acceleration, Jumps] | None
) -> tuple[Acceleration, Jumps] | None:
    """The graph of jumps, and ``claim``, for the counters ``names`` but for those that it does not jump over then; None
    where there is none, or none with fewer nodes than the ``best`` one."""
    while names:
        fewer = replace(claim, cells={name: claim.cells[name] for name in claim.cells if name in names})
        jumps = _built(board, problem, fewer, _most_nodes(board) if best is None else best[1].size - 1)
        if jumps is None:
            return None
        if jumps.jumped == names:
            return fewer, jumps
        names = jumps.jumped
    return None


def _built(board: Board, problem: Problem, claim: Acceleration, most: float) -> Jumps | None:
    """The graph of jumps; None where goals read no counter, there are too many inputs, or more than ``most`` nodes."""
    scope = scope_of(problem)
    if not any(var.name in claim.cells for var in scope.system.state):
        return None
    board.say(f"accelerate: jumps of {told(claim.cells)}")
    inputs = Inputs(scope)
    try:
        for work in inputs.prepare():
            board.limits.spend(work / PER_UNIT.values)
            board.limits.check()
        if inputs.every is None:
            return None
        jumps = Jumps(problem, scope, inputs, claim)
        for work in jumps.advance():
            board.limits.spend(work / PER_UNIT.values)
            board.limits.check()
            if jumps.size > most:
                return None
    except TooManyValues:
        return None
    return None if jumps.graph is None else jumps


def _search(board: Board, problem: Problem, graph: JumpGraph, claim: Acceleration, ahead: Distances) -> None:
    """What ``graph`` with the distances ``ahead`` tells: goals that no chain covers, a bound, and chains."""
    events, number = Events.of(problem.goals, problem.system), len(ahead.over)
    if _rule_out(board, events, graph, claim, ahead):
        return
    search = LightestPath(graph, (1 << number) - 1, ahead)
    _run(board, search, lambda: _prove(board, search, claim))
    if search.finished and search.path is None:
        board.tell(no_chain=f"all jumps of {told(claim.cells)} were searched")
        return
    if search.path is not None:
        _offer(board, problem, graph, search.path)
    if board.settled:
        return
    runs = ShortestRun(graph, problem, _ahead(board, graph, number, runs=True))
    _run(board, runs)
    if runs.path is not None:
        _offer(board, problem, graph, runs.path)


def _run(board: Board, search: PathSearch, pause: Callable[[], None] = lambda: None) -> None:
    """Let ``search`` go on to its end, counted as work, with a ``pause`` after each portion."""
    counted = 0
    for _ in chain(search.advance(), (None,)):
        before, counted = counted, search.work
        board.limits.spend((counted - before) / PER_UNIT.arcs)
        pause()
        board.limits.check()


def _offer(board: Board, problem: Problem, graph: JumpGraph, path: Sequence[Arc]) -> None:
    """Offer the run along ``path``, if it is one, as far as it can be stored."""
    most, steps = board.most_steps, sum(arc.weight for arc in path)
    if most < steps <= board.options.most_steps:
        board.give_up("accelerate", f"a run of {steps:,} steps takes {steps * STEP_BYTES // MB:,} MB")
    run = graph.run(problem, path, most)
    if run is not None:
        board.offer(run)


def _ahead(board: Board, graph: JumpGraph, events: int, runs: bool) -> Distances:
    """The distances, counted as work."""
    found = distances(graph, events, runs)
    board.limits.spend(sum(map(len, graph.arcs)) * (events + 1) / PER_UNIT.weighed_arcs)
    board.limits.check()
    return found


def told(counters: Iterable[str]) -> str:
    """The counters, as text."""
    return ", ".join(f"'{name}'" for name in counters)


def _prove(board: Board, search: LightestPath, claim: Acceleration) -> None:
    lower = ceil(search.lower)
    if lower > board.known.lower:
        board.prove(acceleration=replace(claim, bound=lower), basis=ACCELERATED)


def _rule_out(board: Board, events: Events, graph: JumpGraph, claim: Acceleration, ahead: Distances) -> bool:
    """Whether there are goals that no run covers, or that none covers on a way to an end; they get their verdict."""
    happens, reached, todo = graph.begun, {0}, [0]
    while todo:
        for arc in graph.arcs[todo.pop()]:
            happens |= arc.mask
            if arc.target not in reached:
                reached.add(arc.target)
                todo.append(arc.target)
    how = f"all jumps of {told(claim.cells)} were searched"
    gone: dict[str, Reason] = {}
    for goal, numbers in events.of_goal.items():
        known = [event for event in numbers if event < MOST_EVENTS]
        if any(not happens >> event & 1 for event in known):
            gone[goal] = Reason(UNREACHABLE, f"no run covers it: {how}")
        elif any(not graph.begun >> event & 1 and ahead.over[event][0] == inf for event in known):
            gone[goal] = Reason(NO_WAY_TO_FINAL, f"reached, but no run goes on to the final condition: {how}")
    if gone:
        board.rule_out(gone)
    return bool(gone)


def _too_far(board: Board, problem: Problem, graph: JumpGraph, ahead: Distances) -> bool:
    """Whether no run as short as those that are stored covers some goal, and no longer one is found here: one may be
    found where more values are kept. Where it is, the goal is set aside."""
    most = board.options.most_steps
    if not board.sets_aside or all(way[0] <= most or way[0] == inf for way in ahead.over):
        return False
    if problem.final is not None:
        ahead = _ahead(board, replace(graph, ends=[True] * graph.size), len(ahead.over), runs=False)
    far = _far(problem, graph, ahead, most)
    found: dict[str, LongTest] = {}
    for goal, event in far:
        _run(board, search := NearestRun(graph, 0, 1 << event))
        test = None if search.path is None else long_test(graph, goal, search.path)
        found |= {} if test is None else {goal.name: test}
    board.set_aside(found)
    return len(found) < len(far)


def _far(problem: Problem, graph: JumpGraph, ahead: Distances, most: int) -> list[tuple[Goal, int]]:
    """The goals that are covered where one event is, each with that event, to which the nearest run takes more than
    ``most`` steps."""
    events = Events.of(problem.goals, problem.system)
    own = [(goal, events.of_goal[goal.name][0]) for goal in problem.goals if goal.name in events.whole]
    later = [(goal, event) for goal, event in own if event < MOST_EVENTS and not graph.begun >> event & 1]
    return [(goal, event) for goal, event in later if most < ahead.over[event][0] < inf]


def _offer_nearest(board: Board, problem: Problem, graph: JumpGraph, wanted: int) -> None:
    """Offer the run that goes to the nearest missing event, again and again, and then to an end."""
    path: list[Arc] = []
    node, missing, at_end = 0, wanted & ~graph.begun, False
    while not at_end:
        _run(board, search := NearestRun(graph, node, missing))
        at_end = not missing
        missing = missing if search.path else 0
        for arc in search.path or ():
            path.append(arc)
            node, missing = arc.target, missing & ~arc.mask
    _offer(board, problem, graph, path)
