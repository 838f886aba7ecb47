"""Smaller problems with the same chains, each with the way back of what is found for them (after CVXPY's reductions).

The simplest one is here, to goals that differ: of those that ask for the same one is searched for, and each gets its
verdict. Generated goals often coincide. A decision of one condition has the same two goals as branch, as condition and
for MC/DC, and all goals of dead code are the formula *false*. (``chaincover.minimality.implied`` finds goals that
another goal implies.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pysmt.fnode import FNode

from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem
from chaincover.chain import Chain, Hit, Hits, Verdict
from chaincover.problem import Problem
from chaincover.replaying.judge import late_hits
from chaincover.result import ChainResult
from properties.goal import Goal, kind
from properties.monitor import Monitor

if TYPE_CHECKING:
    from bmc.explicit.enumeration import Enumeration

CHAIN = "the chain"
"""What a chain is called beside the tests of goals, where it is made anew only if it is another one."""

Restore = Callable[[ChainResult], ChainResult]


@dataclass(frozen=True)
class Reduction:
    """``problem`` has the chains that another one has; ``restore`` makes of its result one of that other problem.

    ``normal_form`` gives the state variables that do not have all their values there, for nothing could tell these, as
    terms of what they were.
    ``enumeration`` is that of the states of ``problem``, where it was begun.
    """

    problem: Problem
    restore: Restore
    normal_form: Mapping[str, FNode] = field(default_factory=dict)
    enumeration: Enumeration | None = None


def in_turn(problem: Problem, reductions: Sequence[Callable[[Problem], Reduction]]) -> Reduction:
    """``reductions`` applied one after the other, and undone in the reverse order."""
    last = Reduction(problem, lambda result: result)
    restores: list[Restore] = []
    terms: dict[str, FNode] = {}
    for reduce in reductions:
        last = reduce(last.problem)
        restores.append(last.restore)
        terms |= last.normal_form

    def restore(result: ChainResult) -> ChainResult:
        for back in reversed(restores):
            result = back(result)
        return result

    return replace(last, restore=restore, normal_form=terms)


T = TypeVar("T")
U = TypeVar("U")


def once(make: Callable[[T], U]) -> Callable[[str, T], U]:
    """What ``make`` makes of a thing that has a name: the same again as long as the thing of that name is the same
    object. A bound rises often while the chain stays as it is, and to judge a long one takes its time."""
    made: dict[str, tuple[T, U]] = {}

    def asked(name: str, given: T) -> U:
        if name not in made or made[name][0] is not given:
            made[name] = given, make(given)
        return made[name][1]

    return asked


def run_on(system: TransitionSystem, run: Run) -> Run:
    """``run`` with all variables of ``system``, under the same inputs; only open start values are taken from its
    states."""
    simulator, first = Simulator(system), run.states[0]
    start = {var.name: first[var.name] for var in system.state if var.init is None and var.name in first}
    return simulator.run(simulator.initial(start), run.inputs)


SameAs = Mapping[str, str]
"""From the name of each goal that was left out to its representative."""


def distinct_goals(problem: Problem) -> Reduction:
    """The reduction to goals that differ: a run that covers one of a kind covers all of them."""
    few, same_as = distinct(problem.goals, problem.overlap)
    expanded = once(partial(expanded_chain, goals=problem.goals, same_as=same_as))

    def restore(result: ChainResult) -> ChainResult:
        if not same_as:
            return result
        chain = result.chain and expanded(CHAIN, result.chain)
        tests = {
            name: result.tests[kept] for name in problem.names if (kept := same_as.get(name, name)) in result.tests
        }
        beyond = {n: result.beyond[kept] for n in problem.names if (kept := same_as.get(n, n)) in result.beyond}
        verdicts = expanded_verdicts(result.verdicts, problem.goals, same_as)
        return replace(result, chain=chain, verdicts=verdicts, tests=tests, beyond=beyond)

    return Reduction(replace(problem, goals=few), restore)


def distinct(goals: Sequence[Goal], overlap: str = "allow") -> tuple[tuple[Goal, ...], SameAs]:
    """The first goal of each kind, in their order, and for the name of every other goal its representative.

    Consequents may differ, they are judged for each.
    """
    first: dict[tuple[object, ...], str] = {}
    kept: list[Goal] = []
    same_as: dict[str, str] = {}
    for goal in goals:
        representative = first.setdefault(kind(goal, overlap), goal.name)
        if representative == goal.name:
            kept.append(goal)
        else:
            same_as[goal.name] = representative
    return tuple(kept), same_as


def expanded_verdicts(verdicts: Sequence[Verdict], goals: Sequence[Goal], same_as: SameAs) -> tuple[Verdict, ...]:
    """The verdicts of representative goals, expanded to all ``goals`` in their order.

    A goal gets a verdict if it or its representative has one.
    """
    own = {verdict.goal: verdict for verdict in verdicts}
    pairs = ((goal.name, own.get(same_as.get(goal.name, goal.name))) for goal in goals)
    return tuple(replace(verdict, goal=name) for name, verdict in pairs if verdict is not None)


def expanded_chain(chain: Chain, goals: Sequence[Goal], same_as: SameAs) -> Chain:
    """``chain``, found for representative goals, expanded to all ``goals``.

    Order, hits and repeats name each duplicate right after its representative, at the same step; its own
    consequent is judged there.
    """
    others: dict[str, list[str]] = {}
    for name, representative in same_as.items():
        others.setdefault(representative, []).append(name)
    monitor, credited = Monitor([goal for goal in goals if goal.name in same_as]), {hit.goal for hit in chain.hits}

    def all_of(hits: Sequence[Hit]) -> Iterator[Hit]:
        for hit in hits:
            yield hit
            for name in others.get(hit.goal, ()):
                yield Hit(name, hit.step, monitor.judge(chain.run, name, hit.step))

    order = tuple(name for representative in chain.order for name in (representative, *others.get(representative, ())))
    late = late_hits((goal for goal in goals if same_as.get(goal.name) in credited), chain.run)
    hits, repeats = tuple(all_of(chain.hits)), Hits(all_of(chain.repeats))
    return replace(chain, order=order, hits=hits, repeats=repeats, late=(*chain.late, *late))
