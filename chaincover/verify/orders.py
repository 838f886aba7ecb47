"""The bound from the order of goals, computed anew.

The cheapest means come first: sums of least edges, the assignment of a successor to each node, all orders depth first
with start times as longest paths. Where these are too many, a linear program is solved that asks for an edge into every
set of goals that it leaves apart from init; its dual solution is rounded to integers and checked in exact arithmetic.
Where that is not enough, a model of orders is given to CP-SAT or to clingo.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from bmc import ending
from bmc.engines import cp_sat
from bmc.records import dataclass
from chaincover.certificate import Certificate, PathFact
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, WRONG, Line, limited
from chaincover.weights import INIT

CHECK = "order bound"
CONFLICTS = 10_000
"""Conflicts of clingo that count as one unit of its work."""
MOST_CONFLICTS = (1 << 32) - 1
"""clingo counts them with 32 bits: this many are no limit."""
LARGEST = 1 << 24
"""The largest weight that clingo is given: it computes with 32 bits."""

SMALL, ENOUGH = 1e-7, 1e-4
"""Flow that counts as none, and what one unit of it may lack."""
PARTS = 1 << 20
"""Parts of a step in which dual solutions are computed."""

Path = tuple[str, ...]
Edges = Mapping[tuple[str, str], int]


def needed_edges(certificate: Certificate) -> list[tuple[str, str]]:
    """The pairs of nodes for which the certificate has to have a bound."""
    goals, end = certificate.goals, certificate.end
    if not goals:
        return [(INIT, end)]
    pairs = [(INIT, b) for b in goals] + [(a, b) for a in goals for b in goals if a != b]
    return pairs + [(a, end) for a in goals]


def order_bound(certificate: Certificate, clock: Clock) -> Line:
    """Whether no order of the goals takes less than the certificate says, by its own facts."""
    if certificate.order_bound == 0:
        return Line(CHECK, HOLDS, "0: no order takes less, whatever the distances")
    edges: dict[tuple[str, str], int] = {}
    for fact in certificate.edges:
        edges[fact.source, fact.target] = max(fact.at_least, edges.get((fact.source, fact.target), 0))
    missing = [
        f"the certificate has no bound for {a} -> {b}" for a, b in needed_edges(certificate) if (a, b) not in edges
    ]
    if missing:
        return Line(CHECK, WRONG, f"{len(missing)} bounds are missing", limited(missing))
    claimed = certificate.order_bound
    far = max((edges[INIT, g] + edges[g, certificate.end] for g in certificate.goals), default=0)
    if far >= claimed:
        return Line(CHECK, HOLDS, f"{claimed}: init to one goal and on to the end already takes {far}")
    model = OrderModel(certificate.goals, certificate.end, edges, certificate.paths)
    if not certificate.paths and model.assigned >= claimed:
        text = f"{claimed}: a successor for each of {len(certificate.goals)} goals already costs {model.assigned}"
        return Line(CHECK, HOLDS, text)
    paths = {fact.path: fact.at_least for fact in sorted(certificate.paths, key=lambda f: f.at_least)}
    search = _Search(certificate.goals, certificate.end, edges, paths, claimed, clock.limits.orders)
    order = search.shorter()
    if order is not None:
        text = f"{claimed} is claimed, but by the same facts an order takes {max(search.cost, far)}"
        return Line(CHECK, WRONG, text, (" -> ".join((INIT, *order, certificate.end)),))
    if search.left > 0:
        return Line(CHECK, HOLDS, f"{claimed}: no order of {len(certificate.goals)} goals takes less")
    sets, dual = dual_bound(model)
    if dual >= claimed:
        text = f"{claimed}: a linear program with {len(sets)} cuts around goals, its dual solution checked exactly"
        return Line(CHECK, HOLDS, text)
    return _by_solver(model, claimed, far, clock)


@dataclass
class _Search:
    """Looks for an order that takes less than ``below``; ``left`` partial orders may still be looked at.

    ``seen`` holds, for the goals passed and the last nodes, the start times of those nodes with which the search has
    been there: with none of them earlier it need not go on. Only as many last nodes count as the longest path fact has.
    """

    goals: Sequence[str]
    end: str
    edges: Edges
    paths: Mapping[Path, int]
    below: int
    left: int
    cost: int = 0
    seen: dict[tuple[frozenset[str], Path], list[tuple[int, ...]]] = field(default_factory=dict)

    def shorter(self) -> tuple[str, ...] | None:
        """An order of the goals that takes less, None if there is none (or no work ``left``)."""
        self._span = max([1, *(len(path) - 1 for path in self.paths)])
        self._behind: dict[Path, list[tuple[Path, int]]] = {}
        for path, steps in self.paths.items():
            self._behind.setdefault(path[-2:], []).append((path, steps))
        self._least = {
            b: min((w for (_, target), w in self.edges.items() if target == b), default=0)
            for b in (*self.goals, self.end)
        }
        return self._extend((INIT,), (0,), frozenset(self.goals))

    def _extend(self, walked: Path, times: tuple[int, ...], rest: frozenset[str]) -> tuple[str, ...] | None:
        self.left -= 1
        if self.left <= 0 or not self._worth(walked, times, rest):
            return None
        if not rest:
            total = self._start(walked, times, self.end)
            self.cost = total
            return walked[1:] if total < self.below else None
        following = sorted((self._start(walked, times, node), node) for node in rest)
        for start, node in following:
            found = self._extend((*walked, node), (*times, start), rest - {node})
            if found is not None:
                return found
        return None

    def _worth(self, walked: Path, times: tuple[int, ...], rest: frozenset[str]) -> bool:
        """Whether less than ``below`` may come of it, and no search has been here as early."""
        if times[-1] + sum(self._least[node] for node in rest) + self._least[self.end] >= self.below:
            return False
        late = times[-self._span :]
        known = self.seen.setdefault((rest, walked[-self._span :]), [])
        if any(all(a <= b for a, b in zip(old, late, strict=True)) for old in known):
            return False
        known.append(late)
        return True

    def _start(self, walked: Path, times: tuple[int, ...], node: str) -> int:
        """The least start time of ``node`` after ``walked``."""
        longer = (*walked, node)
        start = times[-1] + self.edges[walked[-1], node]
        for path, steps in self._behind.get(longer[-2:], ()):
            if path == longer[-len(path) :]:
                start = max(start, times[len(longer) - len(path)] + steps)
        return start


@dataclass(frozen=True)
class OrderModel:
    """Orders of ``goals`` between init and the end as cycles: nodes are numbers, init is 0, the last one the end.

    Each of ``paths`` that an order runs along may delay its nodes beyond the sum of the edges.
    """

    goals: Sequence[str]
    end: str
    edges: Edges
    facts: Sequence[PathFact]

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes."""
        return (INIT, *self.goals, self.end)

    @cached_property
    def weights(self) -> dict[tuple[int, int], int]:
        """The edges by number, with one from the end to init that closes the cycle."""
        number = {name: n for n, name in enumerate(self.names)}
        known = {(number[a], number[b]): w for (a, b), w in self.edges.items() if a in number and b in number}
        return {(a, b): w for (a, b), w in known.items() if a != b and b and a != len(number) - 1} | {
            (len(number) - 1, 0): 0
        }

    @cached_property
    def excess(self) -> list[tuple[tuple[int, ...], int]]:
        """The sub-paths as numbers, each with the steps that it takes more than its edges."""
        number = {name: n for n, name in enumerate(self.names)}
        found = []
        for fact in self.facts:
            nodes = tuple(number[name] for name in fact.path)
            more = fact.at_least - sum(self.weights[edge] for edge in pairwise(nodes))
            if more > 0:
                found.append((nodes, more))
        return found

    @cached_property
    def potentials(self) -> tuple[list[int], list[int]]:
        """Numbers for the rows and columns of the weights, nowhere with a sum above the weight, of greatest sum."""
        size = len(self.names)
        matrix = np.full((size, size), LARGEST, np.int64)
        for (a, b), weight in self.weights.items():
            matrix[a, b] = weight
        return _assignment(matrix)

    @property
    def assigned(self) -> int:
        """What every order costs at least: a successor for each node, whether or not they make one cycle."""
        rows, columns = self.potentials
        return sum(rows) + sum(columns)


def _assignment(matrix: Any) -> tuple[list[int], list[int]]:
    """The dual numbers of the cheapest assignment of columns to rows, by shortest augmenting paths."""
    size = len(matrix)
    rows, columns = np.zeros(size, np.int64), np.zeros(size + 1, np.int64)
    matched = np.full(size + 1, -1)
    for row in range(size):
        matched[size] = row
        column = size
        least = np.full(size + 1, np.iinfo(np.int64).max // 2)
        way = np.full(size + 1, size)
        used = np.zeros(size + 1, bool)
        while matched[column] >= 0:
            used[column] = True
            own = matched[column]
            reduced = matrix[own] - rows[own] - columns[:size]
            better = ~used[:size] & (reduced < least[:size])
            least[:size][better] = reduced[better]
            way[:size][better] = column
            free = np.where(used[:size], np.iinfo(np.int64).max, least[:size])
            following = int(free.argmin())
            step = least[following]
            rows[matched[used]] += step
            columns[used] -= step
            least[:size][~used[:size]] -= step
            column = following
        while column != size:
            matched[column] = matched[way[column]]
            column = int(way[column])
    return [int(value) for value in rows], [int(value) for value in columns[:size]]


Nodes = frozenset[int]
Flow = dict[int, dict[int, float]]


def dual_bound(model: OrderModel) -> tuple[list[Nodes], int]:
    """What every order costs at least, by a linear program over the edges: each node has one next node and one before
    it, and each of the sets of nodes an edge into it. The sets, found as the solutions leave them apart from init.

    Whatever the solver says, numbers for rows of which those of the sets are not negative give a bound: their sum, and
    for each edge what it costs less than the numbers of its rows. It is computed in integers.
    """
    import highspy  # here, for few checks need it

    make: Any = highspy.Highs
    solver, size, edges = make(), len(model.names), [*model.weights]
    for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex")):
        solver.setOptionValue(option, value)
    tails, heads = (np.array([edge[side] for edge in edges]) for side in (0, 1))
    costs = np.array([*model.weights.values()], np.int64)
    solver.addVars(len(edges), np.zeros(len(edges)), np.ones(len(edges)))
    solver.changeColsCost(len(edges), np.arange(len(edges), dtype=np.int32), costs.astype(float))

    def ask(among: Any, most: float) -> None:
        columns = np.flatnonzero(among).astype(np.int32)
        solver.addRow(1.0, most, len(columns), columns, np.ones(len(columns)))

    for side in (tails, heads):
        for node in range(size):
            ask(side == node, 1.0)
    sets: list[Nodes] = []
    while True:
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return sets, 0
        flow: Flow = {node: {} for node in range(size)}
        for place, part in enumerate(solver.getSolution().col_value):
            if part > SMALL:
                tail, head = edges[place]
                flow[tail][head] = part
                flow[head].setdefault(tail, 0.0)
        apart = [inside for inside in _apart(flow) if inside not in sets]
        if not apart:
            break
        sets += apart
        for inside in apart:
            marks = np.isin(np.arange(size), [*inside])
            ask(~marks[tails] & marks[heads], np.inf)
    numbers = np.floor(np.array(solver.getSolution().row_dual) * PARTS).astype(np.int64)
    numbers[2 * size :] = np.maximum(0, numbers[2 * size :])
    reduced = costs * PARTS - numbers[tails] - numbers[size + heads]
    for inside, number in zip(sets, numbers[2 * size :].tolist(), strict=True):
        marks = np.isin(np.arange(size), [*inside])
        reduced -= number * (~marks[tails] & marks[heads])
    return sets, -(-int(numbers.sum() + np.minimum(0, reduced).sum()) // PARTS)


def _apart(flow: Flow) -> list[Nodes]:
    """Sets of nodes that less than one unit of ``flow`` enters from node 0, one around each node that is in such."""
    found: dict[Nodes, None] = {}
    for node in flow:
        if node == 0 or any(node in inside for inside in found):
            continue
        left = {tail: dict(row) for tail, row in flow.items()}
        total, reached = 0.0, _reached(left, node)
        while node in reached and total < 1 - ENOUGH:
            path = [node]
            while path[-1]:
                path.append(reached[path[-1]])
            steps = [(tail, head) for head, tail in pairwise(path)]
            most = min(left[tail][head] for tail, head in steps)
            for tail, head in steps:
                left[tail][head] -= most
                left[head][tail] = left[head].get(tail, 0.0) + most
            total, reached = total + most, _reached(left, node)
        if total < 1 - ENOUGH:
            found[frozenset(flow) - frozenset(reached)] = None
    return list(found)


def _reached(left: Flow, target: int) -> dict[int, int]:
    """The nodes that can be reached from node 0, each with the one before it, until ``target`` is."""
    before, todo = {0: 0}, [0]
    for here in todo:
        for after, part in left[here].items():
            if part > SMALL and after not in before:
                before[after] = here
                todo.append(after)
        if target in before:
            break
    return before


def _by_solver(model: OrderModel, claimed: int, far: int, clock: Clock) -> Line:
    """Whether a solver proves that no order takes less than ``claimed``, where there are too many to look at."""
    said = "too many orders to look at one by one"
    solvers: list[tuple[str, str, Callable[[OrderModel, int, Clock], Path | bool | None]]] = [
        ("CP-SAT", "ortools", _by_cpsat),
        ("clingo", "clingo", _by_clingo),
    ]
    for name, library, solve in solvers:
        if find_spec(library) is None or clock.over:
            continue
        found = solve(model, claimed, clock)
        if found is True:
            return Line(CHECK, HOLDS, f"{claimed}: {said}; proved by {name}")
        if found:
            cost = max(_cost(model, found), far)
            if cost < claimed:
                text = f"{claimed} is claimed, but by the same facts an order takes {cost}"
                return Line(CHECK, WRONG, text, (" -> ".join(found),))
    return Line(CHECK, OPEN, f"{claimed}: {said}, and no solver finished", unfinished=True)


def _cost(model: OrderModel, order: Path) -> int:
    """The steps that an order takes at least by the facts."""
    times = {order[0]: 0}
    places = {name: n for n, name in enumerate(order)}
    for a, b in pairwise(order):
        times[b] = times[a] + model.edges[a, b]
        for fact in model.facts:
            start = places[b] + 1 - len(fact.path)
            if start >= 0 and order[start : places[b] + 1] == fact.path:
                times[b] = max(times[b], times[order[start]] + fact.at_least)
    return times[order[-1]]


_PROGRAM = """
{ next(A, B) : weight(A, B, _) } = 1 :- node(A).
{ next(A, B) : weight(A, B, _) } = 1 :- node(B).
visited(0).
visited(B) :- visited(A), next(A, B).
:- node(A), not visited(A).
taken(P) :- more(P, _), next(A, B) : along(P, A, B).
{ late(A, B) : power(B) } :- behind(_, A).
:- taken(P), more(P, N), #sum { B, A : late(A, B), behind(P, A) } < N.
#minimize { W, A, B : next(A, B), weight(A, B, W); B, A : late(A, B) }.
"""
"""A cycle through all nodes; a sub-path that it runs along makes its nodes late, by sums of powers of two."""


def _by_clingo(model: OrderModel, claimed: int, clock: Clock) -> Path | bool | None:
    """True if no order takes less than ``claimed``, an order that may, or None: not known."""
    import clingo

    rows, columns = model.potentials
    weights = {(a, b): w - rows[a] - columns[b] for (a, b), w in model.weights.items()}
    most = max((more for _, more in model.excess), default=0)
    if max([*weights.values(), most], default=0) >= LARGEST:
        return None
    if model.assigned >= claimed:
        return True
    facts = [f"node({n})" for n in range(len(model.names))]
    facts += [f"weight({a},{b},{w})" for (a, b), w in weights.items()]
    facts += [f"power({1 << n})" for n in range(most.bit_length())]
    for number, (nodes, more) in enumerate(model.excess):
        facts.append(f"more({number},{more})")
        facts += [f"along({number},{a},{b})" for a, b in pairwise(nodes)]
        facts += [f"behind({number},{a})" for a in nodes[1:]]
    control = clingo.Control(["--opt-strategy=usc,oll,4", "--seed=1", "-t1", "--warn=none"])
    solving: Any = control.configuration.solve
    solving.solve_limit = str(max(1, round(min(clock.limits.solver * CONFLICTS, MOST_CONFLICTS))))
    solving.opt_mode = f"opt,{claimed - 1 - model.assigned}"
    control.add("base", [], _PROGRAM + "".join(f"{fact}.\n" for fact in facts))
    control.ground([("base", [])])
    found: list[Path] = []

    def keep(answer: Any) -> bool:
        following = {
            x.arguments[0].number: x.arguments[1].number for x in answer.symbols(atoms=True) if x.name == "next"
        }
        order = [0]
        while following[order[-1]]:
            order.append(following[order[-1]])
        found.append(tuple(model.names[n] for n in order))
        return False

    with control.solve(on_model=keep, async_=True) as handle:
        while not handle.wait(0.05):
            if clock.over:
                handle.cancel()
        done = handle.get()
    if found:
        return found[0]
    return True if done.exhausted and done.unsatisfiable else None


def _by_cpsat(model: OrderModel, claimed: int, clock: Clock) -> Path | bool | None:
    """As ``_by_clingo``."""
    cp_model = cp_sat.cp_model()
    program = cp_model.CpModel()
    chosen = {edge: program.new_bool_var("") for edge in model.weights}
    program.add_circuit([(a, b, literal) for (a, b), literal in chosen.items()])
    late: dict[int, Any] = {}
    for nodes, more in model.excess:
        for node in nodes[1:]:
            late.setdefault(node, program.new_int_var(0, claimed, ""))
        literals = [chosen[edge] for edge in pairwise(nodes)]
        program.add(sum(late[node] for node in nodes[1:]) >= more).only_enforce_if(literals)
    edges = sum(weight * chosen[edge] for edge, weight in model.weights.items())
    program.minimize(edges + sum(late.values()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = 1, 1
    solver.parameters.linearization_level = 2
    solver.parameters.max_deterministic_time = clock.limits.solver
    solver.parameters.catch_sigint_signal = False
    if clock.left is not None:
        solver.parameters.max_time_in_seconds = clock.left
    answers: list[Any] = []
    worker = threading.Thread(target=lambda: answers.append(solver.solve(program)), daemon=True)
    try:
        worker.start()
        with ending.interruptible(0.0):
            worker.join()
    except BaseException:
        while worker.is_alive():
            solver.stop_search()
            time.sleep(0.05)
        raise
    if answers and (answers[0] == cp_model.INFEASIBLE or solver.best_objective_bound > claimed - 1 + 1e-6):
        return True
    if answers and answers[0] in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        following = {a: b for (a, b), literal in chosen.items() if solver.boolean_value(literal)}
        order = [0]
        while following[order[-1]]:
            order.append(following[order[-1]])
        return tuple(model.names[n] for n in order)
    return None
