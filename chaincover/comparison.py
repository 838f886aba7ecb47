"""Orderings compared on one problem: what each makes of the same K-reachability graph, and what users get in the end.

Backends that prove give paths of the same cost, but there are many such paths, and the chains along them differ much.
Which one a backend gives depends on the order in which it is told the goals, so each is asked several times, with the
goals in other orders: the chains after repair (Algorithm 4) are a distribution. Not every backend has a seed of its
own, but all take goals in any order. Then each backend serves the two searches for other orders, Algorithm 5 and the
path constraints of Section 4.2. At last comes the chain that users get with this backend, by the pipeline itself.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from bmc import ending
from bmc.ending import CALLED_OFF, INTERRUPT, TIME_LIMIT, ExitCode
from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Status
from bmc.errors import LimitReached, UsageError, counted
from bmc.records import dataclass
from chaincover.chain import COVERED, UNDECIDED, Bounds, Plan, Verdict
from chaincover.concretise.check_path import check_path
from chaincover.concretise.refine import constrained_chain, refined_chain
from chaincover.concretise.repair import concretise
from chaincover.concretise.subpaths import Outcome, Task
from chaincover.graph.reachability import CoveringGraph, covering_graph
from chaincover.limits import AFTER_SECONDS, HALF, QUESTION, Limits
from chaincover.options import Options
from chaincover.orderings import choose as choose_ordering
from chaincover.orderings import missing_library
from chaincover.orderings.bound import OrderBound, order_bound
from chaincover.orderings.protocol import UNLIMITED, Limit, OrderingProblem, OrderingResult, Path
from chaincover.partition.maximum_coverage import generate_all_or_most
from chaincover.partition.several import generate_several
from chaincover.problem import Problem, Questions
from chaincover.reductions.reduction import distinct
from chaincover.reductions.slicing import reduced
from chaincover.replaying.judge import Judge
from chaincover.result import ChainResult, Silent
from chaincover.verdicts import infeasible
from chaincover.weights import INIT, ReachGraph, exists_path, obstacles, transitive_closure

SEEDS = 5
"""Orders in which each backend is told the goals, when nothing else is asked for."""

PART = 0.1
"""Part of the effort of a run that the chain along one path, or one search for other orders, may take."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """The ``orderings`` to compare, each told the goals in so many orders (``seeds``).

    ``several``: in the end as few chains as it takes are sought. That is done too where there is no covering path.
    """

    orderings: tuple[str, ...]
    seeds: int = SEEDS
    several: bool = False


@dataclass(frozen=True, slots=True)
class Along:
    """The chain along a path, with edges repaired where they must be: its ``length``, None if none was found.

    ``infeasible``: the first part of the path that no run follows at the distances of the graph; () where the path is
    feasible at its cost. ``failed``: the nodes that no repair could join. ``undecided``: a limit was met, or the solver
    gave up; ``note`` says so.
    """

    length: int | None = None
    infeasible: Path = ()
    failed: Path = ()
    seconds: float = 0.0
    note: str = ""
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What a backend gave when it was told the goals in the order number ``seed``: 0 is that of the project."""

    seed: int
    found: OrderingResult
    chain: Along


@dataclass(frozen=True, slots=True)
class OtherOrders:
    """A search over many orders: the ``length`` of its chain, None without one, and how many paths it ``tried``.

    ``infeasible`` are the sub-paths ruled out. The backend was asked ``orders`` times, for ``order_seconds`` in all;
    ``proved``: each answer was. ``exhausted``: it is proved that no path up to K can be run. ``note`` says why there is
    no chain.
    """

    length: int | None = None
    tried: int = 0
    infeasible: tuple[Path, ...] = ()
    orders: int = 0
    order_seconds: float = 0.0
    proved: bool = False
    exhausted: bool = False
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Final:
    """What users get: the number of ``chains``, their length in all with its bound, and the verdict of every goal.

    ``seconds`` is the whole run. ``fewest``: fewer chains are proved not to do. ``ordered``: a backend was asked for an
    order of the goals; where none was, the run is the same for all of them, and was done once.
    """

    chains: int = 0
    bounds: Bounds = Bounds(0, None, "")
    verdicts: tuple[Verdict, ...] = ()
    fewest: bool = False
    seconds: float = 0.0
    stopped_by: str = ""
    used_up: bool = False
    ordered: bool = True
    note: str = ""

    @property
    def covered(self) -> int:
        """How many goals are covered."""
        return sum(1 for verdict in self.verdicts if verdict.status == COVERED)


@dataclass(frozen=True)
class Row:
    """What one backend gave; ``note`` says why it was not asked for orders, or not for all.

    ``undecided``: because a limit was met.
    """

    ordering: str
    trials: tuple[Trial, ...] = ()
    refined: OtherOrders | None = None
    constrained: OtherOrders | None = None
    final: Final | None = None
    note: str = ""
    undecided: bool = False

    @property
    def first(self) -> OrderingResult | None:
        """The answer for the goals in the order of the project."""
        return self.trials[0].found if self.trials else None

    @property
    def orders(self) -> int:
        """How many different paths were found."""
        return len({trial.found.path for trial in self.trials if trial.found.path})

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of the chains, of those orders that have one."""
        return tuple(trial.chain.length for trial in self.trials if trial.chain.length is not None)


@dataclass(frozen=True)
class Comparison:
    """All rows, in the order of the names asked for.

    ``graph`` has the goals that are ordered: neither two that ask for the same, nor those that are proved to be in no
    chain. ``path``: it has a covering path; without one the rows have only what users get. ``several``: that was sought
    as several chains. ``bounds`` holds the proved lower bound of every chain through the goals of the graph beside the
    shortest chain along an order. ``stopped_by`` is ``time limit`` (for the graph), ``interrupt``, ``terminated``, ''.
    """

    asked: Asked
    found: CoveringGraph
    graph: ReachGraph
    path: bool
    rows: tuple[Row, ...]
    bounds: Bounds
    several: bool
    stopped_by: str = ""

    @property
    def goals_left_out(self) -> tuple[str, ...]:
        """The goals of the problem that are not ordered, for no chain covers them."""
        return tuple(name for name in self.found.graph.goals if name not in self.graph.goals)

    @property
    def path_unknown(self) -> bool:
        """Whether there is no covering path in the graph as far as it is known, and it is not known as a whole."""
        return not self.path and bool(self.graph.unknown or self.found.used_up or self.stopped_by)

    @property
    def limited(self) -> bool:
        """Whether a limit left something open: the graph, the orders of a row, or what becomes of a goal."""
        verdicts = (verdict for row in self.rows if row.final for verdict in row.final.verdicts)
        trials = (trial.chain for row in self.rows for trial in row.trials)
        return (
            bool(self.stopped_by or self.path_unknown)
            or any(row.undecided for row in self.rows)
            or any(verdict.status == UNDECIDED for verdict in verdicts)
            or any(chain.undecided for chain in trials)
        )


def compare(problem: Problem, options: Options, asked: Asked, progress: Progress) -> Comparison:
    """Ask all backends of ``asked`` on one graph with a covering path, one after the other.

    The chains along their orders are repaired but not shortened, so that they show the orders. The effort of
    ``options`` holds for the graph, for each backend with all its orders, and for each final run; their time limit is
    for all, in equal parts for what is left to do. UsageError for an unknown name.
    """
    for name in asked.orderings:
        choose_ordering(name)
    with ending.uninterrupted():
        return _compared(replace(problem, overlap=options.overlap), options, asked, progress)


def _compared(problem: Problem, options: Options, asked: Asked, progress: Progress) -> Comparison:
    """``compare``, of which only the searches themselves can be interrupted."""
    whole, few = Limits(options.time_limit), distinct(problem.goals, problem.overlap)[0]
    small, left = reduced(replace(problem, goals=few), replace(options, time_limit=_seconds(whole, HALF)))
    found = covering_graph(small, left, choose_engine(options.engine, options.memory_limit), progress)
    graph, stopped_by = coverable(found.graph), found.stopped_by
    path = bool(graph.goals) and exists_path(graph, transitive_closure(graph)) is not None
    several = asked.several or not path
    rows: list[Row] = []
    try:
        with ending.interruptible():
            last = _Finals(problem, options, several, progress)
            orders = _Orders(small.of(graph.goals), options, graph, asked.seeds, progress)
            for place, name in enumerate(asked.orderings):
                ending.check()
                if stopped_by in CALLED_OFF or not whole.left():
                    break
                part = 1 / (len(asked.orderings) - place)
                row = orders.row(name, _seconds(whole, HALF * part)) if path else Row(name)
                rows.append(row)
                progress(f"compare: what users get with {name}")
                final = last.of(name, _seconds(whole, part))
                rows[-1] = replace(row, final=final)
                if final.stopped_by in CALLED_OFF:
                    stopped_by = final.stopped_by
    except KeyboardInterrupt as error:
        stopped_by = str(error) or INTERRUPT
    stopped_by = stopped_by or ("" if whole.left() else TIME_LIMIT)
    if stopped_by:
        rows += [Row(name, note="not compared", undecided=True) for name in asked.orderings[len(rows) :]]
    bound = order_bound(graph, Limit(seconds=AFTER_SECONDS if stopped_by else _seconds(whole, 1.0)))
    bounds = _bounds(bound, rows, several)
    return Comparison(asked, found, graph, path, tuple(rows), bounds, several, stopped_by)


def _bounds(order: OrderBound, rows: Sequence[Row], several: bool) -> Bounds:
    """The shortest chain of ``rows`` along an order, and the highest bound: of the order, or of a run for one chain."""
    finals = [row.final for row in rows if row.final is not None and not several]
    proofs = [(order.lower, order.basis), *((f.bounds.lower, f.bounds.basis) for f in finals if f.chains)]
    lower, basis = max(proofs, key=lambda proof: proof[0])
    return Bounds(lower, min((length for row in rows for length in row.lengths), default=None), basis)


def _for_order(options: Options) -> int | None:
    """Units of work that an order may take; None for no limit."""
    return None if options.effort is None else max(1, round(options.effort * QUESTION))


def _seconds(whole: Limits, part: float) -> float | None:
    """This ``part`` of the time that is left of the ``whole``; None for no limit."""
    return None if whole.seconds is None else part * whole.left()


def coverable(graph: ReachGraph) -> ReachGraph:
    """``graph`` without the goals that are proved to be in no chain."""
    graph = graph.possible
    if not graph.exact:
        return graph
    against = obstacles(graph, transitive_closure(graph))
    return graph.restricted({*graph.goals} - {*against.unreached, *against.stuck})


def in_order(goals: Sequence[str], seed: int) -> tuple[str, ...]:
    """``goals`` in the order number ``seed``: 0 is their own, each other one is drawn at random."""
    return tuple(random.Random(seed).sample(list(goals), len(goals))) if seed else tuple(goals)


class _Orders:
    """The orders of each backend on one graph, and the chains along them.

    The chain along a path follows from the path alone: it is sought once, whoever found the path.
    """

    def __init__(self, problem: Problem, options: Options, graph: ReachGraph, seeds: int, progress: Progress) -> None:
        self._problem, self._options, self._graph = problem, options, graph
        self._seeds, self._progress = seeds, progress
        self._closed = transitive_closure(graph)
        self._along: dict[Path, Along] = {}

    def row(self, name: str, seconds: float | None) -> Row:
        """The row of the backend ``name``, within ``seconds``, without what users get."""
        library = missing_library(name)
        if library:
            return Row(name, note=f"skipped: {library} is not installed")
        row = Limits(seconds)
        trials: list[Trial] = []
        note = ""
        try:
            for trial in self._trials(name, row):
                trials.append(trial)
        except UsageError as error:
            return Row(name, note=f"skipped: {error.message}")
        except LimitReached as error:
            note = f"{error.limit} after {len(trials)} of {counted(self._seeds, 'order')}"
        paths = [trial.found.path for trial in trials if trial.found.path]
        undecided = bool(note) or any(not trial.found.path and not trial.found.proved for trial in trials)
        if not paths:
            return Row(name, tuple(trials), note=note or "no path found", undecided=undecided)
        most = max(self._most(path) for path in paths)
        refined = self._other_orders(refined_chain, name, most, row)
        constrained = self._other_orders(constrained_chain, name, most, row)
        return Row(name, tuple(trials), refined, constrained, note=note, undecided=undecided)

    def _trials(self, name: str, row: Limits) -> Iterator[Trial]:
        """An order, with its chain, for each order in which the backend is told the goals."""
        work = _for_order(self._options)
        for seed in range(self._seeds):
            self._progress(f"compare: {name}, goals in order {seed + 1} of {self._seeds}")
            goals = in_order(self._graph.goals, seed)
            asked = OrderingProblem(goals, self._closed, INIT, self._graph.end)
            found = choose_ordering(name).solve(asked, Limit(row.for_query(), work))
            yield Trial(seed, found, self._chain(found.path, row) if found.path else Along(note="no path found"))

    def _most(self, path: Path) -> int:
        """The most steps that an edge of ``path`` may take: K, or as many as the edge has."""
        return max(1, self._graph.depth, *(self._closed[edge] for edge in pairwise(path)))

    def _questions(self, row: Limits, part: float) -> Questions:
        """Questions that may take ``part`` of the effort, and what is left of the time of the ``row``.

        The engine is a new one: what it answers does not depend on what others were asked.
        """
        options, engine = self._options, choose_engine(self._options.engine, self._options.memory_limit)
        seconds = None if options.time_limit is None else row.left()
        effort = None if options.effort is None else part * options.effort
        limits = Limits(seconds, options.query_limit, effort).share(1.0)
        limits.watch(engine)
        return Questions(self._problem, engine, limits)

    def _chain(self, path: Path, row: Limits) -> Along:
        """The chain along ``path``."""
        if path not in self._along:
            along = self._concrete(path, row)
            if along.note == TIME_LIMIT:
                return along
            self._along[path] = along
        return self._along[path]

    def _concrete(self, path: Path, row: Limits) -> Along:
        """Algorithm 4 for ``path``, checked at its own cost first."""
        begun = time.monotonic()
        questions = self._questions(row, PART)
        plan = Plan(path, tuple(self._closed[edge] for edge in pairwise(path)))
        infeasible_part: Path = ()
        try:
            attempt = check_path(questions, plan)
            if attempt.status is Status.UNSAT:
                infeasible_part = attempt.failed
                _, attempt = concretise(questions, plan, self._most(path), self._progress)
        except LimitReached as error:
            return Along(None, infeasible_part, (), time.monotonic() - begun, error.limit, True)
        chain = None if attempt.run is None else Judge(questions.problem).chain(attempt.run)
        seconds = time.monotonic() - begun
        if attempt.status is Status.UNKNOWN:
            return Along(None, infeasible_part, (), seconds, "the solver gave up on the inputs", True)
        if chain is None:
            note = f"no repair with edges up to {counted(self._most(path), 'step')}"
            return Along(None, infeasible_part, attempt.failed, seconds, note)
        return Along(chain.length, infeasible_part, (), seconds)

    def _other_orders(self, search: Callable[[Task], Outcome], name: str, most: int, row: Limits) -> OtherOrders:
        """What ``search`` finds with the backend ``name`` and edges up to ``most`` steps."""
        begun = time.monotonic()
        questions = self._questions(row, PART)
        ordering = _Watched(name, _for_order(self._options))
        task = Task(questions, lambda: self._graph, lambda: False, ordering, most, self._progress)
        found, note = Outcome(Status.UNKNOWN), ""
        try:
            found = search(task)
        except UsageError as error:
            note = error.message
        except LimitReached as error:
            note = error.limit
        chain = None if found.run is None else Judge(questions.problem).chain(found.run)
        if chain is None and not note:
            exhausted = f"no order with edges up to {counted(most, 'step')}"
            note = exhausted if found.status is Status.UNSAT else "undecided: not all orders could be decided"
        return OtherOrders(
            length=None if chain is None else chain.length,
            tried=found.tried,
            infeasible=found.infeasible,
            orders=len(ordering.answers),
            order_seconds=sum(answer.seconds for answer in ordering.answers),
            proved=all(answer.proved for answer in ordering.answers),
            exhausted=found.status is Status.UNSAT,
            seconds=time.monotonic() - begun,
            note=note,
        )


class _Watched:
    """A backend that takes so much ``work`` for an order, the same on every machine; it keeps its ``answers``."""

    def __init__(self, name: str, work: float | None) -> None:
        self.name = name
        self.answers: list[OrderingResult] = []
        self._ordering, self._work = choose_ordering(name), work

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """See the protocol."""
        self.answers.append(self._ordering.solve(problem, replace(limit, work=self._work)))
        return self.answers[-1]


class _Finals:
    """What users get with each backend: ``generate``, or ``generate --several``, as the commands do it."""

    def __init__(self, problem: Problem, options: Options, several: bool, progress: Progress) -> None:
        self._problem, self._options, self._several, self._progress = problem, options, several, progress
        self._same_for_all: Final | None = None

    def of(self, name: str, seconds: float | None) -> Final:
        """The run with the backend ``name``, within ``seconds``; that of another one where none was asked for
        anything."""
        if self._same_for_all is not None:
            return self._same_for_all
        options, begun = replace(self._options, ordering=name, time_limit=seconds), time.monotonic()
        try:
            final, results = (self._chains if self._several else self._chain)(options)
        except UsageError as error:
            return Final(note=error.message, seconds=time.monotonic() - begun)
        final = replace(final, seconds=time.monotonic() - begun, ordered=not _without_orders(results, options))
        if not final.ordered and final.stopped_by not in CALLED_OFF:
            self._same_for_all = final
        return final

    def _chain(self, options: Options) -> tuple[Final, Sequence[ChainResult]]:
        found = generate_all_or_most(self._problem, options, Silent(self._progress))
        chains = 0 if found.chain is None else 1
        return Final(chains, found.bounds, found.verdicts, True, stopped_by=found.stopped_by, used_up=found.used_up), [
            found
        ]

    def _chains(self, options: Options) -> tuple[Final, Sequence[ChainResult]]:
        found = generate_several(self._problem, options, Silent(self._progress))
        final = Final(len(found.results), found.bounds, found.verdicts, found.number_minimal)
        return replace(final, stopped_by=found.stopped_by, used_up=found.used_up), found.results


def _without_orders(results: Collection[ChainResult], options: Options) -> bool:
    """Whether no backend was asked for an order: all was found on the enumerated states, and K bound nothing."""
    answers = [result.answered for result in results]
    enumerated = all(answer.exact and not answer.not_enumerated and not answer.ordering for answer in answers)
    return bool(answers) and enumerated and options.bound is None


def exit_code(problem: Problem, found: Comparison) -> int:
    """130 or 143 called off, 5 a limit left something open, 4 a final run that does not cover all goals, else 0.

    Generated goals that are proved unreachable need not be covered.
    """
    if found.stopped_by in CALLED_OFF:
        return CALLED_OFF[found.stopped_by]
    if found.limited:
        return ExitCode.LIMIT
    finals = [row.final for row in found.rows if row.final is not None]
    return 0 if finals and all(_all_covered(problem, final) for final in finals) else 4


def _all_covered(problem: Problem, final: Final) -> bool:
    aside = infeasible(problem.goals, final.verdicts)
    return bool(final.chains) and all(v.status == COVERED or v.goal in aside for v in final.verdicts)
