"""Orderings ``asp-usc`` (also called ``asp``) and ``asp-bb``: the paper's answer set program (Example 5), by clingo.

Strategy ``usc`` raises the lower bound by unsatisfiable cores, on weights reduced by what every path pays in any case
(``assignment_relaxation``). Strategy ``bb`` is clingo's default, branch and bound on the weights as they are: the
paper's mode of 2014. docs/development/orderings.md has measurements of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from bmc.engines.protocol import SEED
from bmc.errors import UsageError
from chaincover.orderings.constraints import Answer, Edge, PathModel, assignment_relaxation, outcome, path_model
from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, OrderingProblem, OrderingResult

ENCODING = """
{ cycle(X, Y) : edge(X, Y) } = 1 :- node(X).
{ cycle(X, Y) : edge(X, Y) } = 1 :- node(Y).
reached(Y) :- start(X), cycle(X, Y).
reached(Y) :- cycle(X, Y), reached(X).
:- node(Y), not reached(Y).
:- forbidden(P), cycle(X, Y) : on(P, X, Y).
occurs(P) :- excess(P, _), cycle(X, Y) : on(P, X, Y).
{ delay(X, B) : bit(X, B) }.
:- occurs(P), excess(P, N), #sum { B, X : delay(X, B), delayed(P, X) } < N.
#minimize { C, X, Y : cycle(X, Y), weight(X, Y, C); B, X : delay(X, B) }.
"""
"""Example 5 in today's syntax, then the path constraints: delays (see ``constraints``) are sums of powers of two."""

STRATEGIES = {"usc": "usc,oll,4", "bb": "bb"}
"""clingo's ``--opt-strategy``; 4 stratifies by weight, which gives paths on the way to the proof."""

CONFLICTS = 10_000
"""Conflicts that count as one unit of work."""
MOST_CONFLICTS = (1 << 32) - 1
"""clingo counts them with 32 bits: this many are no limit."""

LARGEST_WEIGHT = 1 << 24
"""clingo computes with 32 bits."""


def available() -> bool:
    """Whether clingo can be imported."""
    return find_spec("clingo") is not None


class AspOrdering:
    """Shortest path for any path constraints; one thread and a fixed seed, so repeatable.

    ``strategy`` is ``usc`` or ``bb``; ``reduced`` says whether weights are reduced (None: with ``usc``).
    """

    def __init__(self, strategy: str = "usc", reduced: bool | None = None) -> None:
        self.name = f"asp-{strategy}"
        self._strategy = STRATEGIES[strategy]
        self._reduced = strategy == "usc" if reduced is None else reduced

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """The shortest path with its proof, or the best one found within ``limit`` with the bound proved until then.

        UsageError if clingo is not installed or a weight is above ``LARGEST_WEIGHT``.
        """
        if not available():
            raise UsageError(f"the ordering {self.name} needs the package clingo", hint="pip install 'clingo>=5.7,<6'")
        clock = Clock(limit)
        paths = path_model(problem)
        largest = max([*paths.edges.values(), *paths.most_delay.values()], default=0)
        if largest > LARGEST_WEIGHT:
            raise UsageError(f"the ordering {self.name} takes weights up to {LARGEST_WEIGHT}, not {largest}")
        weights, paid = {**paths.edges, (paths.end, 0): 0}, 0
        if self._reduced:
            reduced = assignment_relaxation(weights, len(paths.names))
            if reduced is None:
                return outcome(problem, Answer(self.name), clock)
            weights, paid = reduced
        search = _Search()
        proved = search.run(_facts(paths, weights), self._strategy, limit.work, clock)
        path = paths.path(search.after) if search.after else ()
        lower = search.cost if proved else search.lower
        return outcome(problem, Answer(self.name, path, paid + lower, proved), clock)


def _facts(paths: PathModel, weights: Mapping[Edge, int]) -> str:
    """The problem as facts; ``weights`` has the edge from the end to the start too, which closes the cycle."""
    facts = ["start(0)", *(f"node({node})" for node in range(len(paths.names)))]
    for (a, b), weight in weights.items():
        facts += [f"edge({a},{b})", f"weight({a},{b},{weight})"]
    for number, edges in enumerate(paths.forbidden):
        facts += [f"forbidden({number})", *(f"on({number},{a},{b})" for a, b in edges)]
    for number, excess in enumerate(paths.excesses, len(paths.forbidden)):
        facts += [f"excess({number},{excess.steps})", *(f"on({number},{a},{b})" for a, b in excess.edges)]
        facts += [f"delayed({number},{node})" for node in excess.delayed]
    for node, most in paths.most_delay.items():
        facts += [f"bit({node},{1 << place})" for place in range(most.bit_length())]
    return "".join(f"{fact}.\n" for fact in facts)


class _Search:
    """The best cycle so far: each node's next one in ``after``, its ``cost``, and the ``lower`` bound proved."""

    def __init__(self) -> None:
        self.after: dict[int, int] = {}
        self.cost = 0
        self.lower = 0

    def run(self, facts: str, strategy: str, work: float | None, clock: Clock) -> bool:
        """Run clingo; whether the answer is proved. KeyboardInterrupt ends the search and is passed on."""
        import clingo

        control = clingo.Control([f"--opt-strategy={strategy}", f"--seed={SEED}", "-t1", "--warn=none"])
        if work is not None:
            conflicts = max(1, round(min(work * CONFLICTS, MOST_CONFLICTS)))
            control.configuration.solve.solve_limit = str(conflicts)  # type: ignore[union-attr]
        control.add("base", [], ENCODING + facts)
        control.ground([("base", [])])
        with control.solve(on_model=self._keep, async_=True) as handle:
            while not handle.wait(_patience(clock)):
                if clock.over:
                    handle.cancel()
            proved = bool(handle.get().exhausted)
        self._read_bound(control.statistics)
        return proved

    def _keep(self, model: Any) -> None:
        cycle = (atom.arguments for atom in model.symbols(atoms=True) if atom.name == "cycle")
        self.after = {a.number: b.number for a, b in cycle}
        self.cost = sum(model.cost)

    def _read_bound(self, statistics: Any) -> None:
        bounds = [value for value in statistics["summary"].get("lower", []) if 0 <= value < float("inf")]
        self.lower = int(sum(bounds))


def _patience(clock: Clock) -> float:
    """Seconds to wait before looking at the clock and at interrupts again."""
    left = clock.left
    return 0.1 if left is None else max(0.001, min(0.1, left))
