"""The search for runs that violate requirements: for each property with a consequent a shortest one, or that there is
none.

A violation is a goal like others (``properties.goal.violation``): the enumerated states tell all of them at once, else
a solver is asked for runs of 0, 1, 2, ... steps from init and for proofs by induction, in turns with the other means.
No chain is sought for them. A run that is not known to be a shortest one is made shorter by simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not, Or

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine, Session, Status
from bmc.errors import CheckDisagreed, LimitReached, counted
from bmc.formulas.unroll import at, shift, unframed, with_terms
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, Valuation, symbols_of
from chaincover.certificate import Certificate, PathFact, formula_text
from chaincover.chain import BEYOND, CAN_FAIL, NEVER_VIOLATED, UNDECIDED, UNREACHABLE, Chain, Hit, Ruling
from chaincover.concretise.tidy import tidy_finding
from chaincover.facts import FLOATING, STATES
from chaincover.graph.enumerated import (
    ENUMERATING,
    LISTING,
    analysed,
    enumerate_states,
    enumerate_within,
    enumeration_of,
    exact_graph,
)
from chaincover.known import Board, Known, Reason
from chaincover.limits import BRIEF, HALF, INDUCTION, PER_STEP, PER_UNIT, UNITS, EffortUsedUp, Limits
from chaincover.minimality.claims import result_of
from chaincover.minimality.explicit_sub_paths import ExplicitSubPaths
from chaincover.minimality.sub_path_lengths import SubPath
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored, plain_run
from chaincover.reductions.reduction import Reduction, distinct, distinct_goals, in_turn, run_on
from chaincover.reductions.slicing import fewer_states, sliced_problem
from chaincover.replaying.judge import Judge, explained, open_variables
from chaincover.result import ChainResult, Listener, Requirements
from chaincover.stages import Profiler, Stage, later, take_turns
from chaincover.verdicts import never_by_induction
from chaincover.weights import END, INIT
from properties.goal import Goal, violation, violation_name
from properties.monitor import Monitor

FIRST = 0.1
"""Units of work for enumerating the states before they get a normal form: mostly they are few."""


def judged(problem: Problem) -> list[Goal]:
    """The goals with a consequent."""
    return [goal for goal in problem.goals if goal.consequent is not None]


def _computed(problem: Problem) -> Reduction:
    """The reduction to goals with the terms that compute variables in place of those, where nothing else reads them
    back.

    A variable that is read after a step only, mostly an output, is then no part of the state.
    """
    system = problem.system
    follow = [var.next for var in system.state]
    kept = {
        symbol.symbol_name()
        for part in (*follow, system.input_constraint, system.defined)
        for symbol in symbols_of(part)
    }
    terms = {var.name: var.next for var in system.state if var.name not in kept}
    goals = tuple(replace(goal, antecedent=_with_terms(goal.antecedent, terms)) for goal in problem.goals)
    return Reduction(replace(problem, goals=goals), lambda result: result)


def _with_terms(formula: FNode, terms: Mapping[str, FNode]) -> FNode:
    read = [(symbol, *unframed(symbol)) for symbol in symbols_of(formula)]
    first = {name: min(step for _, other, step in read if other == name) for _, name, _ in read}
    made = {symbol: at(terms[name], step - 1) for symbol, name, step in read if name in terms and first[name] > 0}
    return with_terms([formula], made)[0]


@dataclass
class _Violations(Board):
    """A board for goals that are decided one by one. ``at_least`` has for each the start before which none can be."""

    at_least: dict[str, int] = field(default_factory=dict)

    def least(self, name: str) -> int:
        """The first step at which it is not proved that the goal does not start."""
        graph = self.known.graph
        return max(self.at_least.get(name, 0), graph.lower.get((INIT, name), 0) if graph.exact else 0)

    @property
    def open(self) -> tuple[str, ...]:
        """The goals of which neither a shortest run is known, nor that there is none."""
        known = self.known
        ends = {name: known.problem.over(name, self.least(name)) for name in known.problem.names}
        return tuple(
            name
            for name, least in ends.items()
            if name not in known.uncoverable and (name not in known.seen or known.seen[name].length > least)
        )

    @property
    def settled(self) -> bool:
        """Whether all goals are decided."""
        return not self.open

    @property
    def sets_aside(self) -> bool:
        """Always: of a violation that is too long to be stored at least its length is told."""
        return True


def _on_states(board: Board) -> None:
    """Decide all goals on the enumerated states."""
    assert isinstance(board, _Violations)
    exact_graph(board)
    states = board.known.enumerated
    assert states is not None
    if board.settled:
        return
    distances = ExplicitSubPaths(board.known.problem, states, board.limits)
    for name in board.open:
        weight = board.known.graph.weights[INIT, name]
        distances.least(SubPath((INIT, name), weight, weight))
        _, run = distances.ask((INIT, name), weight)
        if run is not None:
            board.see(run, board.judge.first_steps(run))


def _in_layers(board: Board) -> None:
    """Which goals are reached, by searches in layers, where states are too many to be enumerated soon."""
    if board.known.enumerated is None:
        exact_graph(board)


def _by_solver(board: Board) -> None:
    """Runs from init that end after 0, 1, 2, ... steps, and proofs by induction that there are none."""
    from chaincover.minimality.induction import with_value_facts  # where the states are not enumerated soon

    assert isinstance(board, _Violations)
    with_value_facts(board)
    board.say("requirements: runs of few steps, and proofs by induction")
    _Unrolled(board).run()


class _Unrolled:
    """Asks about open goals, one number of steps after the other. Where the solver gives up nothing is concluded."""

    def __init__(self, board: _Violations) -> None:
        self._board = board
        self._from_init = self._session(at(board.known.problem.system.init_formula, 0))
        self._system, self._anywhere = board.known.problem.system, self._session(TRUE())
        self._tried: dict[str, int] = {}

    def run(self) -> None:
        """Until all is decided, or no further question can decide more."""
        steps = 0
        while self._asking(steps):
            self.prove()
            self._reach(steps)
            steps += 1

    def _asking(self, steps: int) -> list[str]:
        """The open goals that no run is known to cover in so few steps."""
        seen = self._board.known.seen
        return [name for name in self._board.open if name not in seen or steps < seen[name].length]

    def _session(self, source: FNode) -> Session:
        problem = self._board.known.problem
        return self._board.engine.session(problem.system, source, [goal.antecedent for goal in problem.goals])

    def _asked(self, session: Session, formulas: Sequence[FNode], steps: int) -> Status:
        return session.check(formulas, steps, self._board.limits.for_query(), BRIEF).status

    def prove(self) -> None:
        """Induction over as many steps as no run from init violates, anew where there are more invariants."""
        board = self._board
        if self._system is not board.known.problem.system:
            self._system, self._anywhere, self._tried = board.known.problem.system, self._session(TRUE()), {}
        for name in board.open:
            goal, most = board.known.problem.by_name[name], min(INDUCTION, board.least(name))
            for k in range(self._tried.get(name, -1) + 1, most + 1) if name not in board.known.seen else ():
                self._tried[name] = k
                before = [Not(shift(goal.antecedent, step)) for step in range(k)]
                status = self._asked(self._anywhere, [*before, shift(goal.antecedent, k)], goal.over(k))
                if status is Status.UNSAT:
                    board.rule_out({name: Reason(UNREACHABLE, never_by_induction(k))})
                    break

    def _reach(self, steps: int) -> None:
        """Runs of so many steps that end with an open goal."""
        board, over = self._board, self._board.known.problem.over
        due = [name for name in self._asking(steps) if over(name, board.least(name)) <= steps]
        status = Status.SAT
        while due and status is Status.SAT:
            status = self._reached(due, steps)
            due = [name for name in due if name in self._asking(steps)]
        if status is Status.UNKNOWN:
            due = [name for name in due if len(due) > 1 and self._reached([name], steps) is Status.UNSAT]
        for name in due:
            least = board.at_least.get(name, 0)
            if over(name, least) == steps:
                board.at_least[name] = least + 1

    def _reached(self, names: Sequence[str], steps: int) -> Status:
        """Whether a run of so many steps ends with one of the goals ``names``."""
        board, problem = self._board, self._board.known.problem
        placed = [problem.by_name[name].ending(steps) for name in names]
        status = self._asked(self._from_init, [Or(placed)], steps)
        if status is Status.SAT:
            run = self._from_init.run()
            board.see(run, board.judge.first_steps(run))
        return status


STAGES = (
    Stage("requirements", _by_solver, first_turn=1.0, for_targets=False),
    Stage("enumerate", enumerate_states, LISTING, for_targets=False, gives=(STATES,), once=True),
    Stage("enumerate", enumerate_states, 0.4, for_targets=False, gives=(STATES,), put_off=FLOATING),
    Stage("requirements on states", _on_states, first_turn=1.0, for_targets=False, needs=(STATES,)),
    Stage("invariants", later("chaincover.minimality.induction:find_invariants"), first_turn=2.0, for_targets=False),
    Stage("simulate", later("chaincover.runs.random:random_runs"), first_turn=0.5, for_targets=False),
    Stage("explore", later("chaincover.runs.explore:explore"), first_turn=0.5, for_targets=False),
    Stage("requirements in layers", _in_layers, for_targets=False),
    Stage("accelerate", later("chaincover.minimality.acceleration:accelerate"), first_turn=1.0),
)


class Search:
    """The search for violations of the properties of ``judged``; the goals of ``whole`` are these violations."""

    def __init__(self, problem: Problem, options: Options, limits: Limits, listener: Listener) -> None:
        inputs = {var.name for var in problem.system.inputs}
        whole = Problem(problem.system, tuple(violation(goal, inputs) for goal in judged(problem)), None)
        self._judged, self._whole = problem, whole
        self._options, self._limits, self._listener = options, limits, listener
        self._monitor, self._simulator = Monitor(whole.goals), Simulator(whole.system)
        self._shown: dict[str, Run] = {}
        self._reduction = Reduction(whole, lambda result: result)
        self._board: _Violations | None = None
        self._sketch: tuple[_Violations, Reduction] | None = None
        self._few = False
        self._after: Limits | None = None
        self._left = 0

    @property
    def each(self) -> float:
        """Units of work to simulate a step of a run, or to look at it."""
        return (self._simulator.size + PER_STEP) / PER_UNIT.simulated

    def take(self, runs: Iterable[Run]) -> bool:
        """Look at ``runs`` from init, which are known; whether one is the first that is known to violate a property."""
        before = len(self._shown)
        for run in runs:
            for name, steps in self._monitor.covered(run).items():
                end = self._whole.over(name, min(steps, default=run.length))
                if steps and (name not in self._shown or end < self._shown[name].length):
                    self._shown[name] = Run(run.states[: end + 1], run.inputs[:end])
                    if self._board is not None:
                        self._see(self._board, self._shown[name])
        return len(self._shown) > before

    def _see(self, board: _Violations, run: Run) -> None:
        board.see(run, board.judge.first_steps(run))

    @property
    def settled(self) -> bool:
        """Whether all goals are decided."""
        return self._board is not None and self._board.settled

    @property
    def _known(self) -> tuple[_Violations, Reduction] | None:
        """The board on which most is known, and the reduction to its problem."""
        return self._sketch if self._board is None else (self._board, self._reduction)

    def run(self) -> None:
        """Decide as many goals as can be, from what is known. LimitReached or KeyboardInterrupt where something ends
        that early. Where the effort ends before the search has begun, that is begun anew with more."""
        try:
            board = self._board = self._board or self._begun()
        except EffortUsedUp:
            return
        if self._few:
            _on_states(board)
        elif not board.settled:
            take_turns(STAGES, board)

    def _begun(self) -> _Violations:
        """The board, for goals that differ, of what they depend on; with the states where these are few. EffortUsedUp
        where it does not suffice to tell whether they have a normal form."""
        options, limits = self._options, self._limits
        sliced, states = in_turn(self._whole, (distinct_goals, monitored, _computed, sliced_problem)), None
        limits.spend(analysed(self._whole.system))
        if options.engine == ENUMERATING:
            ahead = Limits(limits.seconds, None, FIRST / UNITS)
            states = enumerate_within(enumeration_of(sliced.problem), ahead)
            limits.spend(ahead.spent)
        engine = choose_engine(options.engine, options.memory_limit)
        limits.watch(engine)
        if states is None:
            from bmc.invariants.induction import Prover

            self._sketch = self._sketch or self._sketched(sliced, engine)
            left = limits.share(1.0)
            prover = Prover(engine, left.for_query, BRIEF)
            self._reduction = in_turn(sliced.problem, (lambda _: sliced, fewer_states(prover)))
            if not self._reduction.normal_form:
                left.check()
        else:
            self._reduction, self._few = sliced, True
        board = self._made(Known(self._reduction.problem, enumerated=states), engine)
        if self._sketch is not None:
            board.rule_out(self._sketch[0].known.uncoverable)
        return board

    def _made(self, known: Known, engine: Engine) -> _Violations:
        """A board with the runs that are known."""
        profiler = Profiler(self._listener, lambda known: None)
        board = _Violations(known, self._options, engine, self._limits, profiler, Judge(known.problem))
        for run in self._shown.values():
            self._see(board, run)
        return board

    def _sketched(self, sliced: Reduction, engine: Engine) -> tuple[_Violations, Reduction]:
        """A board for ``sliced``, with what no state allows: a question for each goal tells that, long before there is
        a normal form."""
        board = self._made(Known(sliced.problem), engine)
        with suppress(EffortUsedUp):
            _Unrolled(board).prove()
        return board, sliced

    def tidied(self, ended: str) -> Requirements:
        """As ``told``, where the search is over: with simpler inputs of the runs that violate properties."""
        self._after, self._left = self._limits.after(), len(self._shown)
        return self.told(ended)

    def told(self, ended: str) -> Requirements:
        """The rulings on all goals that are judged, and what they rest on; ``ended`` says why some are open, or is
        ''."""
        problem, goals = self._judged, judged(self._judged)
        known = self._known
        if known is None:
            return Requirements(tuple(self._ruling(problem, goal, None, ended) for goal in goals), None)
        board, reduction = known
        result = reduction.restore(result_of(board, replace(board.known, chain=None), ""))
        rulings = tuple(self._ruling(problem, goal, result, ended) for goal in goals)
        return Requirements(rulings, self._certificate(board, rulings, result), effort=self._limits.spent)

    def _certificate(self, board: Board, rulings: Sequence[Ruling], result: ChainResult) -> Certificate:
        """What ``rulings`` rest on, as it is known to ``board`` and restored as ``result``."""
        states, shared = board.known.enumerated, result.certificate or Certificate((), END, "allow")
        invariants = [each for each in board.known.problem.system.invariants if each.proved and states is None]
        return Certificate(
            goals=(),
            end=END,
            overlap="allow",
            invariants=tuple(each.name for each in invariants),
            formulas={each.name: formula_text(each.formula) for each in invariants if each.where is None},
            normal_form=shared.normal_form,
            validity=shared.validity,
            monitors=shared.monitors,
            edges=tuple(
                PathFact((INIT, name), ruling.failure.step + self._whole.earlier(name))
                for ruling, name in zip(rulings, self._whole.names, strict=True)
                if ruling.failure is not None and ruling.failure.shortest
            ),
            exhausted=0 if states is None else len(states.states),
            unreachable=tuple(violation_name(ruling.goal) for ruling in rulings if ruling.status == NEVER_VIOLATED),
            acceleration=board.accelerated,
        )

    def _representative(self, name: str) -> str:
        """The goal that is searched for in place of the goal ``name``."""
        return distinct(self._whole.goals)[1].get(name, name)

    def _ruling(self, problem: Problem, goal: Goal, result: ChainResult | None, ended: str) -> Ruling:
        name, run, why = violation_name(goal.name), self._shown.get(violation_name(goal.name)), ""
        beyond, fewest, known = 0, None, self._known
        if result is not None and known is not None:
            verdict = next(each for each in result.verdicts if each.goal == name)
            if verdict.status == UNREACHABLE and run is not None:
                raise CheckDisagreed(f"a run violates {goal.name}, which was proved to be impossible")
            if verdict.status == UNREACHABLE:
                return Ruling(goal.name, NEVER_VIOLATED, verdict.detail.replace("covers it", "violates it"))
            run = result.tests.get(name, run)
            asked = self._representative(name)
            fewest = known[1].problem.over(asked, known[0].least(asked))
            why = f"no run violates it in fewer than {counted(fewest, 'step')}" if fewest else ""
            if name in result.beyond:
                length, most = result.beyond[name].length, self._options.most_steps
                why, ended = f"a run of {length:,} steps violates it{BEYOND}: a run has at most {most:,}", ""
                beyond = 0 if open_variables(problem.system) else length
        if run is not None:
            chosen = {name: run.states[0][name] for name in problem.system.chosen}
            played = self._simulator.run(self._simulator.initial(chosen), run.inputs)
            step = run.length - self._whole.over(name, 0)
            if self._monitor.holds(played, name, step):
                played = self._tidy(name, played, fewest)
                shortest = played.length == fewest
                step = played.length - self._whole.over(name, 0)
                failure = replace(explained(problem, goal.name, played, step), shortest=shortest)
                said = f"a {'shortest ' if shortest else ''}run of {counted(played.length, 'step')} violates it"
                return Ruling(goal.name, CAN_FAIL, said, failure)
            why = "only with other start values of what init leaves open a run is known that violates it"
        return Ruling(goal.name, UNDECIDED, "; ".join(filter(None, (why, ended))), beyond=beyond)

    def _tidy(self, name: str, run: Run, fewest: int | None) -> Run:
        """``run``, which ends with the goal ``name``, with simpler inputs where the search is over, up to where it
        covers that goal for the first time; shorter, if it can be made so and has more than the ``fewest`` steps."""
        if self._after is None:
            return run
        part = self._whole.of({name})
        limits = self._after.share(1 / max(1, self._left))
        if run.length > (fewest or 0):
            run = self._shorter(part, run, limits)
        found = tidy_finding(part, run, limits)
        self._left -= 1
        step = Monitor(part.goals).covered(found)[name][0]
        end = part.over(name, step)
        return Run(found.states[: end + 1], found.inputs[:end])

    def _shorter(self, part: Problem, run: Run, limits: Limits) -> Run:
        """``run``, or a shorter one to the goal of ``part``, if all of its steps are allowed."""
        found, name = shortened(part, run, limits), part.names[0]
        begin = found.length - part.over(name, 0)
        allowed = all(map(self._simulator.allowed, found.states, found.inputs))
        return found if allowed and begin >= 0 and Monitor(part.goals).holds(found, name, begin) else run


def shortened(problem: Problem, run: Run, limits: Limits) -> Run:
    """``run``, which ends with the one goal of ``problem``, or a shorter one to it; repeatable.

    A detour between two states that are alike in what the goal depends on is left out, and then blocks of steps are, in
    turns, until neither makes it shorter. Blocks take half of what the ``limits`` leave: with what was left out by then
    the run is as short as it gets. That is no proof: it need not be a shortest one.
    """
    from chaincover.runs.leave_out import WORK, Shortening  # arrays are loaded for runs not known to be shortest

    one_step = monitored(problem).problem
    needed = {var.name for var in sliced_problem(one_step).problem.system.state}
    best, before = run_on(one_step.system, run), run.length + 1
    goal = one_step.goals[0]
    with suppress(LimitReached):
        while best.length < before:
            before = best.length
            inputs = [best.inputs[step] for step in _direct(best, needed)]
            best = run_on(one_step.system, Run(best.states, tuple(inputs)))
            hit = Hit(goal.name, best.length - goal.over(0), None)
            work = min(WORK, HALF * limits.unspent)
            best = Shortening(one_step, Chain(best, (goal.name,), (hit,)), limits, work).run() or best
    return plain_run(best, problem)


def _direct(run: Run, names: set[str]) -> Sequence[int]:
    """The steps of ``run`` without those between two states whose variables ``names`` are alike; its last one stays."""
    alike = [_part(state, names) for state in run.states[: run.length]]
    last = {state: step for step, state in enumerate(alike)}
    steps, step = list[int](), 0
    while step < run.length:
        steps.append(last[alike[step]])
        step = steps[-1] + 1
    return steps


def _part(state: Valuation, names: set[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, value) for name, value in state.items() if name in names))
