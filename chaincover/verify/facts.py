"""Facts of a certificate asked again of a solver: edges and sub-paths, whole chains of a length.

A question demands valid steps only up to the last end of the goals placed: a longer run may lead into a dead end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Or, Symbol

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, counted
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, shift
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import Certificate, PathFact
from chaincover.verify.cells import Cells
from chaincover.verify.explicit import ExplicitFacts
from chaincover.verify.invariants import Assumed
from chaincover.verify.layers import Layers
from chaincover.verify.limits import SHARES, Clock
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line, limited, told, told_inputs
from chaincover.verify.search import Outcome
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling
from chaincover.weights import INIT
from properties.goal import Goal

FIRST_STEPS = 64
"""A claim of more steps is asked first for fewer."""
MOST_STEPS = 4096
"""A claim of more steps is not unrolled."""
EDGES, PATHS = ("edges", "bounds between two nodes"), ("sub-paths", "bounds on sub-paths")
"""Checks of facts, and what facts they are."""
LENGTHS = "refuted lengths"
MAYBE = "a run breaks it from a state of which it is not known whether it can be reached"
AT_ONCE = 1 / 128
"""The part of an effort that one question about all lengths may take, before there is one for each of them."""
FIRST_CELLS = 1 / 8
"""The part of an effort that runs over cells of values may take, before a solver is asked."""

Verdict = tuple[str, str]
"""A verdict and why."""

Check = tuple[str, str]
"""The name of a check of facts, and what facts they are."""


@dataclass(frozen=True)
class Prover:
    """Asks facts. ``assumed`` is what is known of the first state of a run that begins with a goal.

    ``explicit`` answers from the table of all reachable states, ``layers`` by searches, where there is one.
    ``verdicts`` are those so far.
    """

    setting: Setting
    assumed: Assumed
    from_init: Unrolling
    from_anywhere: Unrolling
    clock: Clock
    explicit: ExplicitFacts | None = None
    layers: Layers | None = None
    verdicts: dict[PathFact, Verdict] = field(default_factory=dict)

    @staticmethod
    def of(
        setting: Setting,
        assumed: Assumed,
        clock: Clock,
        explicit: ExplicitFacts | None = None,
        layers: Layers | None = None,
    ) -> Prover:
        """A prover with an unrolling for each of the two kinds of start."""
        system, formulas = setting.system, setting.formulas
        first = Unrolling(system, formulas, system.init_formula, TRUE(), clock)
        other = Unrolling(system, formulas, assumed.start, assumed.always, clock)
        return Prover(setting, assumed, first, other, clock, explicit, layers)

    def line(
        self, check: Check, facts: Sequence[PathFact], progress: Callable[[str], None], shares: Sequence[float] = SHARES
    ) -> Line:
        """The verdict on all of ``facts``: from the list of states, else all at the first of the ``shares`` of effort,
        those that are open then at the next."""
        name, what = check
        if not facts:
            return Line(name, UNCLAIMED, f"the certificate uses no {what}")
        verdicts = self.verdicts
        for share in shares if self.explicit is None and self.layers is None else (1,):
            for number, fact in enumerate(facts, 1):
                if verdicts.get(fact, (OPEN, ""))[0] == OPEN:
                    progress(f"{name}: {number} of {len(facts)}")
                    verdicts[fact] = self.verdict(fact, share)
            if self.clock.over or all(verdicts[fact][0] != OPEN for fact in facts):
                break
        told_of = {fact: verdicts[fact] for fact in facts}
        wrong = [f"{_said(fact)}: {text}" for fact, (verdict, text) in told_of.items() if verdict == WRONG]
        undecided = [f"{_said(fact)}: {text}" for fact, (verdict, text) in told_of.items() if verdict == OPEN]
        held = len(told_of) - len(wrong) - len(undecided)
        text = f"{held} of {len(told_of)} {what} proved again"
        if wrong:
            return Line(name, WRONG, f"{text}, {len(wrong)} refuted by a run", limited(wrong))
        if not undecided:
            return Line(name, HOLDS, text)
        doubted = any(why == MAYBE for _, why in told_of.values())
        return Line(name, OPEN, text, limited(undecided), unfinished=not doubted)

    def verdict(self, fact: PathFact, share: float = 1) -> Verdict:
        """The verdict on one fact, and why. Shorter runs are asked for first where the claim is long."""
        if not self.setting.knows(fact.path):
            return WRONG, "this is no path of goals from init to the end"
        if fact.at_least <= 0:
            return HOLDS, ""
        if self.clock.over:
            return OPEN, "no time was left"
        if self.explicit is not None:
            return self._from_states(self.explicit, fact)
        if self.layers is not None and len(fact.path) == 2:
            return self.layers.verdict(fact)
        if fact.at_least > MOST_STEPS:
            return OPEN, f"more than {MOST_STEPS} steps are not unrolled"
        below = FIRST_STEPS
        while below < fact.at_least:
            verdict, why = self._verdict(replace(fact, at_least=below), share)
            if verdict != HOLDS:
                return verdict, why
            below *= 2
        return self._verdict(fact, share)

    def _from_states(self, explicit: ExplicitFacts, fact: PathFact) -> Verdict:
        if explicit.holds(fact):
            return HOLDS, ""
        step, run = explicit.against(fact)
        if self.setting.sound(run) < run.length:
            raise CheckDisagreed(f"the run against '{_said(fact)}' takes a step that is not allowed when simulated")
        return WRONG, f"a run takes {step} ({told(self.setting.system, run, run.length, fact.path[0] == INIT)})"

    def _verdict(self, fact: PathFact, share: float) -> Verdict:
        unrolling = self.from_init if fact.path[0] == INIT else self.from_anywhere
        found = unrolling.ask(_together(self.setting, fact, unrolling), fact.at_least, share)
        if found.status is Status.UNSAT:
            return HOLDS, ""
        if found.status is Status.UNKNOWN or found.run is None:
            return OPEN, "the solver did not finish"
        places = _places(self.setting, fact, self._sound(fact, found.run))
        if places is None:
            raise CheckDisagreed(f"the solver's run against '{_said(fact)}' does not break it when simulated")
        if fact.path[0] != INIT and not self.assumed.complete:
            return OPEN, MAYBE
        ends = [step + self.setting.length(node) for step, node in zip(places, fact.path, strict=True)]
        run = told(self.setting.system, found.run, max(ends), fact.path[0] == INIT)
        return WRONG, f"a run takes {places[-1]} ({run})"

    def _sound(self, fact: PathFact, run: Run) -> Run:
        """The part of ``run`` that is one, from a state in which it may begin; CheckDisagreed if it may not."""
        if fact.path[0] == INIT:
            fine = self.setting.starts_in_init(run)
        else:
            known = [And(self.assumed.start, self.assumed.always)]
            fine = bool(compile_formulas(known)(run.states[0])[0])
        if not fine:
            raise CheckDisagreed(f"the solver's run against '{_said(fact)}' begins where none may")
        steps = self.setting.sound(run)
        return Run(run.states[: steps + 1], run.inputs[:steps])


def _said(fact: PathFact) -> str:
    return f"{' -> '.join(fact.path)} takes at least {fact.at_least}"


def _together(setting: Setting, fact: PathFact, unrolling: Unrolling) -> FNode:
    """The formula: some run covers the fact's path in less than it says."""

    def placed(node: str, step: int) -> FNode:
        if node == INIT:
            return TRUE()
        return And(shift(setting.by_name[node].antecedent, step), unrolling.valid(step + setting.length(node)))

    if fact.path[-1] != setting.end:
        return Or(list(_ways(setting, fact.path, fact.at_least, None, placed).values()))
    parts = []
    for end in range(fact.at_least):
        before = Or(list(_ways(setting, fact.path[:-1], end + 1, end, placed).values()))
        closing = TRUE() if setting.final is None else at(setting.final, end)
        parts.append(And(before, closing, unrolling.valid(end)))
    return Or(parts)


def _ways(
    setting: Setting, path: Sequence[str], below: int, end: int | None, placed: Callable[[str, int], FNode]
) -> dict[int, FNode]:
    """For each step before ``below``: the formula that the path's last node starts there, the others in order before.

    Where ``end`` is given no node ends later.
    """
    ways: dict[int, FNode] = {}
    for number, node in enumerate(path):
        steps = [k for k in range(below if number else 1) if end is None or k + setting.length(node) <= end]
        before: Mapping[int, FNode] = _up_to(ways, below) if number else {0: TRUE()}
        ways = {k: And(placed(node, k), before[k]) for k in steps}
    return ways


def _up_to(ways: Mapping[int, FNode], below: int) -> dict[int, FNode]:
    """For each step: that one of ``ways`` up to there is taken."""
    result: dict[int, FNode] = {}
    so_far = FALSE()
    for step in range(below):
        so_far = Or(so_far, ways[step]) if step in ways else so_far
        result[step] = so_far
    return result


def _places(setting: Setting, fact: PathFact, run: Run) -> list[int] | None:
    """Steps at which ``run`` (valid throughout) has the nodes of the fact in less than it says; None if it has not."""
    covered = setting.covered(run)
    if fact.path[-1] != setting.end:
        return _earliest(setting, fact.path, covered, fact.at_least, None)
    for end in range(min(fact.at_least, run.length + 1)):
        places = _earliest(setting, fact.path[:-1], covered, end + 1, end)
        if places is not None and setting.ends_well(run, end):
            return [*places, end]
    return None


def _earliest(
    setting: Setting, path: Sequence[str], covered: Mapping[str, Sequence[int]], below: int, end: int | None
) -> list[int] | None:
    """The first places of the path's nodes in order, the first node at 0; None if there are none before ``below``."""
    places: list[int] = []
    for node in path:
        least = places[-1] if places else 0
        steps = [0] if node == INIT else covered[node]
        fitting = (k for k in steps if least <= k < below and (end is None or k + setting.length(node) <= end))
        place = next(fitting, None)
        if place is None or (not places and place != 0):
            return None
        places.append(place)
    return places


# whole chains


def lengths(
    chains: WholeChains, proof: Certificate, searched: Outcome | None, shares: Sequence[float] = SHARES
) -> Line:
    """Ask each length that ``proof`` says to be refuted again.

    ``searched``: the search over all shorter runs, where there was one. One question is about all lengths; where that
    is left open each is asked about at the first of the ``shares`` of effort, those that are open then at the next.
    """
    setting = chains.setting
    first, last = proof.refuted
    if first >= last:
        return Line(LENGTHS, UNCLAIMED, "no length is claimed to be refuted by a search over whole chains")
    said = f"lengths {first} to {last - 1}"
    if searched is not None and searched.complete and (searched.length is None or searched.length >= last):
        return Line(LENGTHS, HOLDS, f"{said}: the search over all runs finds no chain below {last}")
    if searched is not None and searched.length is not None and searched.length >= first:
        run = told_inputs(setting.system, searched.inputs)
        return Line(LENGTHS, WRONG, f"{said}: there is a chain of {counted(searched.length, 'step')}", (run,))
    if last > MOST_STEPS or first < 0:
        return Line(LENGTHS, OPEN, f"{said}: not unrolled", unfinished=True)
    by_cells = chains.over_cells(last, max(FIRST_CELLS, shares[0]))
    if by_cells:
        return Line(LENGTHS, HOLDS, f"{said}: no run over {by_cells} is so short")
    asked = range(first, last)
    status, found = chains.any_of(asked, AT_ONCE)
    if status is Status.UNSAT:
        return Line(LENGTHS, HOLDS, f"{said}: proved again that no run of so few steps is a chain")
    undecided = list(asked) if found is None else []
    for share in shares:
        by_cells = chains.over_cells(last, 1) if share == SHARES[1] and found is None else ""
        if by_cells:
            return Line(LENGTHS, HOLDS, f"{said}: no run over {by_cells} is so short")
        left, undecided = undecided, []
        for length in left:
            status, found = chains.any_of(range(length, length + 1), share)
            if found is not None:
                break
            if status is Status.UNKNOWN:
                undecided.append(length)
        if found is not None:
            break
    if found is not None:
        run = told(setting.system, found, found.length, True)
        return Line(LENGTHS, WRONG, f"{said}: there is a chain of {counted(found.length, 'step')}", (run,))
    if undecided:
        text = f"{said}: the solver did not finish on {', '.join(map(str, undecided))}"
        return Line(LENGTHS, OPEN, text, unfinished=True)
    return Line(LENGTHS, HOLDS, f"{said}: proved again that no chain has one of these")


class WholeChains:
    """Chains through ``goals`` from init, of any length, in one unrolling: what a length needs serves longer ones too.

    A symbol for each goal and each number of steps says that the goal is covered by then; it follows from that for one
    step less, or from the goal's place that ends there. What is refuted is a clause of later questions.
    """

    def __init__(self, setting: Setting, goals: Sequence[str], always: FNode, clock: Clock) -> None:
        """``always`` is known of every state after valid steps: a solver refutes lengths sooner by it."""
        self.setting = setting
        self._goals = [setting.by_name[name] for name in goals]
        self._unrolling = Unrolling(setting.system, setting.formulas, setting.system.init_formula, always, clock)
        self._covered: dict[str, list[FNode]] = {name: [] for name in goals}
        self._cells, self._clock = Cells(setting, goals), clock

    def over_cells(self, below: int, share: float) -> str:
        """What shows by runs over cells of values that no chain has fewer than ``below`` steps; '' if nothing does."""
        return self._cells.refuted(below, self._clock, share)

    def any_of(self, asked: range, share: float) -> tuple[Status, Run | None]:
        """Is there a chain of one of the lengths ``asked``? With SAT also one, simulated.

        Where a chain may end anywhere many lengths are asked about as one: SAT without a chain is a shorter one.
        """
        most, setting = asked[-1], self.setting
        anywhere = setting.final is None and len(asked) > 1
        within = And(self._by(goal, most) for goal in self._goals)
        question = within if anywhere else And(within, Or(self._of(length) for length in asked))
        found = self._unrolling.ask(question, most, share)
        if found.status is Status.UNSAT:
            self._unrolling.never(question)
        if found.status is not Status.SAT or found.run is None:
            return found.status, None
        chain = next((length for length in asked if self._is_chain(found.run, length)), None)
        if chain is None and not anywhere:
            raise CheckDisagreed("the solver's run for a shorter chain is none when simulated")
        return Status.SAT, None if chain is None else Run(found.run.states[: chain + 1], found.run.inputs[:chain])

    def _of(self, length: int) -> FNode:
        """The formula: the first ``length`` steps of the run are a chain."""
        setting = self.setting
        ends = TRUE() if setting.final is None else at(setting.final, length)
        return And(self._unrolling.valid(length), ends, *(self._by(goal, length) for goal in self._goals))

    def _by(self, goal: Goal, steps: int) -> FNode:
        """The symbol that says that the goal is covered by the first ``steps`` steps, which are valid so far."""
        known = self._covered[goal.name]
        while len(known) <= steps:
            start, symbol = len(known) - goal.length, Symbol(f"{goal.name} by {len(known)}")
            ends = self._unrolling.valid(len(known))
            here = FALSE() if start < 0 else And(ends, shift(goal.antecedent, start))
            known.append(self._unrolling.named(symbol, Or(known[-1], here) if known else here))
        return known[steps]

    def _is_chain(self, run: Run, length: int) -> bool:
        """Whether the first ``length`` steps of ``run`` are a chain."""
        setting = self.setting
        if not setting.starts_in_init(run) or setting.sound(run) < length or not setting.ends_well(run, length):
            return False
        covered = setting.covered(Run(run.states[: length + 1], run.inputs[:length]))
        return all(covered[goal.name] for goal in self._goals)
